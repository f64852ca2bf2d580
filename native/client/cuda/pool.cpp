// Memory in the order of a stream, and the pools it comes from. Which pool is current is this process's own state.
#include "client/cuda/arena.h"
#include "client/cuda/capture.h"
#include "client/cuda/graph_memory.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/transfer.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

struct Pools {
  CUmemoryPool standard = nullptr, current = nullptr;   ///< current null: the standard one
};

/// Never destroyed.
struct AllPools {
  std::mutex lock;
  std::map<const Device*, Pools> all;
};

AllPools& pools() {
  static auto& the_pools = *new AllPools;
  return the_pools;
}

CUresult standard_pool(Call& call, CUdevice ordinal, CUmemoryPool& pool) {
  auto* device = device_of(ordinal);
  const auto index = call.device(ordinal);
  if (!call.settle()) return call.error();
  auto& known = pools();
  const std::lock_guard guard(known.lock);
  auto& mine = known.all[device];
  if (!mine.standard) {
    auto made = call.make<CUmemoryPool>();
    if (const auto status = call.send(cu::DefaultPool{.pool = made.handle(), .device = index}); status != CUDA_SUCCESS)
      return status;
    made.get()->context = nullptr;
    made.get()->device = device;
    made.get()->is_default = true;
    mine.standard = made.keep();
  }
  pool = mine.standard;
  return CUDA_SUCCESS;
}

CUresult current_pool(CUdevice ordinal, CUmemoryPool* pool) {
  Call call;
  call.needs(pool);
  const auto* device = device_of(ordinal);
  call.check(device != nullptr, CUDA_ERROR_INVALID_DEVICE);
  if (!call.is_good()) return call.error();
  {
    const std::lock_guard guard(pools().lock);
    if (const auto chosen = pools().all[device].current) return *pool = chosen, CUDA_SUCCESS;
  }
  return standard_pool(call, ordinal, *pool);
}

/// The device of a location that a pool can be at; null for any other.
Device* device_at(const CUmemLocation* location) {
  return location && location->type == CU_MEM_LOCATION_TYPE_DEVICE ? device_of(location->id) : nullptr;
}

CUresult allocate(CUdeviceptr* address, std::size_t size, CUmemoryPool pool, CUstream which) {
  Call call;
  call.needs(address);
  call.check(size > 0);
  const auto stream = call.stream(which);
  const auto handle = pool ? call.handle(pool) : 0;
  if (!call.settle()) return call.error();
  if (has_captures()) {
    if (is_capturing(stream)) {
      WorkPointer work;
      auto status = allocation_work(stream->context, size, work);
      const auto memory = status == CUDA_SUCCESS ? work->memory : nullptr;
      if (status == CUDA_SUCCESS) status = capture_work(stream, std::move(work));
      if (status == CUDA_SUCCESS) *address = memory->address;
      return status;
    }
    if (const auto status = refuse_implicit(stream); status != CUDA_SUCCESS) return status;
  }
  auto* device = pool ? pool->device : stream->context->device;
  Allocation made{.sort = Allocation::Sort::pool,
                  .size = size,
                  .server = stream->server,
                  .context = stream->context,
                  .context_handle = stream->context_handle,
                  .device = device};
  if (!chooses_addresses(*stream->server)) {
    const cu::AllocateFromPool message{
        .context = stream->context_handle, .stream = stream->handle, .pool = handle, .size = size};
    if (const auto status = call.ask(message, [&](const auto& reply) { made.base = reply.address; });
        status != CUDA_SUCCESS)
      return status;
    note_put(stream);
    if (keep_addresses(made.base, size)) {
      made.kept = size;
      if (add_allocation(made)) return *address = made.base, CUDA_SUCCESS;
      let_addresses_go(made.base, size);
    }
    // A pool may give the addresses of what was freed in it a moment ago: those are known here still only where it is
    // not freed.
    call.send(cu::FreeToPool{.context = stream->context_handle, .stream = stream->handle, .address = made.base});
  }
  // At an address of ours: from no pool, but as good.
  if (const auto status = take_addresses(call, *device, size, made.base); status != CUDA_SUCCESS) return status;
  const auto status =
      call.ask(cu::Allocate{.context = stream->context_handle, .at = made.base, .size = size, .kind = 0, .flags = 0},
               [](const auto&) {});
  if (status != CUDA_SUCCESS) {
    give_addresses(*stream->server, made.base);
    return status;
  }
  made.is_in_arena = true;
  add_allocation(made);
  *address = made.base;
  return CUDA_SUCCESS;
}

