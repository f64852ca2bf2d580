// The life of a session: starting, taking messages, ending.
#include "backend/cuda/session.h"

#include <stdexcept>

#include "backend/cuda/devices.h"
#include "backend/cuda/turn.h"
#include "gen/cuda/server_calls.inc"

namespace flexrack::backend {

std::unique_ptr<Backend> make_cuda_backend(Grant& grant, const std::string& driver) { return std::make_unique<cuda::Session>(grant, driver); }

}  // namespace flexrack::backend

namespace flexrack::backend::cuda {
namespace {

/// How long an end waits for what runs on the device: the end of the process stops the rest.
constexpr auto kSettleWithin = std::chrono::milliseconds(500);

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
    devices_.push_back(std::move(device));
  }
}

Session::~Session() { stop(); }

void Session::start(wire::Link& link, Peers& peers) {
  link_ = &link;
  peers_ = &peers;
  printing_ = std::make_unique<opencl::Printing>([this](wire::View text) { tell(cu::Printed{.text = text}); });
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
  {
    const std::lock_guard guard(graph_turns_lock_);
    is_ending_ = true;
    graph_turns_over_.notify_all();
  }
  {
    const std::lock_guard guard(lock_);
    for (auto& [turn, gate] : turns_) Gates::open(gate);
    turns_.clear();
    handles_.take_if([](const Record& record) {
      if (record.kind == Kind::gate) Gates::open({static_cast<std::uint32_t*>(record.native), 0});
      return record.kind == Kind::gate;
    });
  }
  const bool is_settled = waiters_.close(kSettleWithin);
  const std::lock_guard guard(lock_);
  if (is_settled) {
    handles_.take_if([this](const Record& record) {
      if (record.kind != Kind::context) return false;
      if ((record.flags & 1) != 0) table_.cuDevicePrimaryCtxReset_v2(devices_[record.device].native);
      else table_.cuCtxDestroy_v2(static_cast<CUcontext>(record.native));
      return true;
    });
  }
  for (const auto& [address, one] : allocations_) refund(one.device, one.charged);
  allocations_.clear();
  handles_.take_if([this](const Record& record) {
    refund(record.device, record.charged);
    return true;
  });
  printing_.reset();
  link_ = nullptr;
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
  tell(cu::Failed{.context = context, .op = 0, .status = as_wire(status)});
}

void Session::refused(std::uint64_t context, std::uint16_t op, CUresult status, std::uint64_t object) {
  tell(cu::Failed{.context = context, .op = op, .status = as_wire(status), .object = object});
  noticed(context, status);
}

void Session::later(std::uint64_t context, std::function<void()> work) {
  auto* record = handles_.find(context);
  const auto native = record && record->kind == Kind::context ? static_cast<CUcontext>(record->native) : nullptr;
  waiters_.run([this, native, work = std::move(work)] {
    if (native) table_.cuCtxSetCurrent(native);
    work();
  });
}

void Session::printed() {
  if (printing_) printing_->drain();
}

std::uint32_t Session::device_of(std::uint64_t context) const {
  const auto* record = handles_.find(context);
  return record ? record->device : 0;
}

}  // namespace flexrack::backend::cuda
