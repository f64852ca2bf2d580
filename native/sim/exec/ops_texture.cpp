// tex, tld4, txq, suld, sust, sured, suq: objects come by their handle from the MemoryMap (PTX ISA 9.0, 9.7.10
// and 9.7.11).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sim/exec/access.h"
#include "sim/exec/block.h"
#include "sim/exec/narrow.h"
#include "sim/exec/numbers.h"
#include "sim/exec/ops.h"
#include "sim/exec/sample.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Geometry;
using ptx::Operand;
using ptx::Width;

/// What an instruction says of its texture or surface.
struct Use {
  const ptx::Texture& texture;
  const ptx::Function& function;
  const Operand& listed(const Operand& list, unsigned at) const { return function.operands[list.at + at]; }
};

Use use_of(const Warp& warp, const Step* step) {
  const auto& function = *warp.frame->code->function;
  return {function.textures[step->source->index], function};
}

u64 coordinate_bits(const Warp& warp, const Operand& operand, unsigned lane) {
  const At at = place_of(operand);
  if (at == kNowhere) return 0;
  switch (operand.width) {
    case Width::w16: return warp.registers<const u16>(at)[lane];
    case Width::w64: return warp.registers<const u64>(at)[lane];
    default: return warp.registers<const u32>(at)[lane];
  }
}

void put(Warp& warp, const Operand& operand, unsigned lane, u64 value) {
  const At at = place_of(operand);
  if (at == kNowhere) return;
  switch (operand.width) {
    case Width::w16: warp.registers<u16>(at)[lane] = static_cast<u16>(value); break;
    case Width::w64: warp.registers<u64>(at)[lane] = value; break;
    default: warp.registers<u32>(at)[lane] = static_cast<u32>(value); break;
  }
}

/// A register's handle, or what a reference variable of the module holds.
u64 handle_of(const Warp& warp, const Operand& object, unsigned lane) {
  if (object.kind != Operand::Kind::symbol) return coordinate_bits(warp, object, lane);
  u64 handle = 0;
  std::memcpy(&handle, reinterpret_cast<const void*>(warp.block->grid().image.variable(object.at)), sizeof handle);
  return handle;
}

struct Form {
  unsigned dimensions;
  bool is_layered, is_cube;
};

Form form_of(Geometry geometry) {
  switch (geometry) {
    case Geometry::d1:
    case Geometry::b1: return {1, false, false};
    case Geometry::a1: return {1, true, false};
    case Geometry::a2: return {2, true, false};
    case Geometry::d3: return {3, false, false};
    case Geometry::cube: return {3, false, true};
    case Geometry::acube: return {3, true, true};
    default: return {2, false, false};
  }
}

bool is_multisampled(Geometry geometry) { return geometry == Geometry::dms2 || geometry == Geometry::adms2; }

/// The level that follows from how coordinates change from pixel to pixel: the longer of the two ways, in texels.
float level_of_gradients(const Warp& warp, const Use& use, const Texture& texture, unsigned dimensions, unsigned lane) {
  const auto length = [&](const Operand& list) {
    float sum = 0;
    for (unsigned i = 0; i < dimensions && i < list.count; ++i) {
      const auto& base = texture.levels.front();
      const float size = texture.sampler.is_normalized ? static_cast<float>(i == 0   ? base.width
                                                                            : i == 1 ? std::max(base.height, 1U)
                                                                                     : std::max(base.depth, 1U))
                                                       : 1.0f;
      const float change = bits<float>(static_cast<u32>(coordinate_bits(warp, use.listed(list, i), lane))) * size;
      sum += change * change;
    }
    return sum;
  };
  const float longest = std::max(length(use.texture.dpdx), length(use.texture.dpdy));
  return longest > 0 ? 0.5f * std::log2(longest) : 0;
}

