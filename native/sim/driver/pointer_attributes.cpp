// cuPointerGetAttribute(s), cuPointerSetAttribute.
#include <cstring>

#include "sim/driver/memory.h"

namespace flexrack::sim {
namespace {

template <class T>
bool give(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return true;
}

/// False where the pointer has no such attribute; what is asked for is then zero.
bool get(void* data, CUpointer_attribute which, const Allocation& of, CUdeviceptr pointer) {
  const bool is_host = of.is_host();
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return give(data, of.context ? of.context->handle() : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give<unsigned>(data, is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return give(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return is_host || of.kind == Allocation::Kind::managed ? give(data, pointer)
                                                             : (give<CUdeviceptr>(data, 0), false);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return give<unsigned>(data, of.has_sync_memops);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return give<unsigned long long>(data, of.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return give<unsigned>(data, of.kind == Allocation::Kind::managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give<int>(data, of.device ? of.device->ordinal : of.context ? of.context->device.ordinal : 0);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return give<unsigned>(data, of.kind == Allocation::Kind::device && !of.is_module);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return give<CUdeviceptr>(data, of.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return give<std::size_t>(data, of.size);
    case CU_POINTER_ATTRIBUTE_MAPPED: return give<unsigned>(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return give<unsigned long long>(data, 0);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return give<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give<unsigned>(
          data, of.is_read_only ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return give(data, of.pool ? of.pool->handle() : nullptr);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return give<std::size_t>(data, of.size);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return give<CUdeviceptr>(data, of.address);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return give<unsigned long long>(data, of.id);
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return give<unsigned>(data, 0);
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

std::size_t size_of(CUpointer_attribute which) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return 8;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return 4;
    default: return 0;
  }
}

/// For a pointer that CUDA does not know: nulls, no error.
void give_nothing(void* data, CUpointer_attribute which) {
  require(size_of(which) > 0);
  std::memset(data, 0, size_of(which));
  if (which == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) give<int>(data, -2);
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr pointer) {
  return call([&] {
    require(data);
    current();
    require(which != CU_POINTER_ATTRIBUTE_P2P_TOKENS, CUDA_ERROR_NOT_SUPPORTED);
    const auto found = Memory::instance().find(pointer);
    require(static_cast<bool>(found));
    require(get(data, which, *found, pointer));
  });
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* which, void** data, CUdeviceptr pointer) {
  return call([&] {
    // Without a current context too: cudaPointerGetAttributes makes none, and PyTorch calls it in threads that did
    // nothing before.
    require(count > 0 && which && data);
    const auto found = Memory::instance().find(pointer);
    for (unsigned int i = 0; i < count; ++i) {
      require(data[i]);
      if (which[i] == CU_POINTER_ATTRIBUTE_P2P_TOKENS) fail(CUDA_ERROR_NOT_SUPPORTED);
      if (found) {
        get(data[i], which[i], *found, pointer);
      } else {
        give_nothing(data[i], which[i]);
      }
    }
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr pointer) {
  return call([&] {
    require(value && which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    current();
    const auto found = Memory::instance().find(pointer);
    require(found && found->kind == Allocation::Kind::device);
    unsigned is_set = 0;
    std::memcpy(&is_set, value, sizeof is_set);
    found->has_sync_memops = is_set != 0;
  });
}

}  // extern "C"
