#include "backend/cuda/core.h"

#include <unistd.h>

#include <stdexcept>

#include "backend/cuda/devices.h"

namespace flexrack::backend::cuda {
namespace {

/// What a context is charged on a device where nobody could measure one: more than what those of large GPUs take.
constexpr std::uint64_t kUnknownContext = std::uint64_t{512} << 20;

}  // namespace

Core::Core(Grant& granted_to, const std::string& driver) : grant(granted_to), library(driver) {
  cu::fill(table, [this](const char* symbol) { return reinterpret_cast<void*>(library.find<void()>(symbol)); });
  const auto need = [this](CUresult status) {
    if (status != CUDA_SUCCESS) throw std::runtime_error("the CUDA driver: " + library.text_of(status));
  };
  need(library.need<decltype(::cuInit)>("cuInit")(0));
  int count = 0;
  need(table.cuDeviceGetCount(&count));
  for (const auto& granted : granted_to.devices()) {
    Device device;
    bool is_found = false;
    for (int ordinal = 0; ordinal < count && !is_found; ++ordinal) {
      need(table.cuDeviceGet(&device.native, ordinal));
      is_found = uuid_text(library, device.native) == granted.native_id;
    }
    if (!is_found) throw std::runtime_error("the GPU " + granted.native_id + " is not on this machine any more");
    device.name.resize(256);
    device.pci.resize(32);
    need(table.cuDeviceGetName(device.name.data(), static_cast<int>(device.name.size()), device.native));
    need(table.cuDeviceGetPCIBusId(device.pci.data(), static_cast<int>(device.pci.size()), device.native));
    need(table.cuDeviceGetUuid_v2(&device.uuid, device.native));
    for (auto* text : {&device.name, &device.pci}) text->resize(text->find('\0'));
    device.memory = granted.memory;
    device.is_whole = granted.whole;
    device.context_memory = granted.context_memory.value_or(kUnknownContext);
    int multiprocessors = 0, threads = 0;
    table.cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device.native);
    table.cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device.native);
    device.threads = static_cast<std::uint64_t>(multiprocessors) * static_cast<std::uint64_t>(threads);
    devices.push_back(std::move(device));
  }
  if (grant.is_oversubscribed()) swap = std::make_shared<SwapSpace>(table, grant, devices.front().native);
}

bool Core::make_current(std::uint64_t context) {
  const bool is_dispatching = std::this_thread::get_id() == dispatcher;
  if (is_dispatching && context == current) return true;
  const auto* record = handles.find(context);
  if (!record || record->kind != Kind::context ||
      table.cuCtxSetCurrent(static_cast<CUcontext>(record->native)) != CUDA_SUCCESS)
    return false;
  if (is_dispatching) current = context;
  return true;
}

CUresult Core::module_of(const Record& one, CUmodule& module) const {
  if (one.kind == Kind::library)
    return table.cuLibraryGetModule ? table.cuLibraryGetModule(&module, static_cast<CUlibrary>(one.native))
                                    : CUDA_ERROR_NOT_SUPPORTED;
  module = static_cast<CUmodule>(one.native);
  return CUDA_SUCCESS;
}

CUevent Core::reached_now(std::uint64_t context) {
  CUevent made = nullptr;
  if (!make_current(context) || table.cuEventCreate(&made, 0) != CUDA_SUCCESS) return nullptr;
  table.cuEventRecord(made, nullptr);
  table.cuEventSynchronize(made);
  return made;
}

void Core::noticed(std::uint64_t context, CUresult status) {
  if (context == 0 || !is_sticky(status) || !broken.insert(context).second) return;
  on_broken(context, status);
  tell(cu::Failed{.context = context, .op = 0, .status = as_wire(status)});
}

void Core::refused(std::uint64_t context, std::uint16_t op, CUresult status, std::uint64_t object) {
  tell(cu::Failed{.context = context, .op = op, .status = as_wire(status), .object = object});
  noticed(context, status);
}