Coordinates coordinates_of(const Warp& warp, const Step* step, const Use& use, const Texture& texture, unsigned lane) {
  const auto form = form_of(use.texture.geometry);
  const auto& list = step->source->o[2];
  Coordinates made;
  made.are_integers = use.texture.coordinate == Type::s32;
  if (form.is_layered) made.layer = static_cast<u32>(coordinate_bits(warp, use.listed(list, 0), lane));
  for (unsigned i = 0; i < form.dimensions && i + form.is_layered < list.count; ++i) {
    const auto raw = static_cast<u32>(coordinate_bits(warp, use.listed(list, i + form.is_layered), lane));
    made.at[i] = bits<float>(raw);
    made.texel[i] = static_cast<std::int32_t>(raw);
  }
  if (use.texture.offset.kind != Operand::Kind::none) {
    const auto& base = texture.levels.front();
    const u32 sizes[3] = {base.width, std::max(base.height, 1U), std::max(base.depth, 1U)};
    for (unsigned i = 0; i < form.dimensions && i < use.texture.offset.count; ++i) {
      const auto by =
          static_cast<std::int32_t>(static_cast<u32>(coordinate_bits(warp, use.listed(use.texture.offset, i), lane)));
      made.texel[i] += by;
      made.at[i] += texture.sampler.is_normalized ? static_cast<float>(by) / static_cast<float>(sizes[i])
                                                  : static_cast<float>(by);
    }
  }
  if (use.texture.level.kind != Operand::Kind::none) {
    const auto raw = static_cast<u32>(coordinate_bits(warp, use.texture.level, lane));
    made.level = made.are_integers ? static_cast<float>(static_cast<std::int32_t>(raw)) : bits<float>(raw);
  } else if (use.texture.dpdx.kind != Operand::Kind::none) {
    made.level = level_of_gradients(warp, use, texture, form.dimensions, lane);
  }
  return made;
}

/// Four results, or two registers of pairs of halves.
void give(Warp& warp, const Step* step, const Use& use, unsigned lane, const Texel& texel) {
  const auto& list = step->source->o[0];
  const Type type = step->source->type;
  const auto half = [&](unsigned i) { return float_to_half(bits<float>(texel.raw[i])); };
  for (unsigned i = 0; i < list.count; ++i) {
    u64 value = texel.raw[std::min(i, 3U)];
    if (type == Type::f16) value = half(std::min(i, 3U));
    if (type == Type::f16x2 && 2 * i + 1 < 4) value = half(2 * i) | static_cast<u32>(half(2 * i + 1)) << 16;
    put(warp, use.listed(list, i), lane, value);
  }
}

const Step* fetches(Warp& warp, const Step* step) {
  const auto use = use_of(warp, step);
  if (is_multisampled(use.texture.geometry) || use.texture.compare.kind != Operand::Kind::none)
    return warp.unsupported(step, "multi-sample textures and depth comparison are not supported");
  if (use.texture.sampler.kind != Operand::Kind::none)
    return warp.unsupported(step, "samplers apart from their textures are not supported");
  const auto& objects = warp.block->worker().reader.now();
  const auto form = form_of(use.texture.geometry);
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u64 handle = handle_of(warp, step->source->o[1], lane);
    const auto* texture = objects.texture(handle);
    if (texture == nullptr || texture->levels.empty()) return warp.fault(Fault::Kind::bad_object, step, lane, handle);
    const auto at = coordinates_of(warp, step, use, *texture, lane);
    const auto texel = step->source->op == Op::tld4
                           ? gather(*texture, texture->sampler, step->source->detail, at)
                           : sample(*texture, texture->sampler, form.dimensions, form.is_cube, at);
    give(warp, step, use, lane, texel);
  }
  return step + 1;
}

u32 channel_code(Channel channel) {
  // What txq.channel_data_type gives (PTX ISA 9.0, 5.3.2): CLK_* numbers as OpenCL has them.
  switch (channel) {
    case Channel::s8: return 0x10d7;
    case Channel::s16: return 0x10d8;
    case Channel::s32: return 0x10d9;
    case Channel::u8: return 0x10da;
    case Channel::u16: return 0x10db;
    case Channel::u32: return 0x10dc;
    case Channel::f16: return 0x10dd;
    case Channel::f32: return 0x10de;
  }
  return 0;
}

