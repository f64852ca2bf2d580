// What is known of an address. Every allocation was made here, so nothing is asked.
#include <cstring>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"
#include "client/cuda/mirror.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

template <class T>
CUresult give(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

/// The sizes of the answers are those of cuda.h 13.0, CUpointer_attribute.
CUresult answer(void* data, CUpointer_attribute which, CUdeviceptr address, const Allocation& known) {
  const auto* start = reinterpret_cast<void*>(known.base);
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(data, known.sort == Allocation::Sort::pool || known.sort == Allocation::Sort::graph ? nullptr
                                                                                                      : known.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data, static_cast<unsigned>(known.is_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(data, known.is_device() ? address : static_cast<CUdeviceptr>(device_address(address)));
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return known.is_device() ? CUDA_ERROR_INVALID_VALUE : give(data, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return give(data, static_cast<unsigned long long>(known.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(data, static_cast<unsigned>(known.sort == Allocation::Sort::managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return give(data, known.device ? known.device->ordinal : CUdevice{-1});
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return give(data, static_cast<unsigned>(known.sort == Allocation::Sort::device));
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return give(data, 0u);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return give(data, start);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return give(data, static_cast<size_t>(known.size));
    case CU_POINTER_ATTRIBUTE_MAPPED: return give(data, 1u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return give(data, 0ull);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give(data, static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}

std::size_t size_of(CUpointer_attribute which) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return sizeof(unsigned);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return 2 * sizeof(unsigned long long);
    default: return sizeof(void*);
  }
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  if (!process()) return not_open();
  const auto known = find_allocation(ptr);
  if (!data || !known) return CUDA_ERROR_INVALID_VALUE;
  return answer(data, attribute, ptr, *known);
}

/// Memory that CUDA does not know is no error here: its attributes are zeros, and the device is -2.
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr ptr) {
  if (!process()) return not_open();
  if (!attributes || !data) return CUDA_ERROR_INVALID_VALUE;
  const auto known = find_allocation(ptr);
  for (unsigned i = 0; i < numAttributes; ++i) {
    if (!data[i]) return CUDA_ERROR_INVALID_VALUE;
    std::memset(data[i], 0, size_of(attributes[i]));
    if (known) answer(data[i], attributes[i], ptr, *known);
    else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) give(data[i], -2);
  }
  return CUDA_SUCCESS;
}

/// Copies here are synchronous wherever the application could tell.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  if (!process()) return not_open();
  if (!value || !find_allocation(ptr)) return CUDA_ERROR_INVALID_VALUE;
  return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace flexrack::client::cuda
