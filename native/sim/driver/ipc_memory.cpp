// cuIpcGetMemHandle, cuIpcOpenMemHandle, cuIpcCloseMemHandle: memory of another process of this machine and user.
#include <sys/mman.h>

#include <cstring>

#include "sim/driver/memory.h"
#include "sim/driver/memory_gate.h"
#include "sim/driver/process_files.h"

namespace flexrack::sim {
namespace {

/// What was opened: once for a context, however often it is asked for ("the reference count on the handle is
/// incremented by 1 and the existing device pointer is returned", CUDA driver API, cuIpcOpenMemHandle).
struct Opened {
  std::array<std::uint8_t, 16> nonce{};
  std::uint64_t offset = 0;
  std::weak_ptr<Allocation> allocation;
  unsigned count = 0;
};

struct AllOpened {
  std::mutex lock;
  std::vector<Opened> list;   ///< those of contexts that ended are dropped at the next look
};

AllOpened& all_opened() {
  static auto* const all = new AllOpened;
  return *all;
}

FileHandle as_file_handle(const CUipcMemHandle& given) {
  FileHandle handle;
  std::memcpy(&handle, &given, sizeof handle);
  return handle;
}

std::shared_ptr<Allocation> map_from(const SharedFilePointer& file, const FileHandle& handle,
                                     const Ref<Context>& context) {
  const auto bytes = mark_of_file(file->get()).bytes;
  require(is_allowed(*file, handle.offset), CUDA_ERROR_INVALID_VALUE, "the memory of the handle was freed");
  require(handle.size > 0 && handle.offset <= bytes && handle.size <= bytes - handle.offset);
  const auto first = handle.offset / 4096 * 4096;
  const auto length = (handle.offset - first + handle.size + 4095) / 4096 * 4096;
  const auto at = map_device_file(file->get(), first, length);
  require(at != 0, CUDA_ERROR_MAP_FAILED);
  auto made = std::make_shared<Allocation>();
  made->kind = Allocation::Kind::opened;
  made->address = at + (handle.offset - first);
  made->size = handle.size;
  made->context = context;
  made->device = &device(static_cast<CUdevice>(handle.device));
  made->give_back = [at, length] { munmap(reinterpret_cast<void*>(at), length); };
  return made;
}

CUresult open_memory(CUdeviceptr* pointer, const CUipcMemHandle& given, unsigned flags) {
  return call([&] {
    require(pointer && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    const auto context = current();
    const auto handle = as_file_handle(given);
    const auto file = open_file(handle, FileHandle::kMemory);
    auto& all = all_opened();
    const std::lock_guard guard(all.lock);
    std::erase_if(all.list, [](const Opened& one) { return one.allocation.expired(); });
    for (auto& one : all.list) {
      const auto known = one.allocation.lock();
      if (!known || one.nonce != handle.nonce || one.offset != handle.offset || !(known->context == context)) continue;
      ++one.count;
      *pointer = known->address;
      return;
    }
    const auto made = map_from(file, handle, context);
    all.list.push_back({handle.nonce, handle.offset, made, 1});
    Memory::instance().add(made);
    *pointer = made->address;
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuIpcGetMemHandle(CUipcMemHandle* given, CUdeviceptr pointer) {
  return call([&] {
    require(given);
    current();
    const auto found = Memory::instance().find(pointer);
    require(found && found->kind == Allocation::Kind::device && !found->is_module && found->device);
    const auto pages = [&] {
      const MemoryStandstill nobody_touches_it;
      return found->device->heap.share(found->address, found->size, static_cast<std::uint32_t>(found->device->ordinal));
    }();
    auto handle = handle_of_file(*pages.file, FileHandle::kMemory);
    handle.offset = pages.offset;
    handle.size = found->size;
    std::memcpy(given, &handle, sizeof handle);
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
  return open_memory(pointer, handle, flags);
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
  return open_memory(pointer, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  return call([&] {
    current();
    const auto found = Memory::instance().find(pointer);
    require(found && found->kind == Allocation::Kind::opened && found->address == pointer);
    auto& all = all_opened();
    {
      const std::lock_guard guard(all.lock);
      for (auto& one : all.list)
        if (one.allocation.lock() == found && --one.count > 0) return;
    }
    found->context->settle();
    Memory::instance().remove(pointer);
  });
}

}  // extern "C"