u32 order_code(unsigned channels) { return channels == 1 ? 0x10b0 : channels == 2 ? 0x10b2 : 0x10b5; }

const Step* asks(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  const auto& objects = warp.block->worker().reader.now();
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u64 handle = handle_of(warp, from.o[1], lane);
    const auto* texture = from.op == Op::txq ? objects.texture(handle) : nullptr;
    const auto* surface = from.op == Op::suq ? objects.surface(handle) : nullptr;
    if (surface == nullptr && (texture == nullptr || texture->levels.empty()))
      return warp.fault(Fault::Kind::bad_object, step, lane, handle);
    const std::size_t level = from.o[2].kind == Operand::Kind::none ? 0 : coordinate_bits(warp, from.o[2], lane);
    const Texels& texels =
        surface != nullptr ? surface->texels : texture->levels[std::min(level, texture->levels.size() - 1)];
    u32 value = 0;
    switch (static_cast<ptx::QueryField>(from.detail)) {
      case ptx::QueryField::width: value = texels.width; break;
      case ptx::QueryField::height: value = texels.height; break;
      case ptx::QueryField::depth: value = texels.depth; break;
      case ptx::QueryField::array_size: value = texels.layers; break;
      case ptx::QueryField::channel_data_type: value = channel_code(texels.channel); break;
      case ptx::QueryField::channel_order: value = order_code(texels.channels); break;
      case ptx::QueryField::num_mipmap_levels:
        value = texture != nullptr ? static_cast<u32>(texture->levels.size()) : 1;
        break;
      case ptx::QueryField::num_samples: value = 1; break;
      case ptx::QueryField::normalized_coords: value = texture != nullptr && texture->sampler.is_normalized; break;
      case ptx::QueryField::filter_mode: value = texture != nullptr && texture->sampler.filter == Filter::linear; break;
      default: return warp.unsupported(step, "this query is not supported");
    }
    put(warp, from.o[0], lane, value);
  }
  return step + 1;
}

/// A place of a surface: x in bytes, or with .p in texels. nullptr: outside, which is a fault, nothing or the nearest
/// place as .clamp says.
std::byte* place_in(const Texels& texels, const ptx::Texture& texture, std::array<std::int64_t, 3> at,
                    std::uint64_t layer, unsigned bytes) {
  const std::int64_t width = std::int64_t{texels.width} * texels.texel_bytes(), height = std::max(texels.height, 1U),
                     depth = std::max(texels.depth, 1U);
  if (texture.is_formatted) at[0] *= texels.texel_bytes();
  if (texture.clamp == ptx::Clamp::clamp) {
    at[0] = std::clamp<std::int64_t>(at[0], 0, std::max<std::int64_t>(width - bytes, 0)),
    at[1] = std::clamp<std::int64_t>(at[1], 0, height - 1);
    at[2] = std::clamp<std::int64_t>(at[2], 0, depth - 1),
    layer = std::min<std::uint64_t>(layer, texels.layers == 0 ? 0 : texels.layers - 1);
  }
  const bool is_within = at[0] >= 0 && at[0] + bytes <= width && at[1] >= 0 && at[1] < height && at[2] >= 0 &&
                         at[2] < depth && layer < std::max(texels.layers, 1U);
  if (!is_within) return nullptr;
  return reinterpret_cast<std::byte*>(texels.data) + static_cast<u64>(at[0]) +
         static_cast<u64>(at[1]) * texels.row_pitch + (static_cast<u64>(at[2]) + layer) * texels.slice_pitch;
}

