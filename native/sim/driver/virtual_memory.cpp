// cuMemAddress*, cuMemCreate, cuMemMap and what belongs to them: addresses and memory apart from each other.
#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include "sim/driver/memory.h"
#include "sim/driver/settings.h"

namespace flexrack::sim {
namespace {

constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20;

/// Memory without an address: a file that exists only in memory, so that it can be mapped several times.
class Physical : public Object<Physical> {
 public:
  Physical(Device& on, std::uint64_t bytes, const CUmemAllocationProp& as) : device(on), size(bytes), properties(as) {
    require(!is_fault_due("alloc") && on.heap.charge(bytes), CUDA_ERROR_OUT_OF_MEMORY,
            "the device has not that much memory left");
    file = memfd_create("flexrack-sim", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) return;
    if (file >= 0) close(file);
    on.heap.refund(bytes);
    fail(CUDA_ERROR_OPERATING_SYSTEM, "no memory file to be had");
  }
  ~Physical() {
    ::close(file);
    device.heap.refund(size);
  }
  CUmemGenericAllocationHandle handle() { return reinterpret_cast<CUmemGenericAllocationHandle>(this); }
  using Object<Physical>::close;

  Device& device;
  const std::uint64_t size;
  const CUmemAllocationProp properties;
  int file = -1;
  std::atomic<unsigned> uses{1};   ///< handles given out: cuMemCreate, cuMemRetainAllocationHandle

