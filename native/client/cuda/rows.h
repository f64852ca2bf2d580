// Boxes of rows: one side of a copy, in this process or at a server.
#pragma once

#include <algorithm>
#include <cstring>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"

namespace flexrack::client::cuda {

/// One side of a copy.
struct Side {
  std::uint8_t* host = nullptr;      ///< the first byte of the box; null: it is at a server
  std::size_t pitch = 0, slice = 0;  ///< bytes from row to row, from slice to slice
  cu::Place place{};
  CudaServer* server = nullptr;
  CUcontext context = nullptr;
};

/// What all structures of the API say of a side, in one form.
struct Reported {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch, height, x, y, z, level;
};
inline Reported source_of(const CUDA_MEMCPY3D& c) {
  return {c.srcMemoryType, c.srcHost,     c.srcDevice, c.srcArray, c.srcPitch,
          c.srcHeight,     c.srcXInBytes, c.srcY,      c.srcZ,     c.srcLOD};
}
inline Reported target_of(const CUDA_MEMCPY3D& c) {
  return {c.dstMemoryType, c.dstHost,     c.dstDevice, c.dstArray, c.dstPitch,
          c.dstHeight,     c.dstXInBytes, c.dstY,      c.dstZ,     c.dstLOD};
}

/// False, with an error in `call`: there is no such box.
bool find_side(Call& call, const Reported& reported, const cu::Extent& extent, Side& side);

/// row(its first byte, where it is in the packed box) for each row.
template <class Row>
void each_row(const Side& side, const cu::Extent& extent, Row&& row) {
  std::size_t at = 0;
  for (std::size_t z = 0; z < extent.depth; ++z) {
    for (std::size_t y = 0; y < extent.height; ++y, at += extent.width)
      row(side.host + z * side.slice + y * side.pitch, at);
  }
}

/// Of a side that is here.
inline wire::Bytes packed(const Side& side, const cu::Extent& extent) {
  wire::Bytes bytes(extent.width * extent.height * extent.depth);
  each_row(side, extent,
           [&](const std::uint8_t* row, std::size_t at) { std::memcpy(bytes.data() + at, row, extent.width); });
  return bytes;
}
inline void unpack(const Side& side, const cu::Extent& extent, wire::View bytes) {
  each_row(side, extent, [&](std::uint8_t* row, std::size_t at) { std::memcpy(row, bytes.data() + at, extent.width); });
}

/// part(side's first byte, row and slice from the box's, extent) for boxes of so many bytes at most that make up the
/// box: of slices, of rows, or of bytes of a row.
template <class Part>
CUresult each_part(const cu::Extent& extent, std::size_t most, Part&& part) {
  const auto width = std::min(extent.width, most);
  const auto rows = std::min(extent.height, std::max<std::size_t>(most / extent.width, 1));
  const auto slices = rows < extent.height || width < extent.width
                          ? 1
                          : std::min(extent.depth, std::max<std::size_t>(most / (extent.width * extent.height), 1));
  for (std::size_t z = 0; z < extent.depth; z += slices) {
    for (std::size_t y = 0; y < extent.height; y += rows) {
      for (std::size_t x = 0; x < extent.width; x += width) {
        const cu::Extent size{std::min(width, extent.width - x), std::min(rows, extent.height - y),
                              std::min(slices, extent.depth - z)};
        if (const auto status = part(x, y, z, size); status != CUDA_SUCCESS) return status;
      }
    }
  }
  return CUDA_SUCCESS;
}

/// The part of a side that begins there.
inline Side from_there(Side side, std::size_t x, std::size_t y, std::size_t z) {
  side.place.x += x, side.place.y += y, side.place.z += z;
  if (side.host) side.host += z * side.slice + y * side.pitch + x;
  return side;
}

}  // namespace flexrack::client::cuda
