// Memory and events that several sessions of a lease have: each is a process with a driver of its own, which tells them
// apart by handles that only it may know. A session is told a secret instead.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/cuda/call_context.h"
#include "backend/cuda/memory.h"

namespace flexrack::backend::cuda {
namespace {

using Sort = SharedObject::Sort;

template <class Native>
void put(SharedObject& object, const Native& native) {
  static_assert(sizeof native <= sizeof object.native);
  std::memcpy(object.native.data(), &native, sizeof native);
}

template <class Native>
Native get(const SharedObject& object) {
  Native native;
  std::memcpy(&native, object.native.data(), sizeof native);
  return native;
}

/// Valid as long as what is shared.
wire::View bytes_of(const ShareSecret& secret) { return {secret.data(), secret.size()}; }

/// A descriptor of another worker, as one of this process; -1: it is gone, or the system does not let us.
int descriptor_of(std::int32_t process, int descriptor) {
  const auto its = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (its < 0) return -1;
  const auto taken = static_cast<int>(syscall(SYS_pidfd_getfd, its, descriptor, 0));
  ::close(its);
  return taken;
}

}  // namespace

/// Its bytes are the share's from now on, whoever of the lease has them.
bool Memory::offer(CallContext& call, const SharedObject& object, std::shared_ptr<Held>& share) {
  if (!call.is_good()) return false;
  const auto secret = core_.grant.share(object);
  if (!secret) return call.fail(CUDA_ERROR_OUT_OF_MEMORY), false;
  if (!share) share = core_.hold(object.device, object.charged);
  share->secret = secret;
  return true;
}

void Memory::on(const cu::ShareObject& m, Respond<cu::ShareObjectReply> respond) {
  if (m.object == 0) return share_allocation(m.address, std::move(respond));
  CallContext call(core_, m.kOp, 0);
  cu::ShareObjectReply reply;
  auto* const record = core_.handles.find(m.object);
  if (record && record->kind == Kind::event) share_event(call, *record, reply);
  else if (record && record->kind == Kind::memory) share_physical(call, *record, reply);
  else call.fail(CUDA_ERROR_INVALID_HANDLE);
  reply.status = as_wire(call.status());
  respond(reply);
}

/// The driver is asked off the dispatch: it may wait for what uses the memory.
void Memory::share_allocation(std::uint64_t address, Respond<cu::ShareObjectReply> respond) {
  CallContext call(core_, cu::ShareObject::kOp, 0);
  const auto found = core_.allocations.find(address);
  call.check(found != core_.allocations.end() &&
             (found->second.sort == Allocation::Sort::plain || found->second.sort == Allocation::Sort::mapped) &&
             !(found->second.share && found->second.share->is_opened));
  call.may_wait();
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  const auto& one = found->second;
  if (one.share) return respond(shared_already(one));
  core_.later(one.context,
              [this, address, one, answer = std::make_shared<Respond<cu::ShareObjectReply>>(std::move(respond))] {
                const bool is_mapped = one.sort == Allocation::Sort::mapped;
                SharedObject object{.sort = is_mapped ? Sort::mapped : Sort::memory,
                                    .device = one.device,
                                    .size = one.size,
                                    .charged = one.charged};
                auto status = CUDA_ERROR_NOT_SUPPORTED;
                int descriptor = -1;
                if (is_mapped && core_.table.cuMemExportToShareableHandle) {
                  status = core_.table.cuMemExportToShareableHandle(&descriptor, one.memory,
                                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
                  put(object, descriptor);
                } else if (!is_mapped && core_.table.cuIpcGetMemHandle) {
                  CUipcMemHandle native{};
                  status = core_.table.cuIpcGetMemHandle(&native, address);
                  put(object, native);
                }
                const std::lock_guard guard(core_.lock);  // over the answer: it shows the secret where it is kept
                (*answer)(offer_allocation(address, one, object, status, descriptor));
              });
}

cu::ShareObjectReply Memory::shared_already(const Allocation& one) {
  return {.status = 0,
          .is_mapped = one.sort == Allocation::Sort::mapped ? 1u : 0u,
          .size = one.size,
          .secret = bytes_of(*one.share->secret)};
}

/// Under the lock. Unless the client has freed it meanwhile.
cu::ShareObjectReply Memory::offer_allocation(std::uint64_t address, const Allocation& as_it_was,
                                              const SharedObject& object, CUresult status, int descriptor) {
  const auto found = core_.allocations.find(address);
  const bool is_there = found != core_.allocations.end() && found->second.sort == as_it_was.sort &&
                        found->second.size == as_it_was.size && found->second.context == as_it_was.context;
  if (status == CUDA_SUCCESS && !is_there) status = CUDA_ERROR_INVALID_VALUE;
  const auto fail = [&](CUresult why) {
    if (descriptor >= 0) ::close(descriptor);
    return cu::ShareObjectReply{.status = as_wire(why)};
  };
  if (status != CUDA_SUCCESS) return fail(status);
  auto& one = found->second;
  if (!one.share) {
    const auto secret = core_.grant.share(object);
    if (!secret) return fail(CUDA_ERROR_OUT_OF_MEMORY);
    one.share = core_.hold(one.device, std::exchange(one.charged, 0));  // with the share from now on
    one.share->secret = secret;
    one.share->descriptor = std::exchange(descriptor, -1);
  }
  if (descriptor >= 0) ::close(descriptor);
  return shared_already(one);
}

void Memory::share_physical(CallContext& call, Record& memory, cu::ShareObjectReply& reply) {
  auto& share = memory.share;
  if (share && !share->secret) {
    const auto native = reinterpret_cast<CUmemGenericAllocationHandle>(memory.native);
    CUmemAllocationProp properties{};
    int descriptor = -1;
    call.run(core_.table.cuMemGetAllocationPropertiesFromHandle, &properties, native);
    call.run(core_.table.cuMemExportToShareableHandle, static_cast<void*>(&descriptor), native,
             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0ull);
    const bool is_compressed = properties.allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_GENERIC;
    SharedObject object{.sort = Sort::physical,
                        .device = memory.device,
                        .flags = is_compressed ? 3u : 2u,
                        .size = share->bytes,
                        .charged = share->bytes};
    put(object, descriptor);
    if (offer(call, object, share)) share->descriptor = descriptor;
    else if (descriptor >= 0) ::close(descriptor);
  }
  call.check(share && share->secret);
  if (!call.is_good()) return;
  reply.is_mapped = 1;
  reply.size = share->bytes;
  reply.secret = bytes_of(*share->secret);
}

void Memory::share_event(CallContext& call, Record& event, cu::ShareObjectReply& reply) {
  if (!event.share) {
    CUipcEventHandle native{};
    call.run(core_.table.cuIpcGetEventHandle, &native, static_cast<CUevent>(event.native));
    SharedObject object{.sort = Sort::event};
    put(object, native);
    if (std::shared_ptr<Held> share; offer(call, object, share)) event.share = std::move(share);
  }
  if (call.is_good()) reply.secret = bytes_of(*event.share->secret);
}

/// What another session of the lease shares. Null: there is no such thing; CUDA_ERROR_INVALID_CONTEXT where it is this
/// session's own, as CUDA has it for what a process opens of itself.
std::shared_ptr<Held> Memory::open(CallContext& call, wire::View secret, SharedObject& found) {
  ShareSecret asked{};
  call.check(secret.size() == asked.size());
  if (!call.is_good()) return nullptr;
  std::copy(secret.begin(), secret.end(), asked.begin());
  std::erase_if(opened_, [](const auto& one) { return one.second.expired(); });
  // One session has it once, in one context.
  if (opened_.contains(asked)) return call.fail(CUDA_ERROR_ALREADY_MAPPED), nullptr;
  const auto opened = core_.grant.open_shared(asked);
  if (!opened) return call.fail(CUDA_ERROR_INVALID_VALUE), nullptr;
  if (opened->is_own) return call.fail(CUDA_ERROR_INVALID_CONTEXT), nullptr;
  found = opened->object;
  auto share = core_.hold(found.device, found.charged);
  share->secret = asked;
  share->is_opened = true;
  call.check(found.device < core_.devices.size());
  opened_[asked] = share;
  return share;
}

CUmemGenericAllocationHandle Memory::take_physical(CallContext& call, const SharedObject& object) {
  const int descriptor = call.is_good() ? descriptor_of(object.process, get<int>(object)) : -1;
  if (descriptor < 0) call.fail(CUDA_ERROR_OPERATING_SYSTEM);
  CUmemGenericAllocationHandle memory = 0;
  call.run(core_.table.cuMemImportFromShareableHandle, &memory,
           reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (descriptor >= 0) ::close(descriptor);
  return memory;
}

void Memory::on(const cu::OpenMemory& m, Respond<cu::OpenMemoryReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  SharedObject object;
  const auto share = open(call, m.secret, object);
  Allocation made{.device = object.device, .context = m.context, .size = object.size, .share = share};
  CUdeviceptr address = m.at;
  call.check(object.sort == Sort::mapped ? m.at != 0 : object.sort == Sort::memory && m.at == 0);
  if (object.sort == Sort::mapped) {
    open_at(call, m, object, made);
  } else {
    made.sort = Allocation::Sort::opened;
    const auto native = get<CUipcMemHandle>(object);
    const auto open_handle =
        core_.table.cuIpcOpenMemHandle_v2 ? core_.table.cuIpcOpenMemHandle_v2 : core_.table.cuIpcOpenMemHandle;
    call.run(open_handle, &address, native, static_cast<unsigned>(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  }
  if (call.is_good()) core_.know(address, made);
  respond({.status = as_wire(call.status()), .device = object.device, .address = address, .size = object.size});
}

void Memory::open_at(CallContext& call, const cu::OpenMemory& m, const SharedObject& object, Allocation& made) {
  const auto wish = call.is_good() ? core_.devices[object.device].native : CUdevice{};
  CUmemAllocationProp of{};
  of.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  of.location = {CU_MEM_LOCATION_TYPE_DEVICE, wish};
  size_t step = 0;
  call.run(core_.table.cuMemGetAllocationGranularity, &step, &of, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  call.check(step != 0);
  if (!call.is_good()) return;
  const auto whole = (object.size + step - 1) / step * step;
  call.check(m.at % step == 0 && may_map(m.at, whole));
  made.memory = take_physical(call, object);
  if (!call.is_good()) return;
  map_whole(call, m.at, whole, made);
  if (!call.is_good()) core_.table.cuMemRelease(made.memory);
}

void Memory::on(const cu::CloseMemory& m, Respond<cu::CloseMemoryReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  const auto found = core_.allocations.find(m.address);
  call.check(found != core_.allocations.end() && found->second.share && found->second.share->is_opened &&
             found->second.context == m.context && found->second.sort != Allocation::Sort::mapping);
  call.may_wait();
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  auto one = std::make_shared<Allocation>(found->second);
  core_.allocations.erase(found);
  core_.later(m.context, [this, one, address = m.address,
                          answer = std::make_shared<Respond<cu::CloseMemoryReply>>(std::move(respond))] {
    core_.table.cuCtxSynchronize();  // of a context that is broken there is nothing to wait for
    auto status = CUDA_SUCCESS;
    if (one->sort == Allocation::Sort::opened) {
      status = core_.table.cuIpcCloseMemHandle(address);
    } else {
      status = core_.table.cuMemUnmap(address, one->mapped);
      if (status == CUDA_SUCCESS) core_.table.cuMemRelease(one->memory);
    }
    {
      const std::lock_guard guard(core_.lock);
      if (status != CUDA_SUCCESS) core_.know(address, *one);
      one->share.reset();
    }
    (*answer)({.status = as_wire(status)});
  });
}

void Memory::on(const cu::OpenEvent& m, Respond<cu::OpenEventReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  if (!core_.handles.has_room(Kind::event)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  SharedObject object;
  auto share = open(call, m.secret, object);
  call.check(object.sort == Sort::event);
  CUevent made = nullptr;
  call.run(core_.table.cuIpcOpenEventHandle, &made, get<CUipcEventHandle>(object));
  auto held = std::shared_ptr<void>(made, [this](void* event) {
    if (event) core_.table.cuEventDestroy_v2(static_cast<CUevent>(event));
  });
  if (auto* record = call.keep(m.event, made)) {
    record->held = std::move(held);
    record->share = std::move(share);
  }
  respond({.status = as_wire(call.status())});
}

void Memory::on(const cu::OpenPhysical& m, Respond<cu::OpenPhysicalReply> respond) {
  CallContext call(core_, m.kOp, 0);
  SharedObject object;
  auto share = open(call, m.secret, object);
  call.check(object.sort == Sort::physical);
  const auto memory = take_physical(call, object);
  if (call.is_good() && !core_.handles.insert(m.memory, {.kind = Kind::memory,
                                                         .native = reinterpret_cast<void*>(memory),
                                                         .device = object.device,
                                                         .share = std::move(share)})) {
    core_.table.cuMemRelease(memory);
    call.fail(CUDA_ERROR_INVALID_HANDLE);
  }
  respond({.status = as_wire(call.status()), .device = object.device, .size = object.size});
}

}  // namespace flexrack::backend::cuda