/// sust.p: registers of 32 bits to the surface's own format.
void write_formatted(const Texels& texels, std::byte* to, const std::array<u64, 4>& values) {
  for (unsigned i = 0; i < texels.channels; ++i) {
    auto raw = static_cast<u32>(values[i]);
    if (texels.channel == Channel::f16) raw = float_to_half(bits<float>(raw));
    std::memcpy(to + i * bytes_of(texels.channel), &raw, bytes_of(texels.channel));
  }
}

void reduce(ptx::AtomicOp op, Type type, std::byte* at, u64 value) {
  const auto combine = [&](u64 old) -> u64 {
    const bool is_signed = type == Type::s32 || type == Type::s64;
    const bool is_less = type == Type::s32 ? static_cast<std::int32_t>(value) < static_cast<std::int32_t>(old)
                         : is_signed       ? static_cast<std::int64_t>(value) < static_cast<std::int64_t>(old)
                                           : value < old;
    switch (op) {
      case ptx::AtomicOp::add: return old + value;
      case ptx::AtomicOp::min: return is_less ? value : old;
      case ptx::AtomicOp::max: return is_less ? old : value;
      case ptx::AtomicOp::logic_and: return old & value;
      default: return old | value;
    }
  };
  if (ptx::bytes_of(type) == 8) {
    auto* word = reinterpret_cast<u64*>(at);
    u64 old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, combine(old), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
  } else {
    auto* word = reinterpret_cast<u32*>(at);
    u32 old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, static_cast<u32>(combine(old)), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {}
  }
}

const Step* on_surface(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  const auto use = use_of(warp, step);
  const bool is_load = from.op == Op::suld;
  const auto& object = from.o[is_load ? 1 : 0];
  const auto& list = from.o[is_load ? 2 : 1];
  const auto& values = from.o[is_load ? 0 : 2];
  const unsigned size = ptx::bytes_of(from.type);
  const auto form = form_of(use.texture.geometry);
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u64 handle = handle_of(warp, object, lane);
    const auto* surface = warp.block->worker().reader.now().surface(handle);
    if (surface == nullptr) return warp.fault(Fault::Kind::bad_object, step, lane, handle);
    const unsigned bytes = use.texture.is_formatted ? surface->texels.texel_bytes() : size * values.count;
    std::array<std::int64_t, 3> at{};
    const u64 layer = form.is_layered ? static_cast<u32>(coordinate_bits(warp, use.listed(list, 0), lane)) : 0;
    for (unsigned i = 0; i < form.dimensions && i + form.is_layered < list.count; ++i) {
      at[i] = static_cast<std::int32_t>(
          static_cast<u32>(coordinate_bits(warp, use.listed(list, i + form.is_layered), lane)));
    }
    std::byte* const place = place_in(surface->texels, use.texture, at, layer, bytes);
    if (place == nullptr && use.texture.clamp == ptx::Clamp::trap)
      return warp.fault(Fault::Kind::surface_bounds, step, lane, handle, bytes, !is_load);
    if (is_load) {
      for (unsigned i = 0; i < values.count; ++i) {
        u64 value = 0;
        if (place != nullptr) std::memcpy(&value, place + std::size_t{i} * size, size);
        put(warp, use.listed(values, i), lane, value);
      }
    } else if (place != nullptr) {
      std::array<u64, 4> given{};
      for (unsigned i = 0; i < values.count && i < 4; ++i)
        given[i] = coordinate_bits(warp, use.listed(values, i), lane);
      if (from.op == Op::sured) {
        reduce(from.atomic, from.type, place, given[0]);
      } else if (use.texture.is_formatted) {
        write_formatted(surface->texels, place, given);
      } else {
        for (unsigned i = 0; i < values.count && i < 4; ++i)
          std::memcpy(place + std::size_t{i} * size, &given[i], size);
      }
    }
  }
  return step + 1;
}

}  // namespace

Handler texture_handler(const Making&, const Instruction& from, Step&) {
  switch (from.op) {
    case Op::tex:
    case Op::tld4: return fetches;
    case Op::txq:
    case Op::suq: return asks;
    case Op::suld:
    case Op::sust:
    case Op::sured: return on_surface;
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
