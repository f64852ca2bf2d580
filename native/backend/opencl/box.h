// Boxes in linear memory, checked here because drivers add up without looking for overflow.
#pragma once

#include "backend/opencl/transfer_size.h"

namespace flexrack::backend::opencl {

/// Every byte of the box lies in `whole` bytes, and none is in it twice; pitches of 0 stand for none between rows or
/// slices.
inline bool is_box_within(const cl::Triple& origin, const cl::Triple& region, std::uint64_t row_pitch,
                          std::uint64_t slice_pitch, std::uint64_t whole) {
  if (region.x == 0 || region.y == 0 || region.z == 0) return false;
  const auto row = row_pitch ? row_pitch : region.x;
  std::uint64_t slice = 0;
  if (__builtin_mul_overflow(region.y, row, &slice) || row < region.x || (slice_pitch != 0 && slice_pitch < slice))
    return false;
  if (slice_pitch != 0) slice = slice_pitch;
  std::uint64_t end = 0;
  const auto add = [&](std::uint64_t first, std::uint64_t count, std::uint64_t pitch) {
    std::uint64_t last = 0, bytes = 0;
    return !__builtin_add_overflow(first, count - 1, &last) && !__builtin_mul_overflow(last, pitch, &bytes) &&
           !__builtin_add_overflow(end, bytes, &end);
  };
  return add(origin.x, region.x, 1) && add(origin.y, region.y, row) && add(origin.z, region.z, slice) && end < whole;
}

}  // namespace flexrack::backend::opencl
