#include "backend/cuda/rows.h"

namespace flexrack::backend::cuda {
namespace {

/// cuda.h 13.0: a copy of rows takes addresses and arrays of either side.
CUmemorytype type_of(const cu::Place& place) { return place.kind == 1 ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED; }

/// Where the memory begins in which a box of rows lies: with all of the box in it, from the origin's offset on
/// (cuda.h 13.0, CUDA_MEMCPY3D: z slices of `height` rows of `pitch` bytes, y rows, x bytes).
CUdeviceptr box(CallContext& call, const cu::Place& place, const cu::Extent& extent) {
  const auto pitch = place.pitch != 0 ? place.pitch : extent.width;
  const auto slice = call.product(pitch, place.height != 0 ? place.height : extent.height);
  const auto start = call.sum(call.sum(call.product(slice, place.z), call.product(pitch, place.y)), place.x);
  call.check(place.kind == 0 && (slice != 0 || extent.depth <= 1));
  call.rows(call.sum(place.object, start), pitch, extent.width, extent.height, slice, extent.depth);
  return place.object;
}

}  // namespace

/// Both sides of a copy of rows; those at kind ~0 are filled in by the caller: host memory.
CUDA_MEMCPY3D rows(CallContext& call, const cu::Place* source, const cu::Place* target, const cu::Extent& extent) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = extent.width;
  copy.Height = extent.height;
  copy.Depth = extent.depth;
  if (source) {
    copy.srcMemoryType = type_of(*source);
    copy.srcXInBytes = source->x, copy.srcY = source->y, copy.srcZ = source->z, copy.srcLOD = source->level;
    copy.srcPitch = source->pitch, copy.srcHeight = source->height;
    if (source->kind == 1) copy.srcArray = call.get<CUarray>(source->object);
    else copy.srcDevice = box(call, *source, extent);
  }
  if (target) {
    copy.dstMemoryType = type_of(*target);
    copy.dstXInBytes = target->x, copy.dstY = target->y, copy.dstZ = target->z, copy.dstLOD = target->level;
    copy.dstPitch = target->pitch, copy.dstHeight = target->height;
    if (target->kind == 1) copy.dstArray = call.get<CUarray>(target->object);
    else copy.dstDevice = box(call, *target, extent);
  }
  return copy;
}

void from_host(CUDA_MEMCPY3D& copy, const void* source) {
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = source;
  copy.srcPitch = copy.WidthInBytes;
  copy.srcHeight = copy.Height;
}

void to_host(CUDA_MEMCPY3D& copy, void* target) {
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = target;
  copy.dstPitch = copy.WidthInBytes;
  copy.dstHeight = copy.Height;
}

std::optional<std::uint64_t> box_bytes(const cu::Extent& extent) {
  std::uint64_t rows = 0, all = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows) || __builtin_mul_overflow(rows, extent.width, &all))
    return std::nullopt;
  return all;
}

}  // namespace flexrack::backend::cuda
