// Rows of bytes in host memory: what rect and image transfers read and write, packed on the wire.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/frame.h"

namespace flexrack::client::opencl {

using Size3 = std::array<std::size_t, 3>;

struct Rows {
  std::uint8_t* first = nullptr;   ///< the first byte of the first row
  std::size_t width = 0;           ///< bytes of a row
  std::size_t height = 1, depth = 1;
  std::size_t row_pitch = 0, slice_pitch = 0;

  std::size_t size() const { return width * height * depth; }
  /// Nothing lies between the rows.
  bool is_packed() const {
    return (height == 1 || row_pitch == width) && (depth == 1 || slice_pitch == width * height);
  }
};

/// `size` bytes in one piece.
Rows one_row(const void* first, std::size_t size);
void pack(const Rows& from, std::uint8_t* to);
void unpack(const std::uint8_t* from, const Rows& to);

}  // namespace flexrack::client::opencl