void Core::later(std::uint64_t context, std::function<void()> work) { to_run_later(context, std::move(work))(); }

void Core::later_behind(CUevent event, std::uint64_t context, std::function<void()> work) {
  to_run_later(context, std::move(work), is_reached(event))();
}

std::function<bool()> Core::is_reached(CUevent event) {
  return [this, event] { return table.cuEventQuery(event) != CUDA_ERROR_NOT_READY; };
}

std::function<void()> Core::to_run_later(std::uint64_t context, std::function<void()> work,
                                         std::function<bool()> is_over) {
  auto* record = handles.find(context);
  const bool is_in_context = record && record->kind == Kind::context;
  const auto native = is_in_context ? static_cast<CUcontext>(record->native) : nullptr;
  auto use = is_in_context ? Users::one_of(record->users) : nullptr;
  return [this, native, use = std::move(use), work = std::move(work), is_over = std::move(is_over)]() mutable {
    auto under_context = [this, native, use = std::move(use), work = std::move(work)]() mutable {
      table.cuCtxSetCurrent(native);  // none, too: the thread had another's, which may be gone
      work();
      work = nullptr;
      use = nullptr;
    };
    if (!is_over) return waiters.run(std::move(under_context));
    waiters.run_when([this, native, is_over = std::move(is_over)] { return table.cuCtxSetCurrent(native), is_over(); },
                     std::move(under_context));
  };
}

void Core::put_on(std::uint16_t op, std::uint64_t context, std::uint64_t stream) {
  switch (op) {
    case cu::WaitStream::kOp:
    case cu::QueryStream::kOp:
    case cu::ReadMemory::kOp:
    case cu::ReadRows::kOp: return;
    default: mirrors.used(context, stream);
  }
}

void Core::printed() {
  const std::lock_guard guard(printing_lock_);
  if (printing) printing->drain();
}

void Core::end_printing() {
  const std::lock_guard guard(printing_lock_);
  printing.reset();
}

void Core::drop_owned(std::uint64_t owner, Kind kind) {
  std::vector<std::uint64_t> owners;
  if (may_own(kind)) owners.push_back(owner);
  while (!owners.empty()) {
    const auto gone = owners.back();
    owners.pop_back();
    allocations.erase_if([&](std::uint64_t, const Allocation& one) { return one.owner == gone; });
    handles.take_if([&](const Record& one) {
      if (one.owner != gone) return false;
      on_dropped(one);
      refund(one.device, one.charged);
      if (may_own(one.kind)) owners.push_back(one.handle);
      return true;
    });
  }
}

std::shared_ptr<HostSide> Core::host_of(std::uint64_t context) const {
  const auto* record = handles.find(context);
  return record ? record->host : nullptr;
}

std::uint32_t Core::device_of(std::uint64_t context) const {
  const auto* record = handles.find(context);
  return record ? record->device : 0;
}

void Core::behind_frees(std::function<void()> work) {
  if (!frees.any() || !waiters.has_room()) return work();
  // In no context, which could not end before this, and this not before the end of a context.
  later(0, [this, work = std::move(work)] {
    frees.wait();
    const std::lock_guard guard(lock);
    work();
  });
}

void Core::know(std::uint64_t at, Allocation one) {
  // What a driver hands out is nobody else's: what was known there (of a graph that is gone) is not there any more.
  allocations.evict(at, one.room(), [this](const Allocation& gone) { refund(gone.device, gone.charged); });
  allocations.add(at, std::move(one));
}

Held::~Held() {
  if (descriptor >= 0) ::close(descriptor);
  if (!secret) {
    if (bytes > 0) grant.refund(device, bytes);
  } else if (is_opened) {
    grant.close_shared(*secret);
  } else {
    grant.unshare(*secret);
  }
}

std::shared_ptr<Held> Core::hold(std::uint32_t device, std::uint64_t bytes) {
  return std::make_shared<Held>(grant, device, bytes);
}

}  // namespace flexrack::backend::cuda
