// Memory of devices.
#include "client/cuda/memory.h"

#include <algorithm>

#include "client/cuda/arena.h"
#include "client/cuda/capture.h"
#include "client/cuda/graph_memory.h"
#include "client/cuda/transfer.h"
#include "client/trace.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// What rows begin at, at least (drivers so far align them to this).
constexpr std::size_t kPitch = 512;

CUresult ask_for(Call& call, CUcontext context, std::uint64_t at, std::size_t size, std::uint64_t& address) {
  return call.ask(cu::Allocate{.context = context->handle, .at = at, .size = size, .kind = 0, .flags = 0},
                  [&](const auto& reply) { address = reply.address; });
}

/// Wherever the driver has room, where that is free here as well.
CUresult allocate_anywhere(Call& call, CUcontext context, std::size_t size, Allocation& made) {
  if (const auto status = ask_for(call, context, 0, size, made.base); status != CUDA_SUCCESS) return status;
  if (keep_addresses(made.base, size)) {
    made.kept = size;
    if (add_allocation(made)) return CUDA_SUCCESS;
    let_addresses_go(made.base, size);
  }
  if (is_traced()) trace("memory at an address that is taken here: from now on addresses are chosen here");
  call.send(cu::Free{.context = context->handle, .address = made.base});
  made.base = 0;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult allocate_memory(Call& call, CUcontext context, Allocation& wish) {
  if (!chooses_addresses(*context->server)) {
    if (const auto status = allocate_anywhere(call, context, wish.size, wish); status != CUDA_SUCCESS) return status;
  }
  if (wish.base != 0) return CUDA_SUCCESS;
  if (const auto status = take_addresses(call, *context->device, wish.size, wish.base); status != CUDA_SUCCESS)
    return status;
  std::uint64_t address = 0;
  if (const auto status = ask_for(call, context, wish.base, wish.size, address); status != CUDA_SUCCESS) {
    give_addresses(*context->server, wish.base);
    return status;
  }
  wish.is_in_arena = true;
  add_allocation(wish);
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytesize) {
  Call call;
  call.needs(dptr);
  call.check(bytesize > 0);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  if (const auto status = refuse_unsafe(); status != CUDA_SUCCESS) return status;
  Allocation made{.sort = Allocation::Sort::device,
                  .size = bytesize,
                  .server = now->server,
                  .context = now,
                  .context_handle = now->handle,
                  .device = now->device};
  const auto status = allocate_memory(call, now, made);
  if (status == CUDA_SUCCESS) *dptr = made.base;
  return status;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes) {
  if (!process()) return not_open();
  const bool is_element = ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16;
  std::size_t bytes = 0;
  if (!dptr || !pPitch || !is_element || WidthInBytes == 0 || Height == 0 || WidthInBytes > SIZE_MAX - kPitch)
    return CUDA_ERROR_INVALID_VALUE;
  const auto pitch = (WidthInBytes + kPitch - 1) / kPitch * kPitch;
  if (__builtin_mul_overflow(pitch, Height, &bytes)) return CUDA_ERROR_INVALID_VALUE;
  const auto status = cuda::cuMemAlloc_v2(dptr, bytes);
  if (status == CUDA_SUCCESS) *pPitch = pitch;
  return status;
}

namespace {

/// What a graph's launch has left: the call comes back when nothing uses it any more.
CUresult free_of_graph(CUdeviceptr address) {
  const auto memory = graph_memory_at(address);
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  Call call;
  call.use(memory->context);
  if (const auto status = call.wait(cu::WaitContext{.context = memory->context_handle}); status != CUDA_SUCCESS)
    return status;
  const std::lock_guard guard(graphs_lock());
  return free_kept(*memory) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuMemFree_v2(CUdeviceptr dptr) {
  if (!process()) return not_open();
  if (dptr == 0) return CUDA_SUCCESS;
  if (const auto status = refuse_unsafe(); status != CUDA_SUCCESS) return status;
  const auto known = find_allocation(dptr);
  if (known && known->sort == Allocation::Sort::graph) return free_of_graph(dptr);
  const bool is_freed_so = known && known->base == dptr &&
                           (known->sort == Allocation::Sort::device || known->sort == Allocation::Sort::pool);
  if (!is_freed_so)
    return known && known->sort == Allocation::Sort::managed ? free_managed(*known) : CUDA_ERROR_INVALID_VALUE;
  Call call;
  call.use(known->context);
  if (!call.settle()) return call.error();
  take_allocation(dptr);
  const auto status = call.send(cu::Free{.context = known->context_handle, .address = dptr});
  release_addresses(*known);
  return status;
}

void release_addresses(const Allocation& gone) {
  if (gone.sort == Allocation::Sort::managed) forget_managed(gone);
  else if (gone.is_in_arena) give_addresses(*gone.server, gone.base);
  else if (gone.kept != 0) let_addresses_go(gone.base, gone.kept);
}

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  Call call;
  call.check(free && total);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  return call.ask(cu::MemoryInfo{.context = now->handle}, [&](const auto& reply) {
    *free = reply.free;
    *total = reply.total;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
  if (!process()) return not_open();
  const auto known = find_allocation(dptr);
  if (!known) return CUDA_ERROR_NOT_FOUND;
  if (pbase) *pbase = known->base;
  if (psize) *psize = known->size;
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
