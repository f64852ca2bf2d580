// The life of a session: starting, taking messages, ending.
#include "backend/cuda/session.h"

#include <unistd.h>

#include <future>
#include <stdexcept>
#include <thread>

#include "backend/cuda/devices.h"
#include "backend/cuda/call_context.h"
#include "gen/cuda/server_calls.inc"

namespace flexrack::backend {

std::unique_ptr<Backend> make_cuda_backend(Grant& grant, const std::string& driver) { return std::make_unique<cuda::Session>(grant, driver); }

}  // namespace flexrack::backend

namespace flexrack::backend::cuda {
namespace {

/// How long an end waits for what runs on the device: the end of the process stops the rest.
constexpr auto kSettleWithin = std::chrono::milliseconds(500);

/// Mirrored memory a lease: as much as its devices have, but no more than this part of the machine's (its twin takes as much again).
constexpr std::uint64_t kMostOfMachine = 8;

std::uint64_t most_mirrored(const std::vector<Device>& devices) {
  std::uint64_t shares = 0;
  for (const auto& one : devices) shares += one.memory;
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return std::min(shares, pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / kMostOfMachine : shares);
}

/// What a context is charged on a device where nobody could measure one: more than what those of large GPUs take.
constexpr std::uint64_t kUnknownContext = std::uint64_t{512} << 20;

/// Waits that are not over when a session ends look at its printing all the same. There is one in a process.
std::mutex printing_lock;

/// The end of a context waits for its kernels, which may never end: after a while that is left to the end of the process. Whether all have ended.
bool end_within(std::chrono::milliseconds patience, std::vector<std::function<void()>> endings) {
  std::packaged_task<void()> all([endings = std::move(endings)] { for (const auto& one : endings) one(); });
  auto over = all.get_future();
  try {
    std::thread(std::move(all)).detach();
    return over.wait_for(patience) == std::future_status::ready;
  } catch (const std::system_error&) {  // no thread to be had: the process ends without it
    return false;
  }
}

}  // namespace

Session::Session(Grant& grant, const std::string& driver) : grant_(grant), library_(driver) {
  cu::fill(table_, [this](const char* symbol) { return reinterpret_cast<void*>(library_.find<void()>(symbol)); });
  const auto need = [this](CUresult status) {
    if (status != CUDA_SUCCESS) throw std::runtime_error("the CUDA driver: " + library_.text_of(status));
  };
  need(library_.need<decltype(::cuInit)>("cuInit")(0));
  int count = 0;
  need(table_.cuDeviceGetCount(&count));
  for (const auto& granted : grant.devices()) {
    Device device;
    bool is_found = false;
    for (int ordinal = 0; ordinal < count && !is_found; ++ordinal) {
      need(table_.cuDeviceGet(&device.native, ordinal));
      is_found = uuid_text(library_, device.native) == granted.native_id;
    }
    if (!is_found) throw std::runtime_error("the GPU " + granted.native_id + " is not on this machine any more");
    device.name.resize(256);
    device.pci.resize(32);
    need(table_.cuDeviceGetName(device.name.data(), static_cast<int>(device.name.size()), device.native));
    need(table_.cuDeviceGetPCIBusId(device.pci.data(), static_cast<int>(device.pci.size()), device.native));
    need(table_.cuDeviceGetUuid_v2(&device.uuid, device.native));
    for (auto* text : {&device.name, &device.pci}) text->resize(text->find('\0'));
    device.memory = granted.memory;
    device.is_whole = granted.whole;
    device.context_memory = granted.context_memory.value_or(kUnknownContext);
    int multiprocessors = 0, threads = 0;
    table_.cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device.native);
    table_.cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device.native);
    device.threads = static_cast<std::uint64_t>(multiprocessors) * static_cast<std::uint64_t>(threads);
    devices_.push_back(std::move(device));
  }
}

Session::~Session() { stop(); }