/// CU_MEMPOOL_ATTR_REUSE_* are ints, all others 64 bits wide (cuda.h 13.0).
bool is_int(CUmemPool_attribute which) { return which <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; }

}  // namespace

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
  Call call;
  call.needs(pool_out);
  return call.is_good() ? standard_pool(call, dev, *pool_out) : call.error();
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) { return current_pool(dev, pool); }

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  Call call;
  const auto* device = device_of(dev);
  call.check(device != nullptr, CUDA_ERROR_INVALID_DEVICE);
  call.use(pool);
  call.check(!call.is_good() || pool->device == device);
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(pools().lock);
  pools().all[device].current = pool;
  return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location, CUmemAllocationType type) {
  const auto* device = device_at(location);
  return device && type == CU_MEM_ALLOCATION_TYPE_PINNED ? cuda::cuDeviceGetDefaultMemPool(pool_out, device->ordinal)
                                                         : CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  const auto* device = device_at(location);
  return device && type == CU_MEM_ALLOCATION_TYPE_PINNED ? current_pool(device->ordinal, pool)
                                                         : CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  const auto* device = device_at(location);
  return device && type == CU_MEM_ALLOCATION_TYPE_PINNED ? cuda::cuDeviceSetMemPool(device->ordinal, pool)
                                                         : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
  Call call;
  call.needs(pool);
  call.needs(poolProps);
  if (!call.is_good()) return call.error();
  // Nothing can be handed to another process, and host memory is here.
  if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE || poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_NOT_SUPPORTED;
  call.check(poolProps->allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
  const auto index = call.device(poolProps->location.id);
  if (!call.settle()) return call.error();
  auto made = call.make<CUmemoryPool>();
  const auto status = call.ask(
      cu::CreatePool{.pool = made.handle(), .device = index, .flags = poolProps->usage, .maximum = poolProps->maxSize},
      [](const auto&) {});
  if (status != CUDA_SUCCESS) return status;
  made.get()->context = nullptr;
  made.get()->device = device_of(poolProps->location.id);
  *pool = made.keep();
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  Call call;
  const auto handle = call.handle(pool);
  call.check(!call.is_good() || !pool->is_default, CUDA_ERROR_INVALID_VALUE);
  if (!call.settle()) return call.error();
  {
    const std::lock_guard guard(pools().lock);
    auto& mine = pools().all[pool->device];
    if (mine.current == pool) mine.current = nullptr;
  }
  const auto status = call.send(cu::Release{.object = handle});
  discard(pool);
  return status;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  Call call;
  call.needs(value);
  const auto handle = call.handle(pool);
  if (!call.is_good()) return call.error();
  const auto number = is_int(attr) ? static_cast<std::uint64_t>(*static_cast<const int*>(value))
                                   : *static_cast<const cuuint64_t*>(value);
  return call.send(cu::SetPoolAttribute{.pool = handle, .which = static_cast<std::uint32_t>(attr), .value = number});
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  Call call;
  call.needs(value);
  const auto handle = call.handle(pool);
  return call.ask(cu::PoolAttribute{.pool = handle, .which = static_cast<std::uint32_t>(attr)}, [&](const auto& reply) {
    if (is_int(attr)) *static_cast<int*>(value) = static_cast<int>(reply.value);
    else *static_cast<cuuint64_t*>(value) = reply.value;
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
  return is_live(pool) ? allocate(dptr, bytesize, pool, hStream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
  Call call;
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  CUmemoryPool pool = nullptr;
  if (const auto status = current_pool(stream->context->device->ordinal, &pool); status != CUDA_SUCCESS) return status;
  return allocate(dptr, bytesize, pool, hStream);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  if (!process()) return not_open();
  if (dptr == 0) return CUDA_SUCCESS;
  const auto known = find_allocation(dptr);
  if (has_captures() || (known && known->sort == Allocation::Sort::graph)) {
    Call call;
    const auto stream = call.stream(hStream);
    if (!call.settle()) return call.error();
    WorkPointer work;
    if (is_capturing(stream)) {
      const auto status = freeing_work(dptr, work);
      return status == CUDA_SUCCESS ? capture_work(stream, std::move(work)) : status;
    }
    if (const auto status = refuse_implicit(stream); status != CUDA_SUCCESS) return status;
    if (const auto memory = graph_memory_at(dptr)) {
      const std::lock_guard guard(graphs_lock());
      return free_kept(*memory) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (!known || known->base != dptr ||
      (known->sort != Allocation::Sort::pool && known->sort != Allocation::Sort::device))
    return CUDA_ERROR_INVALID_VALUE;
  Call call;
  const auto stream = call.stream(hStream);
  call.check(!call.is_good() || known->server == stream->server);
  if (!call.settle()) return call.error();
  take_allocation(dptr);
  note_put(stream);
  const auto status =
      known->is_in_arena || known->sort == Allocation::Sort::device
          ? call.send(cu::Free{.context = known->context_handle, .address = dptr})
          : call.send(cu::FreeToPool{.context = stream->context_handle, .stream = stream->handle, .address = dptr});
  release_addresses(*known);
  return status;
}

}  // namespace flexrack::client::cuda
