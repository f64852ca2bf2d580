// cuMemAlloc*, cuMemFree, cuMemGetInfo, host and managed memory.
#include <sys/mman.h>

#include "sim/driver/capture.h"
#include "sim/driver/failure.h"
#include "sim/driver/memory.h"
#include "sim/driver/settings.h"

namespace flexrack::sim {
namespace {

std::uint64_t page_up(std::uint64_t size) { return (size + 4095) / 4096 * 4096; }

/// Pages of the host that all devices may use.
std::shared_ptr<Allocation> host_pages(const Ref<Context>& context, Allocation::Kind kind, std::uint64_t size,
                                       unsigned flags) {
  require(!is_fault_due("alloc"), CUDA_ERROR_OUT_OF_MEMORY, "an allocation failed, as FLEXRACK_SIM_FAULT asks for");
  require(size < (std::uint64_t{1} << 46), CUDA_ERROR_OUT_OF_MEMORY);
  const auto bytes = page_up(size);
  auto* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY, "the host has not that much memory left");
  auto made = std::make_shared<Allocation>();
  made->kind = kind;
  made->reach = Allocation::Reach::everywhere;
  made->address = reinterpret_cast<std::uint64_t>(memory);
  made->size = size;
  made->context = context;
  made->device = kind == Allocation::Kind::managed ? &context->device : nullptr;
  made->flags = flags;
  made->give_back = [memory, bytes] { munmap(memory, bytes); };
  return made;
}

CUresult allocate_host(void** pointer, size_t size, unsigned flags) {
  return call([&] {
    require(pointer && size > 0);
    require((flags & ~static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                                            CU_MEMHOSTALLOC_WRITECOMBINED)) == 0);
    const auto context = current();
    require_unsafe_calls_allowed();
    const auto made = host_pages(context, Allocation::Kind::host, size, flags);
    Memory::instance().add(made);
    *pointer = reinterpret_cast<void*>(made->address);
  });
}

/// All that could still use a range is waited for: those who may use it are the contexts that see it.
void settle_users(const Allocation& allocation) {
  if (allocation.reach == Allocation::Reach::context) return allocation.context->settle();
  for (const auto& context : active_contexts()) context->settle();
}

CUresult register_host(void* pointer, size_t size, unsigned flags) {
  return call([&] {
    constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    require(pointer && size > 0 && (flags & ~kKnown) == 0);
    require(!(flags & CU_MEMHOSTREGISTER_IOMEMORY), CUDA_ERROR_NOT_SUPPORTED,
            "memory of other devices cannot be registered");
    const auto context = current();
    require_unsafe_calls_allowed();
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    std::uint64_t end = 0;
    require(!__builtin_add_overflow(address, size, &end));
    // All of it has to be there: mincore says ENOMEM for what is not mapped.
    const auto first = address / 4096 * 4096;
    std::vector<unsigned char> present(page_up(end - first) / 4096);
    require(mincore(reinterpret_cast<void*>(first), end - first, present.data()) == 0, CUDA_ERROR_INVALID_VALUE,
            "memory that is not all there cannot be registered");
    require(!Memory::instance().is_taken(address, size), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    auto made = std::make_shared<Allocation>();
    made->kind = Allocation::Kind::registered;
    made->reach = Allocation::Reach::everywhere;
    made->is_read_only = flags & CU_MEMHOSTREGISTER_READ_ONLY;
    made->address = address;
    made->size = size;
    made->context = context;
    made->flags = flags;
    Memory::instance().add(std::move(made));
  });
}

std::shared_ptr<Allocation> host_of(const void* pointer) {
  auto found = Memory::instance().find(reinterpret_cast<std::uint64_t>(pointer));
  require(found && found->is_host());
  return found;
}

CUresult allocate(CUdeviceptr* address, size_t size) {
  return call([&] {
    require(address && size > 0);
    const auto context = current();
    require_unsafe_calls_allowed();
    const auto made = allocate_device(context, size);
    Memory::instance().add(made);
    *address = made->address;
  });
}

CUresult free_memory(CUdeviceptr address) {
  return call([&] {
    const auto context = current_even_failed();
    if (address == 0) return require_working(*context);
    require_unsafe_calls_allowed();
    const auto found = Memory::instance().find(address);
    require(found && found->address == address && found->is_freeable() && !found->is_being_freed.exchange(true),
            CUDA_ERROR_INVALID_VALUE, "to be freed is what cuMemAlloc and its like gave, and once");
    settle_users(*found);
    require(free_allocation(address));
    require_working(*context);
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call([&] {
    require(free && total);
    const auto& heap = current()->device.heap;
    *total = heap.capacity();
    *free = heap.capacity() - heap.used();
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t size) { return allocate(address, size); }

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height, unsigned int element) {
  if (!pitch || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16) ||
      width > (size_t{1} << 40))
    return CUDA_ERROR_INVALID_VALUE;
  const auto row = (width + 511) / 512 * 512;
  size_t size = 0;
  if (__builtin_mul_overflow(row, height, &size)) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto result = allocate(address, size);
  if (result == CUDA_SUCCESS) *pitch = row;
  return result;
}

CUresult cuMemFree_v2(CUdeviceptr address) { return free_memory(address); }

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  return call([&] {
    current();
    const auto found = Memory::instance().find(address);
    require(static_cast<bool>(found), CUDA_ERROR_NOT_FOUND);
    if (base) *base = found->address;
    if (size) *size = found->size;
  });
}

CUresult cuMemAllocHost_v2(void** pointer, size_t size) { return allocate_host(pointer, size, 0); }
CUresult cuMemHostAlloc(void** pointer, size_t size, unsigned int flags) { return allocate_host(pointer, size, flags); }

CUresult cuMemFreeHost(void* pointer) {
  return call([&] {
    const auto context = current_even_failed();
    if (!pointer) return require_working(*context);
    const auto found = host_of(pointer);
    require(found->kind == Allocation::Kind::host && found->address == reinterpret_cast<std::uint64_t>(pointer));
    settle_users(*found);
    Memory::instance().remove(found->address);
    require_working(*context);
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned int flags) {
  return call([&] {
    require(address && flags == 0);
    current();
    host_of(pointer);
    *address = reinterpret_cast<std::uint64_t>(pointer);
  });
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  return call([&] {
    require(flags);
    current();
    // With unified addresses all of it is mapped and portable, whatever was asked for.
    *flags = host_of(pointer)->flags | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE;
  });
}

CUresult cuMemHostRegister(void* pointer, size_t size, unsigned int flags) {
  return register_host(pointer, size, flags);
}
CUresult cuMemHostRegister_v2(void* pointer, size_t size, unsigned int flags) {
  return register_host(pointer, size, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  return call([&] {
    const auto context = current_even_failed();
    const auto found = Memory::instance().find(reinterpret_cast<std::uint64_t>(pointer));
    require(found && found->kind == Allocation::Kind::registered &&
                found->address == reinterpret_cast<std::uint64_t>(pointer),
            CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    settle_users(*found);
    Memory::instance().remove(found->address);
    require_working(*context);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t size, unsigned int flags) {
  return call([&] {
    require(address && size > 0 && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
    const auto context = current();
    require_unsafe_calls_allowed();
    const auto made = host_pages(context, Allocation::Kind::managed, size, flags);
    Memory::instance().add(made);
    *address = made->address;
  });
}

}  // extern "C"
