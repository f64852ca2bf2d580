// Memory of this process that is pinned, in whole pages, or that the application has registered. It is the
// application's, and nobody else's, until a device is to see it: then servers mirror it.
#include <sys/mman.h>
#include <unistd.h>

#include "client/cuda/capture.h"
#include "client/cuda/mirror.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

std::size_t page_bytes() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t in_pages(std::size_t size) { return (size + page_bytes() - 1) / page_bytes() * page_bytes(); }

/// All of it is mapped in this process: mincore says ENOMEM for what is not (mincore(2)).
bool is_all_there(const void* p, std::size_t size) {
  const auto first = reinterpret_cast<std::uintptr_t>(p) / page_bytes() * page_bytes();
  const auto bytes = in_pages(reinterpret_cast<std::uintptr_t>(p) + size - first);
  std::vector<unsigned char> present(std::min<std::size_t>(bytes / page_bytes(), 65536));
  for (std::size_t at = 0; at < bytes; at += present.size() * page_bytes()) {
    if (::mincore(reinterpret_cast<void*>(first + at), std::min(bytes - at, present.size() * page_bytes()),
                  present.data()) != 0)
      return false;
  }
  return true;
}

std::optional<Allocation> host_memory_of(const void* p) {
  auto found = find_allocation(reinterpret_cast<std::uintptr_t>(p));
  if (found && !found->is_host()) found.reset();
  return found;
}

/// Nothing uses it any more: neither bytes on their way to it or from it, nor kernels.
CUresult settle_host_memory(const Allocation& memory) {
  auto failure = CUDA_SUCCESS;
  if (has_host_work() && is_live(memory.context)) {
    auto works = memory.context->order.unfinished();
    // Functions of a context that has failed are not run any more.
    std::unique_lock guard(memory.context->lock);
    failure = memory.context->sticky;
    guard.unlock();
    if (failure != CUDA_SUCCESS) std::erase_if(works, [](const auto& work) { return work->is_function(); });
    wait_for(works);
  }
  drop_mirror(memory);
  return failure;
}

}  // namespace

CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int Flags) {
  constexpr unsigned kFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  Call call;
  call.needs(pp);
  call.check((Flags & ~kFlags) == 0 && bytesize > 0 && bytesize < SIZE_MAX / 2);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  if (const auto status = refuse_unsafe(); status != CUDA_SUCCESS) return status;
  if (bytesize >= std::uint64_t{1} << 44) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation made{.sort = Allocation::Sort::host,
                  .size = bytesize,
                  .context = now,
                  .context_handle = now->handle,
                  .device = now->device,
                  .flags = Flags};
  if ((Flags & CU_MEMHOSTALLOC_DEVICEMAP) != 0) {
    const auto status = make_mirrored(call, now, made);
    if (status == CUDA_SUCCESS) *pp = reinterpret_cast<void*>(made.base);
    return status;
  }
  auto* const at = map_for_mirror(in_pages(bytesize));
  if (!at) return CUDA_ERROR_OUT_OF_MEMORY;
  made.base = reinterpret_cast<std::uintptr_t>(at);
  if (!add_allocation(made)) {
    ::munmap(at, in_pages(bytesize));
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  unmirrored.fetch_add(1, std::memory_order_relaxed);
  *pp = at;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void** pp, size_t bytesize) { return cuda::cuMemHostAlloc(pp, bytesize, 0); }

CUresult cuMemFreeHost(void* p) {
  if (!process()) return not_open();
  const auto known = find_allocation(reinterpret_cast<std::uintptr_t>(p));
  if (!known || known->sort != Allocation::Sort::host || known->base != reinterpret_cast<std::uintptr_t>(p))
    return CUDA_ERROR_INVALID_VALUE;
  const auto failure = settle_host_memory(*known);
  take_allocation(known->base);
  if ((known->flags & CU_MEMHOSTALLOC_DEVICEMAP) == 0) unmirrored.fetch_sub(1, std::memory_order_relaxed);
  ::munmap(p, in_pages(known->size));
  return failure;
}

CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) {
  if (!process()) return not_open();
  const auto known = host_memory_of(p);
  if (!pFlags || !known) return CUDA_ERROR_INVALID_VALUE;
  *pFlags = known->flags;
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pdptr, void* p, unsigned int Flags) {
  Call call;
  call.needs(pdptr);
  call.check(Flags == 0);
  const auto now = call.current();
  const auto known = host_memory_of(p);
  call.check(known.has_value());
  if (!call.settle()) return call.error();
  std::uint64_t address = 0;
  const auto status = mirror_host(now, *known, address);
  if (status == CUDA_SUCCESS) *pdptr = address + (reinterpret_cast<std::uintptr_t>(p) - known->base);
  return status;
}

CUresult cuMemHostRegister_v2(void* p, size_t bytesize, unsigned int Flags) {
  constexpr unsigned kFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |
                              CU_MEMHOSTREGISTER_READ_ONLY;
  Call call;
  call.needs(p);
  call.check(bytesize > 0 && (Flags & ~kFlags) == 0);
  call.check((Flags & CU_MEMHOSTREGISTER_IOMEMORY) == 0,
             CUDA_ERROR_NOT_SUPPORTED);   // memory of other devices of this machine
  const auto now = call.current();
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  std::uintptr_t end = 0;
  call.check(!__builtin_add_overflow(at, bytesize, &end) && end < UINTPTR_MAX - page_bytes());
  if (!call.settle()) return call.error();
  if (!is_all_there(p, bytesize)) return CUDA_ERROR_INVALID_VALUE;
  const Allocation made{.sort = Allocation::Sort::registered,
                        .base = at,
                        .size = bytesize,
                        .context = now,
                        .context_handle = now->handle,
                        .device = now->device,
                        .flags = Flags};
  if (!add_allocation(made)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  std::uint64_t address = 0;
  const auto status = (Flags & CU_MEMHOSTREGISTER_DEVICEMAP) != 0 ? mirror_host(now, made, address) : CUDA_SUCCESS;
  if (status != CUDA_SUCCESS) take_allocation(at);
  return status;
}

CUresult cuMemHostRegister(void* p, size_t bytesize, unsigned int Flags) {
  return cuda::cuMemHostRegister_v2(p, bytesize, Flags);
}

CUresult cuMemHostUnregister(void* p) {
  if (!process()) return not_open();
  const auto known = find_allocation(reinterpret_cast<std::uintptr_t>(p));
  if (!known || known->sort != Allocation::Sort::registered || known->base != reinterpret_cast<std::uintptr_t>(p))
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  const auto failure = settle_host_memory(*known);
  take_allocation(known->base);
  return failure;
}

}  // namespace flexrack::client::cuda
