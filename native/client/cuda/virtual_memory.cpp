// Addresses and memory apart from each other: cuMemAddressReserve, cuMemCreate, cuMemMap and their kin. What is mapped
// where is known here, so what the driver would refuse is refused here; servers hear of a range when it is reserved, or
// when something of theirs is first mapped there.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"
#include "client/cuda/shared_handle.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

constexpr int kReserveTries = 8;
constexpr std::uint64_t kFirst = std::uint64_t{0x60} << 40,
                        kRoom = std::uint64_t{0x10} << 40;  ///< where addresses are reserved

/// Memory without an address. It is at its server until its last handle and its last mapping are gone.
struct Physical {
  Device* device = nullptr;
  std::uint64_t handle = 0, size = 0;
  unsigned handles = 1;  ///< given out: cuMemCreate, cuMemRetainAllocationHandle
  unsigned mappings = 0;
  CUmemAllocationProp properties{};
  std::optional<SharedHandle> shared{};  ///< as other processes open it, or as this one has opened it
};

struct AddressRange {
  std::uint64_t size = 0;
  std::vector<CudaServer*> servers;  ///< that keep it too
};

struct Mapped {
  std::uint64_t size = 0;
  std::shared_ptr<Physical> memory;
};

/// Never destroyed; all under the lock, which is held over what is said of a range too: servers hear it in this order.
struct Space {
  std::mutex lock;
  std::map<std::uint64_t, AddressRange> reserved;
  std::map<std::uint64_t, Mapped> mapped;
  std::map<std::uint64_t, std::shared_ptr<Physical>> memories;  ///< that have a handle
  std::map<std::pair<const Device*, unsigned>, std::uint64_t> granularities;
};

Space& space() {
  static auto& the_space = *new Space;
  return the_space;
}

