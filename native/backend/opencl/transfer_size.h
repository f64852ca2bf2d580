// Sizes from the wire, checked before any memory is touched.
#pragma once

#include <cstdint>
#include <optional>

#include "gen/opencl/messages.h"

namespace flexrack::backend::opencl {

/// [offset, offset + size) lies in `whole` bytes, without overflow.
/// Bytes of a pattern to fill with: the longest vector type.
inline constexpr std::size_t kLongestPattern = 128;

inline bool is_within(std::uint64_t offset, std::uint64_t size, std::uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

/// Bytes of a packed box of elements; nothing when that does not fit into 64 bits.
inline std::optional<std::uint64_t> box_bytes(const cl::Triple& region, std::uint64_t element) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(region.x, region.y, &bytes) || __builtin_mul_overflow(bytes, region.z, &bytes) ||
      __builtin_mul_overflow(bytes, element, &bytes))
    return std::nullopt;
  return bytes;
}

}  // namespace flexrack::backend::opencl
