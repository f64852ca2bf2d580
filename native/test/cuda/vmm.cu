// Addresses and memory apart from each other (driver API): memory mapped at an address that was reserved, twice, in
// pieces, and moved.
#include "driver.h"

__global__ void fill(int* values, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = value + i;
}

int main() {
  DRIVER(cuInit(0));
  CUdevice device;
  CUcontext context;
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  int can = 0;
  DRIVER(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
  program::expect(can == 1, "the device can manage addresses");
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  std::size_t least = 0, best = 0;
  DRIVER(cuMemGetAllocationGranularity(&least, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  DRIVER(cuMemGetAllocationGranularity(&best, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  program::expect(least > 0 && best % least == 0, "sizes have a granularity");
  const std::size_t size = best;
  const int count = static_cast<int>(size / sizeof(int));
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

  CUmemGenericAllocationHandle first, second;
  DRIVER(cuMemCreate(&first, size, &properties, 0));
  DRIVER(cuMemCreate(&second, size, &properties, 0));
  CUdeviceptr address;
  DRIVER(cuMemAddressReserve(&address, 4 * size, 0, 0, 0));
  DRIVER(cuMemMap(address, size, 0, first, 0));
  DRIVER(cuMemMap(address + size, size, 0, second, 0));
  DRIVER(cuMemSetAccess(address, 2 * size, &access, 1));
  // A kernel sees one piece of memory.
  fill<<<(2 * count + 255) / 256, 256>>>(reinterpret_cast<int*>(address), 2 * count, 5);
  CHECK(cudaGetLastError());
  std::vector<int> found(2 * count);
  DRIVER(cuMemcpyDtoH(found.data(), address, 2 * size));
  bool is_right = true;
  for (int i = 0; i < 2 * count; ++i) is_right &= found[i] == 5 + i;
  program::expect(is_right, "two allocations lie side by side");

  // The same memory at a second place.
  DRIVER(cuMemMap(address + 2 * size, size, 0, first, 0));
  DRIVER(cuMemSetAccess(address + 2 * size, size, &access, 1));
  DRIVER(cuMemsetD32(address + 2 * size, 77, count));
  DRIVER(cuMemcpyDtoH(found.data(), address, 2 * size));
  program::expect(found[0] == 77 && found[count - 1] == 77 && found[count] == 5 + count,
                  "what is written at one place is read at the other");

  // Memory moves to another address and keeps what it holds.
  DRIVER(cuMemUnmap(address, 2 * size));
  DRIVER(cuMemMap(address + 3 * size, size, 0, second, 0));
  DRIVER(cuMemSetAccess(address + 3 * size, size, &access, 1));
  DRIVER(cuMemcpyDtoH(found.data(), address + 3 * size, size));
  program::expect(found[0] == 5 + count, "memory that moves keeps what it holds");

  unsigned long long flags = 0;
  DRIVER(cuMemGetAccess(&flags, &access.location, address + 2 * size));
  program::expect(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "access is what was set");
  CUmemGenericAllocationHandle again;
  DRIVER(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(address + 2 * size)));
  program::expect(again == first, "an address knows its allocation");
  DRIVER(cuMemRelease(again));
  CUmemAllocationProp back{};
  DRIVER(cuMemGetAllocationPropertiesFromHandle(&back, first));
  program::expect(back.type == properties.type && back.location.id == device, "and the allocation how it was made");

  // A handle may go before its last mapping; the memory stays until then.
  DRIVER(cuMemRelease(first));
  DRIVER(cuMemcpyDtoH(found.data(), address + 2 * size, size));
  program::expect(found[0] == 77, "memory stays while it is mapped");
  DRIVER(cuMemUnmap(address + 2 * size, 2 * size));
  DRIVER(cuMemRelease(second));
  DRIVER(cuMemAddressFree(address, 4 * size));

  program::expect_error(cuMemCreate(&first, size + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE,
                        "a size between the granularity");
  DRIVER(cuMemCreate(&first, size, &properties, 0));
  program::expect_error(cuMemMap(address, size, 0, first, 0), CUDA_ERROR_INVALID_VALUE,
                        "an address that is not reserved");
  DRIVER(cuMemRelease(first));
  DRIVER(cuDevicePrimaryCtxRelease(device));
  return program::verdict();
}
