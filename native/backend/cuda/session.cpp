// The life of a session: starting, taking messages, ending; and the end of any object.
#include "backend/cuda/session.h"

#include <unistd.h>

#include <future>
#include <thread>

#include "backend/cuda/call_context.h"
#include "backend/take_frame.h"

namespace flexrack::backend {

std::unique_ptr<Backend> make_cuda_backend(Grant& grant, const std::string& driver, const std::string& nccl) {
  return std::make_unique<cuda::Session>(grant, driver, nccl);
}

}  // namespace flexrack::backend

namespace flexrack::backend::cuda {
namespace {

/// How long an end waits for what runs on the device: the end of the process stops the rest.
constexpr auto kSettleWithin = std::chrono::milliseconds(500);
/// NCCL's own threads look every now and then whether it is over.
constexpr auto kNcclWithin = std::chrono::seconds(2);

/// Mirrored memory a lease: as much as its devices have, but no more than this part of the machine's (its twin takes as
/// much again).
constexpr std::uint64_t kMostOfMachine = 8;

bool is_restoring(std::uint16_t op) { return op >= cu::RestoreImage::kOp && op <= cu::TakeOver::kOp; }

std::uint64_t most_mirrored(const std::vector<Device>& devices) {
  std::uint64_t shares = 0;
  for (const auto& one : devices) shares += one.memory;
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return std::min(shares, pages > 0 && page > 0
                              ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / kMostOfMachine
                              : shares);
}

/// The end of a context waits for its kernels, which may never end: after a while that is left to the end of the
/// process. Whether all have ended.
bool end_within(std::chrono::milliseconds patience, std::vector<std::function<void()>> endings) {
  std::packaged_task<void()> all([endings = std::move(endings)] {
    for (const auto& one : endings) one();
  });
  auto over = all.get_future();
  try {
    std::thread(std::move(all)).detach();
    return over.wait_for(patience) == std::future_status::ready;
  } catch (const std::system_error&) {  // no thread to be had: the process ends without it
    return false;
  }
}

}  // namespace

Session::Session(Grant& to, const std::string& driver, const std::string& nccl)
    : Core(to, driver),
      Forwards(core_of(*this)),
      Memory(core_of(*this)),
      Transfers(core_of(*this)),
      Launches(core_of(*this)),
      Graphs(core_of(*this), *this, *this),
      Streams(core_of(*this), *this, *this),
      Contexts(core_of(*this), *this),
      Modules(core_of(*this)),
      PeerCopies(core_of(*this), *this),
      Collectives(core_of(*this), nccl),
      Arrivals(core_of(*this), *this, speaks_,
               [this](const wire::Header& header, wire::View body) { return carry_out(header, body); }) {}

Session::~Session() { stop(); }

void Session::start(wire::Link& to, Peers& others) {
  first_ = &to;
  speaks_.lead_to(to);
  link = &speaks_;
  Arrivals::start(to, others);
  peers = std::make_unique<PeerLinks>(to, others);
  on_broken = [this](std::uint64_t context, CUresult status) { Streams::abandon(context, status); };
  on_dropped = [this](const Record& gone) { Graphs::dropped(gone); };
  Graphs::start();
  if (swap) Arrivals::close();
  printing = std::make_unique<Printing>([this](wire::View text) { tell(cu::Printed{.text = text}); });
  mirrors.start(most_mirrored(devices), [this](const cu::Changed& changed) { tell(changed); });
}

void Session::on_frame(const wire::Header& header, wire::View body) {
  const std::lock_guard guard(lock);
  if (is_broken_ || !link) return;
  if (const auto self = std::this_thread::get_id(); self != dispatcher) {
    dispatcher = self;
    current = 0;
  }
  const bool is_of_workers = is_restoring(header.op);
  if (!is_of_workers) journal_.note(header, body);
  if (!is_of_workers && header.op != cu::Describe::kOp) Arrivals::close();
  auto& answered_by = is_of_workers ? *first_ : *link;
  is_broken_ = !take_frame<cu::WaitContextReply>(
      answered_by, header, *peers, [&] { return cu::dispatch(*this, answered_by, header, body); },
      [&] { tell(cu::Failed{.op = header.op, .status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)}); });
}

/// One message of another worker's client, said again. False: it cannot be.
bool Session::carry_out(const wire::Header& header, wire::View body) {
  if (is_restoring(header.op)) return false;
  journal_.note(header, body);
  return cu::dispatch(*this, *link, header, body) == cu::Dispatch::ok;
}

void Session::on_over(std::string_view) {}

