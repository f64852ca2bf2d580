// cuMemAllocAsync, cuMemFreeAsync, cuMemPool*, cuDevice*MemPool, cuMem*MemPool, cuDevice*GraphMem*.
#include <cstring>

#include "sim/driver/capture.h"
#include "sim/driver/pool_work.h"

namespace flexrack::sim {
namespace {

std::mutex& pools_lock() {
  static auto* one = new std::mutex;
  return *one;
}

Ref<Pool> pool_of(CUmemoryPool handle) {
  auto found = Pool::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

Ref<Pool> current_pool(Device& of) {
  const std::lock_guard guard(pools_lock());
  return of.pool;
}

CUdeviceptr allocate(CUstream handle, std::size_t size, const Ref<Pool>& given) {
  require(size > 0);
  const auto stream = stream_of(handle);
  const auto pool = given ? given : current_pool(stream->context->device);
  if (const auto capture = stream->capture()) {
    auto place = GraphAddress::make(stream->context, size, std::uint64_t{1} << pool->device.ordinal);
    const auto address = place->address;
    capture->add(*stream, std::make_shared<AllocateWork>(std::move(place)));
    return address;
  }
  require_not_captured(*stream);
  return pool->allocate(stream->context, size)->address;
}

void free_in(CUstream handle, CUdeviceptr address) {
  const auto stream = stream_of(handle);
  if (address == 0) return;
  const auto found = Memory::instance().find(address);
  require(found && found->address == address && found->is_freeable());
  const bool is_captured = stream->capture() != nullptr;
  require(is_captured || !found->is_being_freed.exchange(true), CUDA_ERROR_INVALID_VALUE, "freed twice");
  enqueue(*stream, std::make_shared<FreeWork>(address));
}

Device& device_at(const CUmemLocation& location) {
  require(location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE, "pools are on devices");
  return device(location.id);
}

CUresult default_pool(CUmemoryPool* pool, CUdevice ordinal) {
  return call([&] {
    require(pool);
    *pool = device(ordinal).default_pool->handle();
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t size, CUstream stream) {
  return call([&] {
    require(address);
    *address = allocate(stream, size, nullptr);
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t size, CUmemoryPool pool, CUstream stream) {
  return call([&] {
    require(address);
    *address = allocate(stream, size, pool_of(pool));
  });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return call([&] { free_in(stream, address); });
}

CUresult cuMemPoolCreate(CUmemoryPool* made, const CUmemPoolProps* properties) {
  return call([&] {
    require(made && properties && properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
    require(properties->handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED,
            "pools are not shared with other processes");
    require(properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED, "pools are on devices");
    const auto pool = Pool::make(device(properties->location.id), Pool::Kind::own, properties->maxSize);
    pool->open();
    *made = pool->handle();
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return call([&] {
    const auto pool = pool_of(handle);
    require(pool->kind == Pool::Kind::own, CUDA_ERROR_INVALID_VALUE, "the default pool stays");
    {
      const std::lock_guard guard(pools_lock());
      auto& on = pool->device;
      if (on.pool == pool) on.pool = on.default_pool;
    }
    pool->close();
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  return call([&] { pool_of(pool)->trim(keep); });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void* value) {
  return call([&] { require(value && pool_of(pool)->get(which, value)); });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void* value) {
  return call([&] { require(value && pool_of(pool)->set(which, value)); });
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* map, size_t count) {
  return call([&] {
    const auto pool = pool_of(handle);
    require(map || count == 0);
    for (size_t i = 0; i < count; ++i) pool->set_access(device_at(map[i].location).ordinal, map[i].flags);
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return call([&] {
    require(flags && location);
    *flags = pool_of(pool)->access(device_at(*location).ordinal);
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) { return default_pool(pool, ordinal); }

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  return call([&] {
    require(pool);
    *pool = current_pool(device(ordinal))->handle();
  });
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
  return call([&] {
    auto& on = device(ordinal);
    const auto pool = pool_of(handle);
    require(&pool->device == &on, CUDA_ERROR_INVALID_DEVICE);
    const std::lock_guard guard(pools_lock());
    on.pool = pool;
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return call([&] {
    require(pool && location && type == CU_MEM_ALLOCATION_TYPE_PINNED);
    *pool = device_at(*location).default_pool->handle();
  });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return call([&] {
    require(pool && location && type == CU_MEM_ALLOCATION_TYPE_PINNED);
    *pool = current_pool(device_at(*location))->handle();
  });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  return cuDeviceSetMemPool(location->id, pool);
}

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  // What graphs free goes back to the device at once.
  return call([&] { device(ordinal); });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute which, void* value) {
  return call([&] {
    require(value);
    const auto& of = device(ordinal);
    std::uint64_t number = 0;
    switch (which) {
      case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: number = of.graph_bytes; break;
      case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: number = of.graph_bytes_high; break;
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
    std::memcpy(value, &number, sizeof number);
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute which, void* value) {
  return call([&] {
    require(value && (which == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || which == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
    std::uint64_t number = 0;
    std::memcpy(&number, value, sizeof number);
    require(number == 0);
    auto& of = device(ordinal);
    of.graph_bytes_high = of.graph_bytes.load();
  });
}

}  // extern "C"