/// What the API can make here.
CUresult check_properties(const CUmemAllocationProp* wish) {
  if (!wish || wish->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (wish->location.type != CU_MEM_LOCATION_TYPE_DEVICE || wish->allocFlags.usage != 0)
    return CUDA_ERROR_NOT_SUPPORTED;
  if ((wish->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  return device_of(wish->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// A descriptor that is merely wanted does no harm where the device has none: the export of it is refused then.
bool is_to_be_shared(const CUmemAllocationProp& wish) {
  return (wish.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0 &&
         device_of(wish.location.id)->attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) != 0;
}

std::uint32_t flags_of(const CUmemAllocationProp& wish) {
  return (wish.allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_GENERIC ? 1u : 0u) |
         (is_to_be_shared(wish) ? 2u : 0u);
}

/// Under the lock. Asked once a device and kind of memory.
CUresult granularity(const Device& device, std::uint32_t flags, CUmemAllocationGranularity_flags option,
                     std::uint64_t& size) {
  auto& known = space().granularities[{&device, flags * 2 + static_cast<unsigned>(option)}];
  if (known == 0) {
    Call call;
    const auto index = call.device(device.ordinal);
    const cu::MemoryGranularity message{.device = index, .option = static_cast<std::uint32_t>(option), .flags = flags};
    if (const auto status = call.ask(message, [&](const auto& reply) { known = reply.size; }); status != CUDA_SUCCESS)
      return status;
  }
  size = known;
  return known != 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult reserve_at(CudaServer& server, std::uint64_t at, std::uint64_t size) {
  auto status = kLost;
  server.session->call(cu::ReserveAddresses{.at = at, .size = size},
                       [&](const auto& reply) { status = static_cast<CUresult>(reply.status); });
  return status;
}

/// Addresses that nothing here has, at the wish where that can be, else where processes have neither libraries nor
/// heaps nor stacks: most likely the server has nothing there either. What is too large for that lies where the kernel
/// says. 0: none.
std::uint64_t free_addresses(std::uint64_t size, std::uint64_t alignment, std::uint64_t wish) {
  if (wish != 0 && wish % alignment == 0 && keep_addresses(wish, size)) return wish;
  static std::mt19937_64 random{std::random_device{}()};  // under the lock of the space
  const auto aligned = [alignment](std::uint64_t at) { return (at + alignment - 1) / alignment * alignment; };
  const auto steps = size + alignment < kRoom ? (kRoom - size - alignment) / alignment + 1 : 0;
  if (const auto at = steps == 0 ? 0 : aligned(kFirst) + random() % steps * alignment;
      at != 0 && keep_addresses(at, size))
    return at;
  // More than is needed, so that an aligned range is inside.
  auto* const whole = ::mmap(nullptr, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) return 0;
  const auto first = aligned(reinterpret_cast<std::uint64_t>(whole));
  ::munmap(whole, size + alignment);
  return keep_addresses(first, size) ? first : 0;
}

/// The range that all of it is in; null where there is none.
AddressRange* range_of(std::uint64_t at, std::uint64_t size) {
  auto& ranges = space().reserved;
  auto after = ranges.upper_bound(at);
  if (after == ranges.begin()) return nullptr;
  --after;
  const auto offset = at - after->first;
  return offset < after->second.size && size <= after->second.size - offset ? &after->second : nullptr;
}

bool is_anything_mapped(std::uint64_t at, std::uint64_t size) {
  const auto& all = space().mapped;
  const auto after = all.lower_bound(at);
  if (after != all.end() && after->first - at < size) return true;
  return after != all.begin() && at - std::prev(after)->first < std::prev(after)->second.size;
}

/// The mappings that make up a range exactly; empty where they do not.
std::vector<std::uint64_t> mapped_in(std::uint64_t at, std::uint64_t size) {
  std::vector<std::uint64_t> found;
  auto end = at;
  const auto& all = space().mapped;
  for (auto one = all.find(at); one != all.end() && one->first == end && end - at < size; ++one) {
    found.push_back(one->first);
    end += one->second.size;
  }
  if (end - at != size) found.clear();
  return found;
}

/// Calls `use(server, at, size)` for each stretch that is one server's.
template <class Use>
CUresult each_server(const std::vector<std::uint64_t>& mappings, Use&& use) {
  const auto& all = space().mapped;
  for (std::size_t i = 0; i < mappings.size();) {
    auto* const server = all.at(mappings[i]).memory->device->server;
    const auto at = mappings[i];
    std::uint64_t size = 0;
    for (; i < mappings.size() && all.at(mappings[i]).memory->device->server == server; ++i)
      size += all.at(mappings[i]).size;
    if (const auto status = use(*server, at, size); status != CUDA_SUCCESS) return status;
  }
  return CUDA_SUCCESS;
}

/// A descriptor that says which memory is meant, and can be handed on like one of the driver's. -1: none is to be had.
int descriptor_for(const SharedHandle& handle) {
  const int file = memfd_create("flexrack-shared-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  const bool is_whole = ::pwrite(file, &handle, sizeof handle, 0) == static_cast<ssize_t>(sizeof handle) &&
                        ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
  if (is_whole) return file;
  ::close(file);
  return -1;
}

std::optional<SharedHandle> handle_in(int descriptor) {
  SharedHandle handle;
  if (::pread(descriptor, &handle, sizeof handle, 0) != static_cast<ssize_t>(sizeof handle)) return std::nullopt;
  return handle;
}

void let_go_of(const std::shared_ptr<Physical>& memory) {
  if (memory->handles == 0 && memory->mappings == 0)
    memory->device->server->session->send(cu::Release{.object = memory->handle});
}

}  // namespace

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
  Call call;
  call.needs(ptr);
  call.check(size > 0 && size < (std::uint64_t{1} << 46) && flags == 0 && (alignment & (alignment - 1)) == 0 &&
             alignment <= (std::uint64_t{1} << 40));
  if (!call.is_good()) return call.error();
  auto& all = space();
  const std::lock_guard guard(all.lock);
  // Asked of the server that is likely to map something there: it says what it has against the size, and whether it has
  // something there itself.
  const auto now = thread_state.current;
  const auto& device = now && is_live(now) ? *now->device : *process()->devices.front();
  std::uint64_t step = 0;
  if (const auto status = granularity(device, 0, CU_MEM_ALLOC_GRANULARITY_MINIMUM, step); status != CUDA_SUCCESS)
    return status;
  if (size % step != 0) return CUDA_ERROR_INVALID_VALUE;
  auto wish = addr;
  for (int attempt = 0; attempt < kReserveTries; ++attempt, wish = 0) {
    const auto at = free_addresses(size, std::max<std::uint64_t>(alignment, step), wish);
    if (at == 0) continue;
    const auto status = reserve_at(*device.server, at, size);
    if (status == CUDA_SUCCESS) {
      all.reserved[at] = {size, {device.server}};
      *ptr = at;
      return CUDA_SUCCESS;
    }
    let_addresses_go(at, size);
    if (status != CUDA_ERROR_OUT_OF_MEMORY) return status;
  }
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
  if (!process()) return not_open();
  auto& all = space();
  const std::lock_guard guard(all.lock);
  const auto found = all.reserved.find(ptr);
  if (found == all.reserved.end() || found->second.size != size || is_anything_mapped(ptr, size))
    return CUDA_ERROR_INVALID_VALUE;
  for (auto* server : found->second.servers) server->session->send(cu::FreeAddresses{.at = ptr, .size = size});
  all.reserved.erase(found);
  let_addresses_go(ptr, size);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* prop,
                     unsigned long long flags) {
  Call call;
  call.needs(handle);
  call.check(size > 0 && flags == 0);
  if (!call.is_good()) return call.error();
  if (const auto status = check_properties(prop); status != CUDA_SUCCESS) return status;
  const auto made = std::make_shared<Physical>(
      Physical{.device = device_of(prop->location.id), .handle = mint(), .size = size, .properties = *prop});
  auto& all = space();
  const std::lock_guard guard(all.lock);
  std::uint64_t step = 0;
  if (const auto status = granularity(*made->device, flags_of(*prop), CU_MEM_ALLOC_GRANULARITY_MINIMUM, step);
      status != CUDA_SUCCESS)
    return status;
  if (size % step != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto index = call.device(prop->location.id);
  const cu::CreateMemory message{.memory = made->handle, .device = index, .flags = flags_of(*prop), .size = size};
  if (const auto status = call.ask(message, [](const auto&) {}); status != CUDA_SUCCESS) return status;
  all.memories[made->handle] = made;
  *handle = made->handle;
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  if (!process()) return not_open();
  auto& all = space();
  const std::lock_guard guard(all.lock);
  const auto found = all.memories.find(handle);
  if (found == all.memories.end()) return CUDA_ERROR_INVALID_VALUE;
  const auto memory = found->second;
  if (--memory->handles > 0) return CUDA_SUCCESS;
  all.memories.erase(found);
  let_go_of(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType, unsigned long long flags) {
  if (!process()) return not_open();
  if (!shareableHandle || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  auto& all = space();
  const std::lock_guard guard(all.lock);
  const auto found = all.memories.find(handle);
  if (found == all.memories.end()) return CUDA_ERROR_INVALID_VALUE;
  auto& memory = *found->second;
  if ((memory.properties.requestedHandleTypes & handleType) == 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_to_be_shared(memory.properties) || memory.device->server->is_mirrored()) return CUDA_ERROR_NOT_SUPPORTED;
  if (!memory.shared) {
    Call call;
    call.device(memory.device->ordinal);
    const auto status = call.ask(cu::ShareObject{.object = memory.handle}, [&](const auto& reply) {
      memory.shared = shared_handle(call.server(), SharedHandle::kPhysical, reply);
    });
    if (status != CUDA_SUCCESS) return status;
    if (!memory.shared) return CUDA_ERROR_UNKNOWN;
  }
  const int descriptor = descriptor_for(*memory.shared);
  if (descriptor < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  std::memcpy(shareableHandle, &descriptor, sizeof descriptor);
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType) {
  if (!process()) return not_open();
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  const auto given = handle_in(static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle)));
  auto* const server = given ? server_of(*given, SharedHandle::kPhysical) : nullptr;
  if (!server) return CUDA_ERROR_INVALID_VALUE;
  auto& all = space();
  const std::lock_guard guard(all.lock);
  // What this process has of it already, made or opened, is the same memory: one more handle of it.
  for (const auto& [known, memory] : all.memories) {
    if (!memory->shared || memory->shared->secret != given->secret) continue;
    ++memory->handles;
    *handle = known;
    return CUDA_SUCCESS;
  }
  const auto made = std::make_shared<Physical>(Physical{.handle = mint(), .shared = given});
  Call call;
  call.device(server->devices.front()->ordinal);
  std::uint32_t device = 0;
  const auto status =
      call.ask(cu::OpenPhysical{.memory = made->handle, .secret = {given->secret.begin(), given->secret.end()}},
               [&](const auto& reply) {
                 device = reply.device;
                 made->size = reply.size;
               });
  if (status != CUDA_SUCCESS) return status;
  made->device = server->devices[std::min<std::size_t>(device, server->devices.size() - 1)].get();
  made->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  made->properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  made->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, made->device->ordinal};
  all.memories[made->handle] = made;
  *handle = made->handle;
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  if (!process()) return not_open();
  auto& all = space();
  const std::lock_guard guard(all.lock);
  const auto found = all.memories.find(handle);
  if (found == all.memories.end() || size == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto memory = found->second;
  auto& device = *memory->device;
  std::uint64_t step = 0;
  if (const auto status = granularity(device, flags_of(memory->properties), CU_MEM_ALLOC_GRANULARITY_MINIMUM, step);
      status != CUDA_SUCCESS)
    return status;
  auto* const range = range_of(ptr, size);
  if (!range || ptr % step != 0 || size % step != 0 || offset % step != 0) return CUDA_ERROR_INVALID_VALUE;
  if (offset > memory->size || size > memory->size - offset || is_anything_mapped(ptr, size))
    return CUDA_ERROR_INVALID_VALUE;
  Call call;
  call.device(device.ordinal);
  if (!call.settle()) return call.error();
  if (std::find(range->servers.begin(), range->servers.end(), device.server) == range->servers.end()) {
    const auto whole = std::prev(all.reserved.upper_bound(ptr));
    if (const auto status = reserve_at(*device.server, whole->first, whole->second.size); status != CUDA_SUCCESS)
      return status;
    range->servers.push_back(device.server);
  }
  if (!add_allocation(
          {.sort = Allocation::Sort::mapped, .base = ptr, .size = size, .server = device.server, .device = &device}))
    return CUDA_ERROR_INVALID_VALUE;
  all.mapped[ptr] = {size, memory};
  ++memory->mappings;
  return call.send(cu::MapMemory{.memory = memory->handle, .at = ptr, .size = size, .offset = offset});
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
  if (!process()) return not_open();
  auto& all = space();
  const std::lock_guard guard(all.lock);
  const auto found = mapped_in(ptr, size);
  if (found.empty()) return CUDA_ERROR_INVALID_VALUE;
  const auto status = each_server(found, [](CudaServer& server, std::uint64_t at, std::uint64_t bytes) {
    auto answer = kLost;
    server.session->call(cu::UnmapMemory{.at = at, .size = bytes},
                         [&](const auto& reply) { answer = static_cast<CUresult>(reply.status); });
    return answer;
  });
  if (status != CUDA_SUCCESS) return status;
  for (const auto at : found) {
    const auto memory = all.mapped.at(at).memory;
    all.mapped.erase(at);
    take_allocation(at);
    --memory->mappings;
    let_go_of(memory);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count) {
  if (!process()) return not_open();
  if (!desc || count == 0) return CUDA_ERROR_INVALID_VALUE;
  auto& all = space();
  const std::lock_guard guard(all.lock);
  const auto found = mapped_in(ptr, size);
  if (found.empty()) return CUDA_ERROR_INVALID_VALUE;
  std::vector<const Device*> devices;
  for (std::size_t i = 0; i < count; ++i) {
    if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    devices.push_back(device_of(desc[i].location.id));
    if (!devices.back()) return CUDA_ERROR_INVALID_DEVICE;
    // A device of another server never reaches it.
    for (const auto at : found)
      if (all.mapped.at(at).memory->device->server != devices.back()->server) return CUDA_ERROR_NOT_SUPPORTED;
  }
  return each_server(found, [&](CudaServer& server, std::uint64_t at, std::uint64_t bytes) {
    cu::SetAccess message{.at = at, .size = bytes};
    for (std::size_t i = 0; i < count; ++i) {
      message.accesses.push_back({.kind = CU_MEM_LOCATION_TYPE_DEVICE,
                                  .device = devices[i]->index,
                                  .flags = static_cast<std::uint32_t>(desc[i].flags)});
    }
    return server.session->send(message) ? CUDA_SUCCESS : kLost;
  });
}

CUresult cuMemGetAllocationGranularity(size_t* size, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
  if (!process()) return not_open();
  if (!size || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
  if (const auto status = check_properties(prop); status != CUDA_SUCCESS) return status;
  const std::lock_guard guard(space().lock);
  std::uint64_t found = 0;
  const auto status = granularity(*device_of(prop->location.id), flags_of(*prop), option, found);
  if (status == CUDA_SUCCESS) *size = found;
  return status;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop, CUmemGenericAllocationHandle handle) {
  if (!process()) return not_open();
  if (!prop) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(space().lock);
  const auto found = space().memories.find(handle);
  if (found == space().memories.end()) return CUDA_ERROR_INVALID_VALUE;
  *prop = found->second->properties;
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) {
  if (!process()) return not_open();
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  const auto address = reinterpret_cast<std::uint64_t>(addr);
  auto& all = space();
  const std::lock_guard guard(all.lock);
  auto after = all.mapped.upper_bound(address);
  if (after == all.mapped.begin()) return CUDA_ERROR_INVALID_VALUE;
  --after;
  if (address - after->first >= after->second.size) return CUDA_ERROR_INVALID_VALUE;
  const auto& memory = after->second.memory;
  // Released already, it has its handle again.
  if (memory->handles++ == 0) all.memories[memory->handle] = memory;
  *handle = memory->handle;
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
