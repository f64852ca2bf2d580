#include <cstring>

#include "client/opencl/rect.h"

namespace flexrack::client::opencl {

namespace {

template <class Copy>
void each_row(const Rows& rows, Copy&& copy) {
  std::size_t at = 0;
  for (std::size_t z = 0; z < rows.depth; ++z) {
    for (std::size_t y = 0; y < rows.height; ++y) {
      copy(rows.first + z * rows.slice_pitch + y * rows.row_pitch, at);
      at += rows.width;
    }
  }
}

}  // namespace

Rows one_row(const void* first, std::size_t size) {
  // One type for both directions: transfers to the device never write through it.
  return {static_cast<std::uint8_t*>(const_cast<void*>(first)), size, 1, 1, size, size};
}

void pack(const Rows& from, std::uint8_t* to) {
  each_row(from, [&](const std::uint8_t* row, std::size_t at) { std::memcpy(to + at, row, from.width); });
}

void unpack(const std::uint8_t* from, const Rows& to) {
  each_row(to, [&](std::uint8_t* row, std::size_t at) { std::memcpy(row, from + at, to.width); });
}

}  // namespace flexrack::client::opencl
