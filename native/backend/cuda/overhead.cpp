// What the driver takes of a device besides what clients ask for: contexts, code, variables, local memory, the buffers
// of printf and malloc. All of it is the share's.
#include "backend/cuda/core.h"
#include "backend/cuda/management.h"

namespace flexrack::backend::cuda {

std::optional<std::uint64_t> Core::own_memory(std::uint32_t device) {
  if (frees.any() || loads > 0) return std::nullopt;
  const auto* sim = library.sim();
  if (!sim) return read_own_memory(grant.devices()[device].native_id);
  std::uint64_t bytes = 0;
  return sim->memory(devices[device].native, &bytes) == CUDA_SUCCESS ? std::optional(bytes) : std::nullopt;
}

bool Core::settle(std::uint32_t device, std::optional<std::uint64_t> before, std::uint64_t& charged) {
  const auto after = own_memory(device);
  // NVML lists a process from its first context on.
  const auto from = before                                                        ? before
                    : devices[device].contexts == 0 && !frees.any() && loads == 0 ? std::optional<std::uint64_t>(0)
                                                                                  : std::nullopt;
  if (!after || !from || *after <= *from) return true;
  const auto took = *after - *from;
  if (took > charged && !charge(device, took - charged)) return false;
  if (took < charged) refund(device, charged - took);
  charged = took;
  return true;
}

CUresult Core::charge_image(std::uint64_t context, const ImageMemory& image) {
  auto* record = handles.find(context);
  if (!record || !record->memory) return CUDA_ERROR_INVALID_CONTEXT;
  auto& memory = *record->memory;
  const auto heap = image.uses_heap && !memory.has_heap ? memory.malloc_heap : 0;
  if (!charge(record->device, image.bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!charge(record->device, heap)) {
    refund(record->device, image.bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  // With the context from now on, whatever becomes of the image.
  record->charged += heap;
  memory.has_heap |= image.uses_heap;
  return CUDA_SUCCESS;
}

CUresult Core::bring_in(std::uint64_t owner, std::uint64_t context) {
  auto* record = handles.find(owner);
  if (!record || record->kind != Kind::library || record->in_context.contains(context)) return CUDA_SUCCESS;
  if (const auto status = charge_image(context, record->image); status != CUDA_SUCCESS) return status;
  const auto device = device_of(context);
  if (!handles.insert(next_loaded_++, {.kind = Kind::loaded,
                                       .context = context,
                                       .device = device,
                                       .charged = record->image.bytes,
                                       .owner = owner})) {
    refund(device, record->image.bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  record->in_context.emplace(context, nullptr);
  return CUDA_SUCCESS;
}

CUresult Core::reserve_stack(std::uint64_t context, std::uint64_t bytes) {
  return reserve(context, CU_LIMIT_STACK_SIZE, bytes);
}

CUresult Core::reserve(std::uint64_t context, CUlimit which, std::uint64_t value) {
  auto* record = handles.find(context);
  if (!record || !record->memory || (which != CU_LIMIT_STACK_SIZE && which != CU_LIMIT_PRINTF_FIFO_SIZE))
    return CUDA_SUCCESS;
  auto& highest = which == CU_LIMIT_STACK_SIZE ? record->memory->stack : record->memory->printf_fifo;
  if (which == CU_LIMIT_STACK_SIZE && value < ~std::uint64_t{0} - 15) value = (value + 15) / 16 * 16;  // as drivers do
  if (value <= highest) return CUDA_SUCCESS;
  std::uint64_t bytes = 0;
  const auto each = which == CU_LIMIT_STACK_SIZE ? devices[record->device].threads : 1;
  if (__builtin_mul_overflow(value - highest, each, &bytes) || !charge(record->device, bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  record->charged += bytes;
  highest = value;
  return CUDA_SUCCESS;
}

}  // namespace flexrack::backend::cuda
