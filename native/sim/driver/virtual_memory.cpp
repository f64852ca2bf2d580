// cuMemAddress*, cuMemCreate, cuMemMap and what belongs to them: addresses and memory apart from each other.
#include <fcntl.h>
#include <sys/mman.h>

#include <map>

#include "sim/driver/memory.h"
#include "sim/driver/process_files.h"
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
    try {
      file = make_file(bytes, static_cast<std::uint32_t>(on.ordinal));
    } catch (...) {
      on.heap.refund(bytes);
      throw;
    }
  }
  /// Another process's, which has it of its device.
  Physical(Device& on, std::uint64_t bytes, SharedFilePointer its, const CUmemAllocationProp& as)
      : device(on), size(bytes), properties(as), is_own(false), file(std::move(its)) {}
  ~Physical() {
    if (is_own) device.heap.refund(size);
  }
  CUmemGenericAllocationHandle handle() { return reinterpret_cast<CUmemGenericAllocationHandle>(this); }

  Device& device;
  const std::uint64_t size;
  const CUmemAllocationProp properties;
  const bool is_own = true;
  SharedFilePointer file;
  std::atomic<unsigned> uses{1};   ///< handles given out: cuMemCreate, cuMemRetainAllocationHandle
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
  require((as->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0, CUDA_ERROR_NOT_SUPPORTED,
          "memory is shared with other processes by file descriptors only");
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

CUresult cuMemExportToShareableHandle(void* given, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags) {
  return call([&] {
    const auto memory = physical_of(handle);
    require(given && flags == 0 && type != CU_MEM_HANDLE_TYPE_NONE);
    require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    require((memory->properties.requestedHandleTypes & type) != 0, CUDA_ERROR_INVALID_VALUE,
            "the memory was made without that type of handle");
    const int descriptor = fcntl(memory->file->get(), F_DUPFD_CLOEXEC, 0);
    require(descriptor >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *static_cast<int*>(given) = descriptor;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* given,
                                        CUmemAllocationHandleType type) {
  return call([&] {
    require(handle && type != CU_MEM_HANDLE_TYPE_NONE);
    require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(given));
    const auto mark = mark_of_file(descriptor);
    auto file = std::make_shared<const SharedDescriptor>(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    require(file->get() >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    require(mark.bytes % kGranularity == 0, CUDA_ERROR_INVALID_VALUE, "no memory that can be mapped");
    auto& on = device(static_cast<CUdevice>(mark.device));
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, on.ordinal};
    const auto made = Physical::make(on, mark.bytes, std::move(file), properties);
    made->open();
    *handle = made->handle();
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
                        memory->file->get(), static_cast<off_t>(offset));
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
    require(!is_fault_due("unmap"), CUDA_ERROR_UNMAP_FAILED, "memory stays mapped, as FLEXRACK_SIM_FAULT asks for");
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
