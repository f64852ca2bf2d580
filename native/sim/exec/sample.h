// Reading textures (CUDA C++ Programming Guide 13.0, texture fetching; PTX ISA 9.0, 9.7.10).
#pragma once

#include <array>
#include <cstdint>

#include "sim/exec/texture.h"
#include "sim/ptx/program.h"

namespace flexrack::sim::exec {

/// Four channels as a register has them: floats, or integers extended by their sign.
struct Texel {
  std::array<std::uint32_t, 4> raw{};
};

/// Where to read: floats, or for integer coordinates texels.
struct Coordinates {
  bool are_integers = false;
  std::array<float, 3> at{};
  std::array<std::int32_t, 3> texel{};
  std::uint32_t layer = 0;
  float level = 0;
};

/// One texel as it is stored; zero outside.
Texel read_texel(const Texels& texels, bool reads_integers, bool is_srgb, std::int64_t x, std::int64_t y,
                 std::int64_t z, std::uint64_t layer);

/// `dimensions`: 1, 2 or 3 (cubes: 3, of which a face is chosen).
Texel sample(const Texture& texture, const Sampler& sampler, unsigned dimensions, bool is_cube, const Coordinates& at);

/// One channel of the four texels around a place: counterclockwise from the lower left one.
Texel gather(const Texture& texture, const Sampler& sampler, unsigned channel, const Coordinates& at);

}  // namespace flexrack::sim::exec
