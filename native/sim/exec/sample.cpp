#include "sim/exec/sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/exec/narrow.h"

namespace flexrack::sim::exec {
namespace {

using u32 = std::uint32_t;

/// A coordinate after addressing: a texel, or outside.
constexpr std::int64_t kOutside = INT64_MIN;

std::int64_t addressed(std::int64_t at, std::int64_t size, AddressMode mode) {
  if (at >= 0 && at < size) return at;
  switch (mode) {
    case AddressMode::clamp: return at < 0 ? 0 : size - 1;
    case AddressMode::wrap: return ((at % size) + size) % size;
    case AddressMode::mirror: {
      const std::int64_t in = ((at % (2 * size)) + 2 * size) % (2 * size);
      return in < size ? in : 2 * size - 1 - in;
    }
    case AddressMode::border: return kOutside;
  }
  return kOutside;
}

float linear_of_srgb(float value) {
  return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

template <class T>
T stored(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

u32 as_float(float value) { return bits<u32>(value); }

/// One channel: an integer as it is, or a number of 0..1 or -1..1; floats as they are.
u32 channel_of(const std::byte* from, Channel channel, bool reads_integers, bool is_srgb) {
  switch (channel) {
    case Channel::u8: {
      const auto value = stored<std::uint8_t>(from);
      if (reads_integers) return value;
      return as_float(is_srgb ? linear_of_srgb(value / 255.0f) : value / 255.0f);
    }
    case Channel::u16:
      return reads_integers ? stored<std::uint16_t>(from) : as_float(stored<std::uint16_t>(from) / 65535.0f);
    case Channel::s8: {
      const auto value = stored<std::int8_t>(from);
      return reads_integers ? static_cast<u32>(value) : as_float(std::max(value / 127.0f, -1.0f));
    }
    case Channel::s16: {
      const auto value = stored<std::int16_t>(from);
      return reads_integers ? static_cast<u32>(value) : as_float(std::max(value / 32767.0f, -1.0f));
    }
    case Channel::f16: return as_float(half_to_float(stored<std::uint16_t>(from)));
    default: return stored<u32>(from);
  }
}

/// Whether channels are integers in the registers: those cannot be filtered.
bool gives_integers(const Texels& texels, bool reads_integers) {
  switch (texels.channel) {
    case Channel::f16:
    case Channel::f32: return false;
    case Channel::u32:
    case Channel::s32: return true;
    default: return reads_integers;
  }
}

Texel border_texel(const Texels& texels, const Texture& texture, const Sampler& sampler) {
  Texel made;
  const bool are_integers = gives_integers(texels, texture.reads_integers);
  for (unsigned i = 0; i < 4; ++i)
    made.raw[i] =
        are_integers ? static_cast<u32>(static_cast<std::int64_t>(sampler.border[i])) : as_float(sampler.border[i]);
  return made;
}

/// One level, at one place.
class Level {
 public:
  Level(const Texture& texture, const Sampler& sampler, const Texels& texels, unsigned dimensions, std::uint64_t layer)
      : texture_(texture), sampler_(sampler), texels_(texels), dimensions_(dimensions), layer_(layer) {
    size_ = {texels.width, std::max(texels.height, 1U), std::max(texels.depth, 1U)};
  }

  Texel at_texel(std::array<std::int64_t, 3> at) const {
    for (unsigned i = 0; i < dimensions_; ++i) {
      at[i] = addressed(at[i], size_[i], mode(i));
      if (at[i] == kOutside) return border_texel(texels_, texture_, sampler_);
    }
    return read_texel(texels_, texture_.reads_integers, texture_.is_srgb, at[0], at[1], at[2], layer_);
  }

  /// In texels: 0 is the first one's edge.
  float place(float coordinate, unsigned axis) const {
    if (!sampler_.is_normalized) return coordinate;
    const auto size = static_cast<float>(size_[axis]);
    // Wrapping before scaling keeps what a big coordinate has of a fraction.
    if (sampler_.address[axis] == AddressMode::wrap) coordinate -= std::floor(coordinate);
    return coordinate * size;
  }

  Texel nearest(const std::array<float, 3>& at) const {
    std::array<std::int64_t, 3> texel{};
    for (unsigned i = 0; i < dimensions_; ++i) texel[i] = whole(place(at[i], i));
    return at_texel(texel);
  }

  /// Weights have 8 bits of fraction.
  Texel linear(const std::array<float, 3>& at) const {
    std::array<std::int64_t, 3> first{};
    std::array<float, 3> part{};
    for (unsigned i = 0; i < dimensions_; ++i) {
      const float shifted = place(at[i], i) - 0.5f;
      first[i] = whole(shifted);
      part[i] = std::floor((shifted - std::floor(shifted)) * 256.0f + 0.5f) / 256.0f;
    }
    std::array<float, 4> sum{};
    for (unsigned corner = 0; corner < 1U << dimensions_; ++corner) {
      float weight = 1;
      auto texel = first;
      for (unsigned i = 0; i < dimensions_; ++i) {
        const bool is_next = corner >> i & 1;
        weight *= is_next ? part[i] : 1 - part[i];
        texel[i] += is_next;
      }
      if (weight == 0) continue;
      const auto value = at_texel(texel);
      for (unsigned i = 0; i < 4; ++i) sum[i] += weight * bits<float>(value.raw[i]);
    }
    Texel made;
    for (unsigned i = 0; i < 4; ++i) made.raw[i] = as_float(sum[i]);
    return made;
  }

  bool can_filter() const { return !gives_integers(texels_, texture_.reads_integers); }

  static std::int64_t whole(float value) {
    if (!(std::fabs(value) < 9e18f)) return value > 0 ? INT32_MAX : value < 0 ? INT32_MIN : 0;
    return static_cast<std::int64_t>(std::floor(value));
  }

 private:
  /// Wrapping and mirroring are for normalized coordinates only.
  AddressMode mode(unsigned axis) const {
    const auto requested = sampler_.address[axis];
    return sampler_.is_normalized || requested == AddressMode::border ? requested : AddressMode::clamp;
  }

  const Texture& texture_;
  const Sampler& sampler_;
  const Texels& texels_;
  unsigned dimensions_;
  std::uint64_t layer_;
  std::array<std::int64_t, 3> size_{};
};

/// The face that a direction meets, and where on it: 0..1.
std::uint64_t choose_face(std::array<float, 3>& at) {
  const float x = at[0], y = at[1], z = at[2], ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  float s = 0, t = 0, m = 1;
  std::uint64_t face = 0;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1, s = x >= 0 ? -z : z, t = -y, m = ax;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3, s = x, t = y >= 0 ? z : -z, m = ay;
  } else {
    face = z >= 0 ? 4 : 5, s = z >= 0 ? x : -x, t = -y, m = az;
  }
  at = {m == 0 ? 0.5f : (s / m + 1) / 2, m == 0 ? 0.5f : (t / m + 1) / 2, 0};
  return face;
}

Texel mixed(const Texel& a, const Texel& b, float part) {
  Texel made;
  for (unsigned i = 0; i < 4; ++i)
    made.raw[i] = as_float(bits<float>(a.raw[i]) * (1 - part) + bits<float>(b.raw[i]) * part);
  return made;
}

std::uint64_t layer_in(const Texels& texels, std::uint32_t layer) {
  return texels.layers == 0 ? 0 : std::min<std::uint64_t>(layer, texels.layers - 1);
}

}  // namespace

Texel read_texel(const Texels& texels, bool reads_integers, bool is_srgb, std::int64_t x, std::int64_t y,
                 std::int64_t z, std::uint64_t layer) {
  Texel made;
  const bool are_integers = gives_integers(texels, reads_integers);
  made.raw[3] = are_integers ? 1 : as_float(1.0f);
  if (x < 0 || x >= texels.width || y < 0 || y >= std::max(texels.height, 1U) || z < 0 ||
      z >= std::max(texels.depth, 1U))
    return made;
  const auto* row = reinterpret_cast<const std::byte*>(texels.data) + static_cast<std::uint64_t>(y) * texels.row_pitch +
                    (static_cast<std::uint64_t>(z) + layer) * texels.slice_pitch;
  const auto* from = row + static_cast<std::uint64_t>(x) * texels.texel_bytes();
  for (unsigned i = 0; i < texels.channels && i < 4; ++i)
    made.raw[i] = channel_of(from + i * bytes_of(texels.channel), texels.channel, reads_integers, is_srgb && i < 3);
  return made;
}

Texel sample(const Texture& texture, const Sampler& sampler, unsigned dimensions, bool is_cube, const Coordinates& at) {
  const auto& base = texture.levels.front();
  auto place = at.at;
  std::uint64_t layer = layer_in(base, at.layer);
  Sampler used = sampler;
  if (is_cube) {
    const auto face = choose_face(place);
    layer = layer_in(base, at.layer * 6 + static_cast<u32>(face));
    dimensions = 2;
    used.is_normalized = true;
    used.address = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  }
  const auto last = static_cast<float>(texture.levels.size() - 1);
  const float most = std::min(last, sampler.greatest_level > 0 ? sampler.greatest_level : last);
  const float wanted = texture.levels.size() == 1
                           ? 0
                           : std::clamp(at.level + sampler.level_bias, std::min(sampler.least_level, most), most);
  if (at.are_integers) {
    const auto& texels = texture.levels[static_cast<std::size_t>(wanted)];
    const std::int64_t x = at.texel[0], y = dimensions > 1 ? at.texel[1] : 0, z = dimensions > 2 ? at.texel[2] : 0;
    return read_texel(texels, texture.reads_integers, texture.is_srgb, x, y, z, layer);
  }
  const auto at_level = [&](std::size_t number) {
    const Level level(texture, used, texture.levels[number], dimensions, layer);
    return used.filter == Filter::linear && level.can_filter() ? level.linear(place) : level.nearest(place);
  };
  if (texture.levels.size() == 1) return at_level(0);
  if (sampler.level_filter == Filter::point) return at_level(static_cast<std::size_t>(std::floor(wanted + 0.5f)));
  const auto lower = static_cast<std::size_t>(wanted);
  const float part = wanted - static_cast<float>(lower);
  return part == 0 ? at_level(lower) : mixed(at_level(lower), at_level(lower + 1), part);
}

Texel gather(const Texture& texture, const Sampler& sampler, unsigned channel, const Coordinates& at) {
  const auto& base = texture.levels.front();
  const Level level(texture, sampler, base, 2, layer_in(base, at.layer));
  const std::int64_t x = Level::whole(level.place(at.at[0], 0) - 0.5f),
                     y = Level::whole(level.place(at.at[1], 1) - 0.5f);
  Texel made;
  made.raw = {level.at_texel({x, y + 1, 0}).raw[channel], level.at_texel({x + 1, y + 1, 0}).raw[channel],
              level.at_texel({x + 1, y, 0}).raw[channel], level.at_texel({x, y, 0}).raw[channel]};
  return made;
}

}  // namespace flexrack::sim::exec
