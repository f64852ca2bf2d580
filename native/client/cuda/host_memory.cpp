// Pinned memory: of this process, in whole pages.
#include <sys/mman.h>
#include <unistd.h>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

std::size_t in_pages(std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int Flags) {
  constexpr unsigned kFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  Call call;
  call.needs(pp);
  call.check((Flags & ~kFlags) == 0 && bytesize > 0 && bytesize < SIZE_MAX / 2);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  void* const at = ::mmap(nullptr, in_pages(bytesize), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const Allocation made{.sort = Allocation::Sort::host, .base = reinterpret_cast<std::uintptr_t>(at), .size = bytesize, .context = now, .context_handle = now->handle, .device = now->device,
                        .flags = Flags};
  if (!add_allocation(made)) {
    ::munmap(at, in_pages(bytesize));
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *pp = at;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void** pp, size_t bytesize) { return cuda::cuMemHostAlloc(pp, bytesize, 0); }

CUresult cuMemFreeHost(void* p) {
  if (!process()) return not_open();
  const auto known = find_allocation(reinterpret_cast<std::uintptr_t>(p));
  if (!known || known->sort != Allocation::Sort::host || known->base != reinterpret_cast<std::uintptr_t>(p)) return CUDA_ERROR_INVALID_VALUE;
  // Bytes may still be on their way to it or from it.
  if (has_host_work() && is_live(known->context)) wait_for(known->context->order.unfinished());
  take_allocation(known->base);
  ::munmap(p, in_pages(known->size));
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) {
  if (!process()) return not_open();
  const auto known = find_allocation(reinterpret_cast<std::uintptr_t>(p));
  if (!pFlags || !known || !known->is_host()) return CUDA_ERROR_INVALID_VALUE;
  *pFlags = known->flags;
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