 private:
  static int close(int descriptor) { return ::close(descriptor); }
};

struct Mapping {
  std::uint64_t size;
  Ref<Physical> memory;
  std::shared_ptr<Allocation> allocation;
};

/// All guarded by the lock.
struct Addresses {
  std::mutex lock;
  std::map<std::uint64_t, std::uint64_t> reserved;
  std::map<std::uint64_t, Mapping> mapped;
};

Addresses& addresses() {
  static auto* one = new Addresses;
  return *one;
}

Ref<Physical> physical_of(CUmemGenericAllocationHandle handle) {
  auto found = Physical::find(reinterpret_cast<const void*>(handle));
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_VALUE, "no such memory handle");
  return found;
}

void check(const CUmemAllocationProp* as) {
  require(as && as->type == CU_MEM_ALLOCATION_TYPE_PINNED);
  require(as->location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED,
          "memory to be mapped is on devices");
  // A file descriptor that is merely wanted does no harm: the export of it is what is refused.
  require((as->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0, CUDA_ERROR_NOT_SUPPORTED,
          "memory is not shared with other processes");
  require(as->allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_NONE && as->allocFlags.usage == 0,
          CUDA_ERROR_NOT_SUPPORTED, "neither compressed nor sparse");
}

bool is_reserved(const Addresses& in, std::uint64_t address, std::uint64_t size) {
  auto after = in.reserved.upper_bound(address);
  if (after == in.reserved.begin()) return false;
  --after;
  return address - after->first < after->second && size <= after->second - (address - after->first);
}

/// The mappings that make up a range exactly; empty where there are none.
std::vector<std::uint64_t> mappings_in(const Addresses& in, std::uint64_t address, std::uint64_t size) {
  std::vector<std::uint64_t> found;
  auto at = address;
  for (auto one = in.mapped.find(address); one != in.mapped.end() && one->first == at && at - address < size; ++one) {
    found.push_back(one->first);
    at += one->second.size;
  }
  if (at - address != size) found.clear();
  return found;
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
  return call([&] {
    require(granularity && option <= CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    check(properties);
    device(properties->location.id);
    *granularity = kGranularity;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* reserved, size_t size, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
  return call([&] {
    require(reserved && size > 0 && size % kGranularity == 0 && size < (std::uint64_t{1} << 46) && flags == 0);
    require((alignment & (alignment - 1)) == 0 && alignment <= (std::uint64_t{1} << 40));
    const auto align = std::max<std::uint64_t>(alignment, kGranularity);
    auto* const hint = wanted % align == 0 ? reinterpret_cast<void*>(wanted) : nullptr;
    // More than asked for, so that an aligned range is in it; the rest is given back.
    const auto taken = size + align;
    const auto reserve = [](void* at, std::uint64_t bytes) {
      return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    };
    auto* memory = hint ? reserve(hint, size) : MAP_FAILED;
    if (memory != MAP_FAILED && memory != hint) {
      munmap(memory, size);
      memory = MAP_FAILED;
    }
    if (memory == MAP_FAILED) {
      auto* whole = reserve(nullptr, taken);
      require(whole != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY, "no addresses left");
      const auto begin = reinterpret_cast<std::uint64_t>(whole), first = (begin + align - 1) / align * align;
      if (first > begin) munmap(whole, first - begin);
      if (begin + taken > first + size) munmap(reinterpret_cast<void*>(first + size), begin + taken - first - size);
      memory = reinterpret_cast<void*>(first);
    }
    auto& all = addresses();
    const std::lock_guard guard(all.lock);
    all.reserved[reinterpret_cast<std::uint64_t>(memory)] = size;
    *reserved = reinterpret_cast<std::uint64_t>(memory);
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
  return call([&] {
    auto& all = addresses();
    const std::lock_guard guard(all.lock);
    const auto found = all.reserved.find(address);
    require(found != all.reserved.end() && found->second == size);
    const auto mapped = all.mapped.lower_bound(address);
    require(mapped == all.mapped.end() || mapped->first - address >= size, CUDA_ERROR_INVALID_VALUE,
            "memory is still mapped there");
    munmap(reinterpret_cast<void*>(address), size);
    all.reserved.erase(found);
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  return call([&] {
    require(handle && size > 0 && size % kGranularity == 0 && flags == 0);
    check(properties);
    const auto made = Physical::make(device(properties->location.id), size, *properties);
    made->open();
    *handle = made->handle();
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return call([&] {
    const auto memory = physical_of(handle);
    if (--memory->uses == 0) memory->close();
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return call([&] {
    const auto memory = physical_of(handle);
    require(size > 0 && size % kGranularity == 0 && address % kGranularity == 0 && offset % kGranularity == 0 &&
            flags == 0);
    require(offset <= memory->size && size <= memory->size - offset);
    auto& all = addresses();
    const std::lock_guard guard(all.lock);
    require(is_reserved(all, address, size), CUDA_ERROR_INVALID_VALUE, "addresses that were not reserved");
    require(!Memory::instance().is_taken(address, size), CUDA_ERROR_INVALID_VALUE, "memory is mapped there already");
    auto* mapped = mmap(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                        memory->file, static_cast<off_t>(offset));
    require(mapped != MAP_FAILED, CUDA_ERROR_MAP_FAILED);
    auto allocation = std::make_shared<Allocation>();
    allocation->kind = Allocation::Kind::mapped;
    allocation->reach = Allocation::Reach::devices;
    allocation->address = address;
    allocation->size = size;
    allocation->device = &memory->device;
    Memory::instance().add(allocation);
    all.mapped[address] = {size, memory, std::move(allocation)};
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  return call([&] {
    for (const auto& context : active_contexts()) context->settle();
    auto& all = addresses();
    const std::lock_guard guard(all.lock);
    const auto found = mappings_in(all, address, size);
    require(!found.empty());
    for (const auto one : found) {
      Memory::instance().remove(one);
      all.mapped.erase(one);
    }
    auto* memory = mmap(reinterpret_cast<void*>(address), size, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    require(memory != MAP_FAILED, CUDA_ERROR_UNMAP_FAILED);
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* descriptions, size_t count) {
  return call([&] {
    require(descriptions && count > 0);
    for (size_t i = 0; i < count; ++i) {
      require(descriptions[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED,
              "access is for devices");
      device(descriptions[i].location.id);
    }
    auto& all = addresses();
    const std::lock_guard guard(all.lock);
    const auto found = mappings_in(all, address, size);
    require(!found.empty());
    for (const auto one : found) {
      auto& allocation = *all.mapped[one].allocation;
      Memory::instance().change(allocation, [&] {
        for (size_t i = 0; i < count; ++i) {
          const auto bit = std::uint64_t{1} << descriptions[i].location.id;
          const auto flags = descriptions[i].flags;
          allocation.devices =
              flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ? allocation.devices & ~bit : allocation.devices | bit;
          allocation.is_read_only = flags == CU_MEM_ACCESS_FLAGS_PROT_READ;
        }
      });
    }
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return call([&] {
    require(flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE);
    device(location->id);
    const auto found = Memory::instance().find(address);
    require(found && found->kind == Allocation::Kind::mapped);
    const bool may = (found->devices >> location->id) & 1;
    *flags = !may                  ? CU_MEM_ACCESS_FLAGS_PROT_NONE
             : found->is_read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                   : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return call([&] {
    require(properties);
    *properties = physical_of(handle)->properties;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  return call([&] {
    require(handle);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    auto& all = addresses();
    const std::lock_guard guard(all.lock);
    auto after = all.mapped.upper_bound(address);
    require(after != all.mapped.begin());
    --after;
    require(address - after->first < after->second.size);
    auto& memory = *after->second.memory;
    // Released already, it is opened again: the handle is the same.
    if (memory.uses.fetch_add(1) == 0) memory.open();
    *handle = memory.handle();
  });
}

}  // extern "C"
