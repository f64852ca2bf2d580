// cuIpc*: memory and events of other processes of the same lease.
#include <algorithm>
#include <charconv>

#include "client/cuda/arena.h"
#include "client/cuda/capture.h"
#include "client/cuda/memory.h"
#include "client/cuda/shared_handle.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

constexpr std::uint64_t kMagic = 0x31657261'68737866;  // "fxshare1"

std::uint64_t lease_number(const CudaServer& server) {
  const auto& name = server.lease.dial.lease;
  std::uint64_t number = 0;
  std::from_chars(name.data(), name.data() + std::min<std::size_t>(name.size(), 16), number, 16);
  return number;
}

/// What this process has opened, by secret; how often it was asked for.
struct Opened {
  std::uint64_t base = 0, id = 0;   ///< of the allocation: another one may lie there meanwhile
  unsigned count = 0;
};
struct AllOpened {
  std::mutex lock;
  std::map<std::array<std::uint8_t, 32>, Opened> by_secret;
};

AllOpened& all_opened() {
  static auto& all = *new AllOpened;
  return all;
}

bool is_there(const Opened& one) {
  const auto known = find_allocation(one.base);
  return known && known->base == one.base && known->id == one.id;
}

CUresult close_at(Call& call, const Allocation& memory) {
  return call.wait(cu::CloseMemory{.context = memory.context_handle, .address = memory.base});
}

CUresult ask_for(Call& call, const SharedHandle& handle, Allocation& wish, std::uint32_t& device) {
  return call.ask(
      cu::OpenMemory{
          .context = wish.context_handle, .at = wish.base, .secret = {handle.secret.begin(), handle.secret.end()}},
      [&](const auto& reply) {
        wish.base = reply.address;
        wish.size = reply.size;
        device = reply.device;
      });
}

/// Where the driver there has it, if that is free here; or where this process wants it.
CUresult open_there(Call& call, CUcontext now, const SharedHandle& handle, Allocation& wish) {
  std::uint32_t device = 0;
  if (handle.is_mapped != 0) {
    if (const auto status = take_addresses(call, *now->device, handle.size, wish.base); status != CUDA_SUCCESS)
      return status;
    wish.is_in_arena = true;
    const auto wanted = wish.base;
    if (const auto status = ask_for(call, handle, wish, device); status != CUDA_SUCCESS || wish.size > handle.size) {
      give_addresses(*now->server, wanted);
      return status == CUDA_SUCCESS ? close_at(call, wish), CUDA_ERROR_INVALID_VALUE : status;
    }
  } else if (const auto status = ask_for(call, handle, wish, device); status != CUDA_SUCCESS) {
    return status;
  } else if (keep_addresses(wish.base, wish.size)) {
    wish.kept = wish.size;
  } else {
    close_at(call, wish);
    return CUDA_ERROR_ALREADY_MAPPED;
  }
  const auto& devices = now->server->devices;
  wish.device = device < devices.size() ? devices[device].get() : now->device;
  if (add_allocation(wish)) return CUDA_SUCCESS;
  close_at(call, wish);
  release_addresses(wish);
  return CUDA_ERROR_ALREADY_MAPPED;
}

}  // namespace

std::optional<SharedHandle> shared_handle(const CudaServer& server, std::uint32_t kind,
                                          const cu::ShareObjectReply& reply) {
  SharedHandle handle;
  if (reply.secret.size() != handle.secret.size()) return std::nullopt;
  handle.magic = kMagic;
  handle.lease = lease_number(server);
  std::copy(reply.secret.begin(), reply.secret.end(), handle.secret.begin());
  handle.size = reply.size;
  handle.kind = kind;
  handle.is_mapped = reply.is_mapped;
  return handle;
}

