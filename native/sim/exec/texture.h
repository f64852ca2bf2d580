// Textures and surfaces: texels in the driver's memory, and how they are read.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace flexrack::sim::exec {

/// What one channel of a texel is.
enum class Channel : std::uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };

constexpr unsigned bytes_of(Channel channel) {
  switch (channel) {
    case Channel::u8:
    case Channel::s8: return 1;
    case Channel::u16:
    case Channel::s16:
    case Channel::f16: return 2;
    default: return 4;
  }
}

/// Texels in rows, slices and layers. The driver owns the memory and keeps it until the object is removed from the
/// MemoryMap.
struct Texels {
  std::uint64_t data = 0;
  std::uint32_t width = 0;         ///< texels
  std::uint32_t height = 0;        ///< 0: one-dimensional
  std::uint32_t depth = 0;         ///< 0: no third dimension
  std::uint32_t layers = 0;        ///< 0: not layered; of cubemaps 6 a cube
  std::uint64_t row_pitch = 0;     ///< bytes
  std::uint64_t slice_pitch = 0;   ///< bytes from slice to slice, or layer to layer
  Channel channel = Channel::f32;
  std::uint8_t channels = 1;       ///< 1, 2 or 4
  bool is_cube = false;

  unsigned texel_bytes() const { return bytes_of(channel) * channels; }
};

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };
enum class Filter : std::uint8_t { point, linear };

/// How coordinates are taken; a texture object has it in itself, .samplerref variables of a module too.
struct Sampler {
  std::array<AddressMode, 3> address{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  Filter filter = Filter::point, level_filter = Filter::point;
  bool is_normalized = false;      ///< coordinates of 0..1 instead of texels
  std::array<float, 4> border{};
  float level_bias = 0, least_level = 0, greatest_level = 0;
};

struct Texture {
  std::vector<Texels> levels;      ///< one, or the levels of a mipmap
  Sampler sampler;
  bool reads_integers = false;  ///< texels as they are; else 8- and 16-bit integers are read as floats of 0..1 or -1..1
  bool is_srgb = false;  ///< 8-bit channels are converted to linear ones
};

struct Surface {
  Texels texels;
};

}  // namespace flexrack::sim::exec
