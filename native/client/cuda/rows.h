// Boxes of rows: one side of a copy, in this process or at a server.
#pragma once

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
struct Told {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch, height, x, y, z, level;
};
inline Told source_of(const CUDA_MEMCPY3D& c) { return {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcPitch, c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ, c.srcLOD}; }
inline Told target_of(const CUDA_MEMCPY3D& c) { return {c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch, c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ, c.dstLOD}; }

/// False, with an error in `call`: there is no such box.
bool find_side(Call& call, const Told& told, const cu::Extent& extent, Side& side);

/// row(its first byte, where it is in the packed box) for each row.
template <class Row>
void each_row(const Side& side, const cu::Extent& extent, Row&& row) {
  std::size_t at = 0;
  for (std::size_t z = 0; z < extent.depth; ++z) {
    for (std::size_t y = 0; y < extent.height; ++y, at += extent.width) row(side.host + z * side.slice + y * side.pitch, at);
  }
}

/// Of a side that is here.
inline wire::Bytes packed(const Side& side, const cu::Extent& extent) {
  wire::Bytes bytes(extent.width * extent.height * extent.depth);
  each_row(side, extent, [&](const std::uint8_t* row, std::size_t at) { std::memcpy(bytes.data() + at, row, extent.width); });
  return bytes;
}
inline void unpack(const Side& side, const cu::Extent& extent, wire::View bytes) {
  each_row(side, extent, [&](std::uint8_t* row, std::size_t at) { std::memcpy(row, bytes.data() + at, extent.width); });
}

}  // namespace flexrack::client::cuda