/// The driver gives back all that a context has with the context, and the process is about to end; what still runs is
/// ended with it.
void Session::stop() {
  if (!link) return;
  if (owes_others()) {
    // What was let go now would look to them as if it had been done: the process ends instead, and its driver with it.
    const std::lock_guard guard(lock);
    mirrors.abandon();
    is_broken_ = true;
    return;
  }
  peers->end();
  Contexts::end_metering();
  Graphs::end();
  Collectives::end(kNcclWithin);
  {
    const std::lock_guard guard(lock);
    Streams::let_go_all();
    handles.take_if([](const Record& record) { return record.kind == Kind::latch; });
  }
  const bool is_clocked = Launches::close(kSettleWithin);   // contexts that end wait for their launches
  bool is_settled = waiters.close(kSettleWithin) && is_clocked;
  const std::lock_guard guard(lock);
  if (is_settled) {
    handles.take_if([](const Record& record) { return record.kind == Kind::event; });  // while their contexts are there
    std::vector<std::function<void()>> endings;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> of_contexts;
    // What graphs have of ours goes with the last of them.
    Graphs::forget_all();
    handles.take_if([&](const Record& record) {
      if (record.kind == Kind::exec)
        endings.push_back(
            [driver = table, native = static_cast<CUgraphExec>(record.native)] { driver.cuGraphExecDestroy(native); });
      // Bodies of conditional nodes go with these.
      if (record.kind == Kind::graph && record.owner == 0)
        endings.push_back(
            [driver = table, native = static_cast<CUgraph>(record.native)] { driver.cuGraphDestroy(native); });
      return record.kind == Kind::exec || record.kind == Kind::graph;
    });
    handles.take_if([&](const Record& record) {
      if (record.kind != Kind::context) return false;
      of_contexts.emplace_back(record.device, record.charged);
      if ((record.flags & 1) != 0)
        endings.push_back([driver = table, host = record.host, device = devices[record.device].native] {
          driver.cuDevicePrimaryCtxReset_v2(device);
        });
      else
        endings.push_back([driver = table, host = record.host, native = static_cast<CUcontext>(record.native)] {
          driver.cuCtxDestroy_v2(native);
        });
      return true;
    });
    is_settled = end_within(kSettleWithin, std::move(endings));
    for (const auto& [device, bytes] : of_contexts) refund(device, bytes);
  }
  if (swap) swap->abandon();  // the end of the process has it
  for (auto& [address, one] : allocations) refund(one.device, one.charged);
  allocations.clear();  // shares of what is mapped are given back with the last who holds them
  handles.take_if([this](const Record& record) {
    refund(record.device, record.charged);
    return true;
  });
  Graphs::leave();
  if (!is_settled) mirrors.abandon();
  end_printing();
  // What still waits may have something to tell the link, which stays; no message is taken any more.
  is_broken_ = true;
}

/// Events that other processes have too, and that are not reached.
bool Session::owes_others() {
  const std::lock_guard guard(lock);
  bool owes = false;
  handles.each([&](const Record& one) {
    owes = owes || (one.kind == Kind::event && one.share &&
                    table.cuEventQuery(static_cast<CUevent>(one.native)) == CUDA_ERROR_NOT_READY);
  });
  return owes;
}

void Session::on(const cu::Release& m) {
  CallContext call(*this, m.kOp, 0);
  auto record = handles.take(m.object);
  if (!record || record->kind == Kind::context || record->kind == Kind::loaded || record->kind == Kind::communicator) {
    if (record) handles.insert(m.object, Record(std::move(*record)));
    call.fail(CUDA_ERROR_INVALID_HANDLE);
    return call.end();
  }
  if (record->context != 0) make_current(record->context);
  const auto release = [&](auto function, auto native) { call.run(function, native); };
  if (record->kind == Kind::module || record->kind == Kind::library) mirrors.forget_owner(m.object);
  switch (record->kind) {
    case Kind::stream:
      Contexts::keep_end(record->context, static_cast<CUstream>(record->native));
      release(table.cuStreamDestroy_v2, static_cast<CUstream>(record->native));
      break;
    case Kind::event: break;  // with the last who waits for it
    case Kind::module: release(table.cuModuleUnload, static_cast<CUmodule>(record->native)); break;
    case Kind::library: release(table.cuLibraryUnload, static_cast<CUlibrary>(record->native)); break;
    case Kind::graph:
      if (record->owner == 0) release(table.cuGraphDestroy, static_cast<CUgraph>(record->native));
      break;
    case Kind::exec: release(table.cuGraphExecDestroy, static_cast<CUgraphExec>(record->native)); break;
    case Kind::pool:
      if (record->flags == 0) release(table.cuMemPoolDestroy, static_cast<CUmemoryPool>(record->native));
      break;
    case Kind::array:
      if (record->owner == 0) release(table.cuArrayDestroy, static_cast<CUarray>(record->native));
      break;
    case Kind::mipmap: release(table.cuMipmappedArrayDestroy, static_cast<CUmipmappedArray>(record->native)); break;
    case Kind::memory:
      release(table.cuMemRelease, reinterpret_cast<CUmemGenericAllocationHandle>(record->native));
      break;
    case Kind::latch: Streams::open_latch(m.object); break;
    default: break;  // kernels, functions and nodes go with what they are part of
  }
  refund(record->device, record->charged);
  drop_owned(m.object, record->kind);
  Graphs::forget(m.object);
  call.end();
}

}  // namespace flexrack::backend::cuda