CudaServer* server_of(const SharedHandle& handle, std::uint32_t kind) {
  if (handle.magic != kMagic || handle.kind != kind) return nullptr;
  const auto& servers = process()->servers;
  if (servers.front()->is_mirrored()) return nullptr;   // two servers have two secrets for the same
  for (auto* const server : servers)
    if (lease_number(*server) == handle.lease) return server;
  // A lease that has moved has another name since: the server says whether the secret is one of its own.
  return servers.size() == 1 ? servers.front() : nullptr;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) {
  Call call;
  call.needs(pHandle);
  if (!call.is_good()) return call.error();
  const auto known = find_allocation(dptr);
  if (!known || known->sort != Allocation::Sort::device) return CUDA_ERROR_INVALID_VALUE;
  call.use(known->context);
  if (call.is_good()) call.check(!call.server().is_mirrored(), CUDA_ERROR_NOT_SUPPORTED);
  std::optional<SharedHandle> handle;
  const auto status = call.ask(cu::ShareObject{.address = known->base}, [&](const auto& reply) {
    handle = shared_handle(call.server(), SharedHandle::kMemory, reply);
  });
  if (status != CUDA_SUCCESS) return status;
  if (!handle) return CUDA_ERROR_UNKNOWN;
  std::memcpy(pHandle, &*handle, sizeof *handle);
  return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pdptr, CUipcMemHandle given, unsigned int Flags) {
  Call call;
  call.needs(pdptr);
  call.check(Flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  const auto handle = as_shared_handle(given);
  const auto* const server = server_of(handle, SharedHandle::kMemory);
  if (!server || handle.size == 0) return CUDA_ERROR_INVALID_VALUE;
  // Memory of another server's devices is not theirs to use, whatever this process calls them.
  if (server != now->server) return CUDA_ERROR_INVALID_DEVICE;
  auto& all = all_opened();
  const std::lock_guard guard(all.lock);
  std::erase_if(all.by_secret, [](const auto& one) { return !is_there(one.second); });
  if (const auto known = all.by_secret.find(handle.secret); known != all.by_secret.end()) {
    if (find_allocation(known->second.base)->context != now) return CUDA_ERROR_ALREADY_MAPPED;
    ++known->second.count;
    *pdptr = known->second.base;
    return CUDA_SUCCESS;
  }
  Allocation made{
      .sort = Allocation::Sort::opened, .server = now->server, .context = now, .context_handle = now->handle};
  if (const auto status = open_there(call, now, handle, made); status != CUDA_SUCCESS) return status;
  all.by_secret[handle.secret] = {made.base, find_allocation(made.base)->id, 1};
  *pdptr = made.base;
  return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
  Call call;
  if (!call.is_good()) return call.error();
  auto& all = all_opened();
  const std::lock_guard guard(all.lock);
  const auto one = std::find_if(all.by_secret.begin(), all.by_secret.end(), [dptr](const auto& entry) {
    return entry.second.base == dptr && is_there(entry.second);
  });
  if (one == all.by_secret.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--one->second.count > 0) return CUDA_SUCCESS;
  all.by_secret.erase(one);
  const auto memory = take_allocation(dptr);
  if (!memory) return CUDA_ERROR_INVALID_VALUE;  // its context was destroyed just now
  call.use(memory->context);
  const auto status = close_at(call, *memory);
  release_addresses(*memory);
  return status;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event) {
  Call call;
  call.needs(pHandle);
  if (!call.use(event)) return call.error();
  if (!is_shared(event)) return CUDA_ERROR_INVALID_VALUE;
  if (call.server().is_mirrored()) return CUDA_ERROR_NOT_SUPPORTED;
  std::optional<SharedHandle> handle;
  const auto status = call.ask(cu::ShareObject{.object = event->handle}, [&](const auto& reply) {
    handle = shared_handle(call.server(), SharedHandle::kEvent, reply);
  });
  if (status != CUDA_SUCCESS) return status;
  if (!handle) return CUDA_ERROR_UNKNOWN;
  std::memcpy(pHandle, &*handle, sizeof *handle);
  return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle given) {
  Call call;
  call.needs(phEvent);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  const auto handle = as_shared_handle(given);
  const auto* const server = server_of(handle, SharedHandle::kEvent);
  if (!server) return CUDA_ERROR_INVALID_VALUE;
  if (server != now->server) return CUDA_ERROR_INVALID_DEVICE;
  const auto made = call.make<CUevent>();
  const auto status = call.ask(
      cu::OpenEvent{
          .context = now->handle, .event = made.handle(), .secret = {handle.secret.begin(), handle.secret.end()}},
      [](const auto&) {});
  if (status != CUDA_SUCCESS) return status;
  made.get()->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
  *phEvent = made.keep();
  call.server().inbox.expect(*phEvent);
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
