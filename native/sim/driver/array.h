// Arrays: memory for textures and surfaces. Texels lie in rows and slices, as everywhere on a CPU.
#pragma once

#include <memory>
#include <vector>

#include "gen/cuda/cuda.h"
#include "sim/driver/context.h"
#include "sim/driver/memory.h"
#include "sim/exec/texture.h"

namespace flexrack::sim {

/// What a CUarray_format means; false for formats that are refused (video, block-compressed, normalised).
bool channel_of(CUarray_format format, exec::Channel& channel);

/// Also one level of a mipmapped array.
class Array : public Object<Array>, public Owned {
 public:
  /// Throws CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_OUT_OF_MEMORY. With `memory`: a level that
  /// lies there at an offset.
  Array(Ref<Context> in, const CUDA_ARRAY3D_DESCRIPTOR& as, std::shared_ptr<Allocation> memory = nullptr,
        std::uint64_t offset = 0);
  CUarray handle() { return reinterpret_cast<CUarray>(this); }
  void context_over() noexcept override { close(); }

  const Ref<Context> context;
  const CUDA_ARRAY3D_DESCRIPTOR descriptor;
  exec::Channel channel{};
  std::uint64_t element = 0;                   ///< bytes of a texel
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  std::uint64_t rows = 1, slices = 1;          ///< layers, and faces of cubemaps, are slices
  std::uint64_t data = 0;
  std::shared_ptr<Allocation> memory;
  bool is_level = false;

  std::uint64_t bytes() const { return slice_pitch * slices; }
  /// As textures and surfaces have it.
  exec::Texels texels() const;
};

class MipmappedArray : public Object<MipmappedArray>, public Owned {
 public:
  MipmappedArray(Ref<Context> in, const CUDA_ARRAY3D_DESCRIPTOR& as, unsigned level_count);
  CUmipmappedArray handle() { return reinterpret_cast<CUmipmappedArray>(this); }
  void context_over() noexcept override;

  const Ref<Context> context;
  const CUDA_ARRAY3D_DESCRIPTOR descriptor;
  std::vector<Ref<Array>> levels;
};

/// Throw CUDA_ERROR_INVALID_HANDLE.
Ref<Array> array_of(CUarray handle);
Ref<MipmappedArray> mipmapped_of(CUmipmappedArray handle);

}  // namespace flexrack::sim
