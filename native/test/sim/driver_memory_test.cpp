// Allocations of all kinds: what is left, what is known of a pointer, what is refused.
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "driver_rig.h"

using namespace flexrack::test::driver;

namespace {

size_t left() {
  size_t free = 0, total = 0;
  CU(cuMemGetInfo_v2(&free, &total));
  return free;
}

template <class T>
T attribute(CUdeviceptr pointer, CUpointer_attribute which) {
  T value{};
  CU(cuPointerGetAttribute(&value, which, pointer));
  return value;
}

}  // namespace

TEST_CASE("driver: device memory is counted to the byte") {
  const Rig rig;
  const auto before = left();
  size_t free = 0, total = 0, size = 0;
  CU(cuMemGetInfo_v2(&free, &total));
  CHECK_EQ(total, std::size_t{4} << 30);
  CUdeviceptr memory = 0, base = 0, other = 0;
  CU(cuMemAlloc_v2(&memory, 1000));
  CHECK_EQ(memory % 256, 0);
  CHECK_EQ(left(), before - 1024);
  CU(cuMemGetAddressRange_v2(&base, &size, memory + 999));
  CHECK_EQ(base, memory);
  CHECK_EQ(size, 1000);
  CHECK_EQ(cuMemGetAddressRange_v2(&base, &size, memory + 1000), CUDA_ERROR_NOT_FOUND);
  CHECK_EQ(cuMemAlloc_v2(&other, before), CUDA_ERROR_OUT_OF_MEMORY);
  CU(cuMemAlloc_v2(&other, before - 1024));
  CHECK_EQ(left(), 0);
  CUdeviceptr more = 0;
  CHECK_EQ(cuMemAlloc_v2(&more, 1), CUDA_ERROR_OUT_OF_MEMORY);
  CU(cuMemFree_v2(other));
  CHECK_EQ(cuMemFree_v2(memory + 8), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemFree_v2(memory));
  CHECK_EQ(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemFree_v2(0));
  CHECK_EQ(cuMemAlloc_v2(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(left(), before);
  size_t pitch = 0;
  CU(cuMemAllocPitch_v2(&memory, &pitch, 100, 10, 4));
  CHECK_EQ(pitch, 512);
  CHECK_EQ(left(), before - 5120);
  CU(cuMemFree_v2(memory));
}

TEST_CASE("driver: allocations do not overlap, and all comes back") {
  const Rig rig;
  const auto before = left();
  std::mt19937 random(7);
  std::vector<std::pair<CUdeviceptr, size_t>> live;
  for (int round = 0; round < 4000; ++round) {
    if (live.empty() || random() % 3 != 0) {
      const size_t size = 1 + (random() % 20 == 0 ? random() % 3000000 : random() % 5000);
      CUdeviceptr memory = 0;
      CU(cuMemAlloc_v2(&memory, size));
      CU(cuMemsetD8_v2(memory, static_cast<unsigned char>(memory >> 9), size));
      live.emplace_back(memory, size);
    } else {
      const auto at = random() % live.size();
      const auto [memory, size] = live[at];
      unsigned char ends[2];
      CU(cuMemcpyDtoH_v2(&ends[0], memory, 1));
      CU(cuMemcpyDtoH_v2(&ends[1], memory + size - 1, 1));
      REQUIRE_EQ(ends[0], static_cast<unsigned char>(memory >> 9));
      REQUIRE_EQ(ends[1], static_cast<unsigned char>(memory >> 9));
      CU(cuMemFree_v2(memory));
      live[at] = live.back();
      live.pop_back();
    }
  }
  for (const auto& [memory, size] : live) CU(cuMemFree_v2(memory));
  CHECK_EQ(left(), before);
}

TEST_CASE("driver: host memory") {
  Rig rig;
  void* pinned = nullptr;
  CU(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_WRITECOMBINED));
  auto* numbers = static_cast<unsigned*>(pinned);
  CUdeviceptr address = 0;
  CU(cuMemHostGetDevicePointer_v2(&address, numbers + 2, 0));
  CHECK_EQ(address, reinterpret_cast<CUdeviceptr>(numbers + 2));
  unsigned flags = 0;
  CU(cuMemHostGetFlags(&flags, numbers));
  CHECK_NE(flags & CU_MEMHOSTALLOC_WRITECOMBINED, 0);
  std::memset(pinned, 0, 4096);
  CU(rig.fill(address, 17, 10));
  CU(cuCtxSynchronize());
  CHECK_EQ(numbers[1], 0);
  CHECK_EQ(numbers[2], 17);
  CHECK_EQ(numbers[12], 0);
  CHECK_EQ(attribute<unsigned>(address, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_HOST);
  CHECK_EQ(attribute<void*>(address, CU_POINTER_ATTRIBUTE_HOST_POINTER), numbers + 2);
  CHECK_EQ(cuMemFreeHost(numbers + 1), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemFreeHost(pinned));
  CHECK_EQ(cuMemHostGetDevicePointer_v2(&address, numbers, 0), CUDA_ERROR_INVALID_VALUE);

  std::vector<unsigned> own(1000, 3);
  CHECK_EQ(cuMemHostGetFlags(&flags, own.data()), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemHostRegister_v2(own.data(), own.size() * 4, 0));
  CHECK_EQ(cuMemHostRegister_v2(own.data() + 10, 40, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CU(cuMemHostGetDevicePointer_v2(&address, own.data(), 0));
  CU(rig.add(address, 4, 1000));
  CU(cuCtxSynchronize());
  CHECK_EQ(own[999], 7);
  CU(cuMemHostUnregister(own.data()));
  CHECK_EQ(cuMemHostUnregister(own.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  CHECK_EQ(cuMemHostRegister_v2(reinterpret_cast<void*>(0x1000), 4096, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: a kernel may not write what was registered read-only") {
  Rig rig;
  std::vector<unsigned> own(4, 3);
  CU(cuMemHostRegister_v2(own.data(), 16, CU_MEMHOSTREGISTER_READ_ONLY));
  CU(rig.fill(reinterpret_cast<CUdeviceptr>(own.data()), 1, 4));
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK_EQ(own[0], 3);
}

TEST_CASE("driver: managed memory is one memory") {
  Rig rig;
  CUdeviceptr address = 0;
  CU(cuMemAllocManaged(&address, 4000, CU_MEM_ATTACH_GLOBAL));
  auto* numbers = reinterpret_cast<unsigned*>(address);
  for (unsigned i = 0; i < 1000; ++i) numbers[i] = i;
  CU(rig.add(address, 5, 1000));
  CU(cuCtxSynchronize());
  CHECK_EQ(numbers[999], 1004);
  CHECK_EQ(attribute<unsigned>(address, CU_POINTER_ATTRIBUTE_IS_MANAGED), 1);
  CHECK_EQ(attribute<unsigned>(address, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
  int value = 0;
  CU(cuMemAdvise(address, 4000, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
  CU(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + 100, 100));
  CHECK_EQ(value, 1);
  CU(cuMemAdvise(address, 2000, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 1));
  CU(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, 2000));
  CHECK_EQ(value, 1);
  CU(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, 4000));
  CHECK_EQ(value, CU_DEVICE_INVALID);
  CU(cuMemAdvise(address, 4000, CU_MEM_ADVISE_SET_ACCESSED_BY, 2));
  CU(cuMemAdvise(address, 4000, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU));
  int by[4] = {};
  CU(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, 4000));
  CHECK_EQ(by[0], CU_DEVICE_CPU);
  CHECK_EQ(by[1], 2);
  CHECK_EQ(by[2], CU_DEVICE_INVALID);
  CU(cuMemPrefetchAsync(address, 4000, CU_DEVICE_CPU, nullptr));
  CU(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, 4000));
  CHECK_EQ(value, CU_DEVICE_CPU);
  CHECK_EQ(cuMemPrefetchAsync(address, 4001, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemFree_v2(address));
}

TEST_CASE("driver: what is known of a pointer") {
  const Rig rig;
  Numbers numbers(100);
  CHECK_EQ(attribute<CUcontext>(numbers.address, CU_POINTER_ATTRIBUTE_CONTEXT), rig.context);
  CHECK_EQ(attribute<unsigned>(numbers.address, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
  CHECK_EQ(attribute<int>(numbers.address, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), 0);
  CHECK_EQ(attribute<CUdeviceptr>(numbers.address + 44, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR), numbers.address);
  CHECK_EQ(attribute<size_t>(numbers.address, CU_POINTER_ATTRIBUTE_RANGE_SIZE), 400);
  unsigned value = 0;
  CHECK_EQ(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&value)),
           CUDA_ERROR_INVALID_VALUE);
  unsigned type = 9, managed = 9;
  int ordinal = 9;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* data[] = {&type, &managed, &ordinal};
  CU(cuPointerGetAttributes(3, which, data, reinterpret_cast<CUdeviceptr>(&value)));
  CHECK_EQ(type, 0);
  CHECK_EQ(managed, 0);
  CHECK_EQ(ordinal, CU_DEVICE_INVALID);
  CU(cuPointerGetAttributes(3, which, data, numbers.address));
  CHECK_EQ(type, CU_MEMORYTYPE_DEVICE);
  Numbers second(100);
  CHECK_NE(attribute<unsigned long long>(numbers.address, CU_POINTER_ATTRIBUTE_BUFFER_ID),
           attribute<unsigned long long>(second.address, CU_POINTER_ATTRIBUTE_BUFFER_ID));
}

TEST_CASE("driver: pools") {
  Rig rig;
  rig.kernel("empty");
  const auto before = left();
  const auto stream = make_stream();
  CUdeviceptr memory = 0, again = 0;
  CU(cuMemAllocAsync(&memory, 4000, stream));
  CU(rig.fill(memory, 8, 1000, stream));
  std::vector<unsigned> read(1000);
  CU(cuMemcpyDtoHAsync_v2(read.data(), memory, 4000, stream));
  CU(cuMemFreeAsync(memory, stream));
  CHECK_EQ(cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
  CU(cuStreamSynchronize(stream));
  CHECK_EQ(read[999], 8);
  CHECK_EQ(left(), before);
  CHECK_EQ(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);

  CUmemoryPool pool = nullptr, found = nullptr;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.maxSize = 1 << 20;
  CU(cuMemPoolCreate(&pool, &properties));
  cuuint64_t number = 1 << 20;
  CU(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &number));
  CU(cuMemAllocFromPoolAsync(&memory, 1000, pool, stream));
  CHECK_EQ(cuMemAllocFromPoolAsync(&again, 1 << 20, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
  CU(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
  CHECK_EQ(found, pool);
  CU(cuMemFreeAsync(memory, stream));
  CU(cuStreamSynchronize(stream));
  CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &number));
  CHECK_EQ(number, 0);
  CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &number));
  CHECK_EQ(number, 1024);
  CHECK_EQ(left(), before - 1024);
  CU(cuMemAllocFromPoolAsync(&again, 1000, pool, stream));
  CHECK_EQ(again, memory);
  CU(cuMemFreeAsync(again, stream));
  CU(cuStreamSynchronize(stream));
  CU(cuMemPoolTrimTo(pool, 0));
  CHECK_EQ(left(), before);
  CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &number));
  CHECK_EQ(number, 1024);
  CHECK_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &number), CUDA_ERROR_INVALID_VALUE);
  CU(cuDeviceSetMemPool(0, pool));
  CU(cuDeviceGetMemPool(&found, 0));
  CHECK_EQ(found, pool);
  CU(cuMemPoolDestroy(pool));
  CU(cuDeviceGetMemPool(&found, 0));
  CU(cuDeviceGetDefaultMemPool(&pool, 0));
  CHECK_EQ(found, pool);
  CHECK_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CHECK_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("driver: addresses and memory apart") {
  Rig rig;
  rig.kernel("empty");
  const auto before = left();
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t unit = 0;
  CU(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr at = 0;
  CU(cuMemAddressReserve(&at, 4 * unit, 8 * unit, 0, 0));
  CHECK_EQ(at % (8 * unit), 0);
  CUmemGenericAllocationHandle handle = 0, other = 0, kept = 0;
  CU(cuMemCreate(&handle, unit, &properties, 0));
  CU(cuMemCreate(&other, unit, &properties, 0));
  CHECK_EQ(left(), before - 2 * unit);
  CHECK_EQ(cuMemMap(at + 4 * unit, unit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemMap(at, unit, 0, handle, 0));
  CHECK_EQ(cuMemMap(at, unit, 0, other, 0), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemMap(at + unit, unit, 0, other, 0));
  // The same memory a second time.
  CU(cuMemMap(at + 2 * unit, unit, 0, handle, 0));
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CU(cuMemSetAccess(at, 3 * unit, &access, 1));
  unsigned long long flags = 0;
  CU(cuMemGetAccess(&flags, &access.location, at + unit));
  CHECK_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CU(cuMemsetD32_v2(at, 0, unit / 2));
  CU(rig.fill(at + 2 * unit, 5, 100));
  unsigned value = 0;
  CU(cuMemcpyDtoH_v2(&value, at + 4, 4));
  CHECK_EQ(value, 5);
  std::vector<char> both(2 * unit, 1);
  CU(cuMemcpyHtoD_v2(at, both.data(), both.size()));
  CHECK_EQ(cuMemcpyHtoD_v2(at + 2 * unit, both.data(), both.size()), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemRetainAllocationHandle(&kept, reinterpret_cast<void*>(at + 5)));
  CHECK_EQ(kept, handle);
  CU(cuMemRelease(handle));
  CU(cuMemRelease(kept));
  CHECK_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(left(), before - 2 * unit);
  CHECK_EQ(cuMemAddressFree(at, 4 * unit), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuMemUnmap(at, unit / 2), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemUnmap(at, 3 * unit));
  CU(cuMemRelease(other));
  CHECK_EQ(left(), before);
  CU(cuMemAddressFree(at, 4 * unit));
  CHECK_EQ(cuMemCreate(&handle, unit + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  // As PyTorch's expandable segments ask for it.
  CU(cuMemCreate(&handle, unit, &properties, 0));
  CUmemAllocationProp reported{};
  CU(cuMemGetAllocationPropertiesFromHandle(&reported, handle));
  CHECK_EQ(reported.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  int descriptor = -1;
  CU(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CHECK_EQ(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0), CUDA_ERROR_NOT_SUPPORTED);
  CHECK_EQ(cuMemImportFromShareableHandle(&other, nullptr, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
           CUDA_ERROR_INVALID_VALUE);   // descriptor 0 is no memory of this driver
  CU(cuMemImportFromShareableHandle(&other, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(descriptor);
  CU(cuMemRelease(other));
  CU(cuMemRelease(handle));
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  CHECK_EQ(cuMemCreate(&handle, unit, &properties, 0), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("driver: mapped memory without access faults") {
  Rig rig;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  constexpr size_t kUnit = 2 << 20;
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle handle = 0;
  CU(cuMemAddressReserve(&at, kUnit, 0, 0, 0));
  CU(cuMemCreate(&handle, kUnit, &properties, 0));
  CU(cuMemMap(at, kUnit, 0, handle, 0));
  CU(rig.fill(at, 1, 1));
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK_EQ(cuMemUnmap(at, kUnit), CUDA_SUCCESS);
  CU(cuMemRelease(handle));
  CU(cuMemAddressFree(at, kUnit));
}

TEST_CASE("driver: memory of another device") {
  Rig other(1);
  Numbers there(100);
  Rig rig(0);
  Numbers here(100);
  int can = 0;
  CU(cuDeviceCanAccessPeer(&can, 0, 1));
  CHECK_EQ(can, 1);
  CU(cuDeviceCanAccessPeer(&can, 1, 1));
  CHECK_EQ(can, 0);
  CU(cuCtxEnablePeerAccess(other.context, 0));
  CHECK_EQ(cuCtxEnablePeerAccess(other.context, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  CU(rig.fill(there.address, 6, 100));
  CU(cuCtxSynchronize());
  CHECK(there.are_all(6));
  // Copies between contexts need no access.
  CU(cuCtxDisablePeerAccess(other.context));
  CHECK_EQ(cuCtxDisablePeerAccess(other.context), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CU(cuMemcpyPeer(here.address, rig.context, there.address, other.context, 400));
  CHECK(here.are_all(6));
  CU(rig.fill(there.address, 7, 100));
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CU(cuCtxPushCurrent_v2(other.context));
  CHECK(there.are_all(6));
  CU(cuCtxPopCurrent_v2(nullptr));
}