void Session::start(wire::Link& link, Peers& peers) {
  link_ = &link;
  peers_ = &peers;
  graph_owner_->session = this;
  graph_host_.start([this](std::uint64_t function, std::uint64_t run) {
                      mirrors_.tell_changes();
                      tell(cu::RunHostFunction{.function = function, .run = run, .status = 0});
                    },
                    [this](std::uint64_t ticket, wire::Bytes bytes, std::shared_ptr<void> held) {
                      if (!held) return link_->cancel(ticket);
                      const auto kept = std::make_shared<wire::Bytes>(std::move(bytes));
                      // Not by one of our threads: all of them may be waiting for launches that come behind these bytes.
                      link_->push(ticket, *kept, [kept, held](bool) {}, false);
                    });
  printing_ = std::make_unique<opencl::Printing>([this](wire::View text) { tell(cu::Printed{.text = text}); });
  mirrors_.start(most_mirrored(devices_), [this](const cu::Changed& changed) { tell(changed); });
}

void Session::on_frame(const wire::Header& header, wire::View body) {
  const std::lock_guard guard(lock_);
  if (is_broken_ || !link_) return;
  if (const auto self = std::this_thread::get_id(); self != dispatcher_) {
    dispatcher_ = self;
    current_ = 0;
  }
  auto result = cu::Dispatch::ok;
  try {
    result = cu::dispatch(*this, *link_, header, body);
  } catch (const std::exception&) {
    // No memory for what was asked: a call has been refused by its Respond; a send is told of here.
    tell(cu::Failed{.op = header.op, .status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  }
  if (result == cu::Dispatch::unknown) Respond<cu::WaitContextReply>(*link_, header).refuse(wire::Refusal::unknown_op);
  if (result == cu::Dispatch::malformed) {
    // The two sides do not speak the same language: nothing after this means what it says.
    is_broken_ = true;
    Respond<cu::WaitContextReply>(*link_, header).refuse(wire::Refusal::malformed);
    dialler_.add([link = link_] { link->close(); });
  }
}

void Session::on_over(std::string_view) {}

/// The driver gives back all that a context has with the context, and the process is about to end; what still runs is ended with it.
void Session::stop() {
  if (!link_) return;
  dialler_.close();
  meter_.close();
  graph_host_.end();
  {
    const std::lock_guard guard(lock_);
    for (auto& [number, run] : runs_) if (run.latch) run.latch.open();
    runs_.clear();
    for (auto& [handle, latches] : client_latches_) {
      for (auto& [context, latch] : latches) if (latch) latch.open();
    }
    client_latches_.clear();
    handles_.take_if([](const Record& record) { return record.kind == Kind::latch; });
  }
  const bool is_clocked = clock_.close(kSettleWithin);   // contexts that end wait for their launches
  bool is_settled = waiters_.close(kSettleWithin) && is_clocked;
  const std::lock_guard guard(lock_);
  if (is_settled) {
    handles_.take_if([](const Record& record) { return record.kind == Kind::event; });  // while their contexts are there
    std::vector<std::function<void()>> endings;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> of_contexts;
    // What graphs have of ours goes with the last of them.
    stops_.clear();
    handles_.take_if([&](const Record& record) {
      if (record.kind == Kind::exec) endings.push_back([driver = table_, native = static_cast<CUgraphExec>(record.native)] { driver.cuGraphExecDestroy(native); });
      if (record.kind == Kind::graph) endings.push_back([driver = table_, native = static_cast<CUgraph>(record.native)] { driver.cuGraphDestroy(native); });
      return record.kind == Kind::exec || record.kind == Kind::graph;
    });
    handles_.take_if([&](const Record& record) {
      if (record.kind != Kind::context) return false;
      of_contexts.emplace_back(record.device, record.charged);
      if ((record.flags & 1) != 0) endings.push_back([driver = table_, host = record.host, device = devices_[record.device].native] { driver.cuDevicePrimaryCtxReset_v2(device); });
      else endings.push_back([driver = table_, host = record.host, native = static_cast<CUcontext>(record.native)] { driver.cuCtxDestroy_v2(native); });
      return true;
    });
    is_settled = end_within(kSettleWithin, std::move(endings));
    for (const auto& [device, bytes] : of_contexts) refund(device, bytes);
  }
  for (auto& [address, one] : allocations_) refund(one.device, one.charged);
  allocations_.clear();  // shares of what is mapped are given back with the last who holds them
  handles_.take_if([this](const Record& record) {
    refund(record.device, record.charged);
    return true;
  });
  {
    const std::lock_guard no_call(graph_owner_->lock);
    graph_owner_->session = nullptr;
  }
  if (!is_settled) mirrors_.abandon();
  {
    const std::lock_guard printing(printing_lock);
    printing_.reset();
  }
  // What still waits may have something to tell the link, which stays; no message is taken any more.
  is_broken_ = true;
}

bool Session::make_current(std::uint64_t context) {
  const bool is_dispatching = std::this_thread::get_id() == dispatcher_;
  if (is_dispatching && context == current_) return true;
  const auto* record = handles_.find(context);
  if (!record || record->kind != Kind::context || table_.cuCtxSetCurrent(static_cast<CUcontext>(record->native)) != CUDA_SUCCESS) return false;
  if (is_dispatching) current_ = context;
  return true;
}

void Session::noticed(std::uint64_t context, CUresult status) {
  if (context == 0 || !is_sticky(status) || !broken_.insert(context).second) return;
  // Host functions behind what failed are never reached: told so, the client waits for none of them.
  for (const auto& [number, run] : runs_) {
    if (run.context == context) tell(cu::RunHostFunction{.function = run.function, .run = number, .status = as_wire(status)});
  }
  tell(cu::Failed{.context = context, .op = 0, .status = as_wire(status)});
}

void Session::refused(std::uint64_t context, std::uint16_t op, CUresult status, std::uint64_t object) {
  tell(cu::Failed{.context = context, .op = op, .status = as_wire(status), .object = object});
  noticed(context, status);
}

void Session::later(std::uint64_t context, std::function<void()> work) { to_run_later(context, std::move(work))(); }

std::function<void()> Session::to_run_later(std::uint64_t context, std::function<void()> work) {
  auto* record = handles_.find(context);
  const bool is_in_context = record && record->kind == Kind::context;
  const auto native = is_in_context ? static_cast<CUcontext>(record->native) : nullptr;
  auto use = is_in_context ? Users::one_of(record->users) : nullptr;
  return [this, native, use = std::move(use), work = std::move(work)]() mutable {
    waiters_.run([this, native, use = std::move(use), work = std::move(work)]() mutable {
      table_.cuCtxSetCurrent(native);  // none, too: the thread had another's, which may be gone
      work();
      work = nullptr;
      use = nullptr;
    });
  };
}

void Session::put_on(std::uint16_t op, std::uint64_t context, std::uint64_t stream) {
  switch (op) {
    case cu::WaitStream::kOp:
    case cu::QueryStream::kOp:
    case cu::ReadMemory::kOp:
    case cu::ReadRows::kOp: return;
    default: mirrors_.used(context, stream);
  }
}

void Session::printed() {
  const std::lock_guard guard(printing_lock);
  if (printing_) printing_->drain();
}

void Session::drop_owned(std::uint64_t owner, Kind kind) {
  std::vector<std::uint64_t> owners;
  if (may_own(kind)) owners.push_back(owner);
  while (!owners.empty()) {
    const auto gone = owners.back();
    owners.pop_back();
    allocations_.erase_if([&](std::uint64_t, const Allocation& one) { return one.owner == gone; });
    handles_.take_if([&](const Record& one) {
      if (one.owner != gone) return false;
      if (one.kind == Kind::node) stops_.erase(one.handle);
      if (one.kind == Kind::graph) graph_memory_.erase(one.handle);
      refund(one.device, one.charged);
      if (may_own(one.kind)) owners.push_back(one.handle);
      return true;
    });
  }
}

std::shared_ptr<HostSide> Session::host_of(std::uint64_t context) const {
  const auto* record = handles_.find(context);
  return record ? record->host : nullptr;
}

std::uint32_t Session::device_of(std::uint64_t context) const {
  const auto* record = handles_.find(context);
  return record ? record->device : 0;
}

}  // namespace flexrack::backend::cuda
