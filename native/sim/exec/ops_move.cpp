// mov in all its forms, and cvta, isspacep, mapa, the stack (PTX ISA 9.0, 9.7.9).
#include <algorithm>
#include <bit>

#include "sim/exec/access.h"
#include "sim/exec/block.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ typedef unsigned __int128 u128;
using ptx::Width;

template <class T>
struct Copy : Shape<T, T> {
  FLEXRACK_OPERATION(Copy, 1, true)
  FLEXRACK_INLINE T operator()(T a) const { return a; }
};

const Step* moves_predicate(Warp& warp, const Step* step) {
  warp.set_predicate(step->d, warp.predicate(step->a));
  return step + 1;
}

u128 value_of(const Warp& warp, const ptx::Operand& operand, unsigned lane) {
  const At at = place_of(operand);
  switch (operand.width) {
    case Width::w1: return warp.predicate(at) >> lane & 1;
    case Width::w16: return warp.registers<const u16>(at)[lane];
    case Width::w32: return warp.registers<const u32>(at)[lane];
    case Width::w64: return warp.registers<const u64>(at)[lane];
    case Width::w128: return warp.registers<const u128>(at)[lane];
  }
  return 0;
}

void set_value(Warp& warp, const ptx::Operand& operand, unsigned lane, u128 value) {
  const At at = place_of(operand);
  if (at == kNowhere) return;
  switch (operand.width) {
    case Width::w1: break;
    case Width::w16: warp.registers<u16>(at)[lane] = static_cast<u16>(value); break;
    case Width::w32: warp.registers<u32>(at)[lane] = static_cast<u32>(value); break;
    case Width::w64: warp.registers<u64>(at)[lane] = static_cast<u64>(value); break;
    case Width::w128: warp.registers<u128>(at)[lane] = value; break;
  }
}

/// Bits of one part; a 64-bit register from 4 halves, from 8 bytes in 16-bit registers, ...
unsigned part_bits(const ptx::Operand& whole, unsigned parts) {
  return (8U << static_cast<unsigned>(whole.width)) / parts;
}

const Step* packs(Warp& warp, const Step* step) {
  const auto& to = step->source->o[0];
  const unsigned count = step->source->o[1].count, width = part_bits(to, count);
  const u128 mask = width >= 128 ? ~u128{0} : (u128{1} << width) - 1;
  each_lane(warp.mask, [&](unsigned lane) {
    u128 value = 0;
    for (unsigned k = 0; k < count; ++k) value |= (value_of(warp, step->extra[k], lane) & mask) << (k * width);
    set_value(warp, to, lane, value);
  });
  return step + 1;
}

const Step* unpacks(Warp& warp, const Step* step) {
  const auto& whole = step->source->o[1];
  const unsigned count = step->source->o[0].count, width = part_bits(whole, count);
  const u128 mask = (u128{1} << width) - 1;
  each_lane(warp.mask, [&](unsigned lane) {
    const u128 value = value_of(warp, whole, lane);
    for (unsigned k = 0; k < count; ++k) set_value(warp, step->extra[k], lane, value >> (k * width) & mask);
  });
  return step + 1;
}

/// Two parts, the forms that programs are full of.
template <class Whole, class Part>
struct Joined : Shape<Whole, Part> {
  FLEXRACK_OPERATION(Joined, 2, true)
  FLEXRACK_INLINE Whole operator()(Part low, Part high) const {
    return static_cast<Whole>(low | static_cast<Whole>(high) << (8 * sizeof(Part)));
  }
};
template <class Whole, class Part>
const Step* parts(Warp& warp, const Step* step) {
  const auto* a = warp.registers<const Whole>(step->a);
  auto* low = step->d == kNowhere ? nullptr : warp.registers<Part>(step->d);
  auto* high = step->b == kNowhere ? nullptr : warp.registers<Part>(step->b);
  each_lane(warp.mask, [&](unsigned lane) {
    const Whole value = a[lane];
    if (low != nullptr) low[lane] = static_cast<Part>(value);
    if (high != nullptr) high[lane] = static_cast<Part>(value >> (8 * sizeof(Part)));
  });
  return step + 1;
}

Handler pack_handler(const Making& making, const Instruction& from, Step& step) {
  const auto& list = from.o[1];
  step.extra = &making.listed(list, 0);
  if (list.count == 2) {
    step.a = place_of(step.extra[0]), step.b = place_of(step.extra[1]);
    if (from.o[0].width == Width::w32 && step.extra[0].width == Width::w16) return handler<Joined<u32, u16>>();
    if (from.o[0].width == Width::w64 && step.extra[0].width == Width::w32) return handler<Joined<u64, u32>>();
  }
  return packs;
}

Handler unpack_handler(const Making& making, const Instruction& from, Step& step) {
  const auto& list = from.o[0];
  step.extra = &making.listed(list, 0);
  if (list.count == 2) {
    step.d = place_of(step.extra[0]), step.b = place_of(step.extra[1]);
    const Width part = step.extra[step.d == kNowhere ? 1 : 0].width;
    if (from.o[1].width == Width::w32 && part == Width::w16) return parts<u32, u16>;
    if (from.o[1].width == Width::w64 && part == Width::w32) return parts<u64, u32>;
  }
  return unpacks;
}

Handler fill_by_width(Width width) {
  switch (width) {
    case Width::w16: return fill_handler<u16>();
    case Width::w32: return fill_handler<u32>();
    case Width::w64: return fill_handler<u64>();
    default: return nullptr;
  }
}

/// The frame's place in local memory is known when it runs.
const Step* local_address(Warp& warp, const Step* step) {
  const u64 address = warp.frame->local + static_cast<u64>(step->displacement);
  each_lane(warp.mask, [&](unsigned lane) { set_value(warp, step->source->o[0], lane, address); });
  return step + 1;
}

Handler mov_handler(const Instruction& from) {
  switch (from.o[0].width) {
    case Width::w1: return moves_predicate;
    case Width::w16: return handler<Copy<u16>>();
    case Width::w32: return handler<Copy<u32>>();
    case Width::w64: return handler<Copy<u64>>();
    case Width::w128: return handler<Copy<u128>>();
  }
  return nullptr;
}

/// From an offset in a space to a generic address: the window's base is added, or nothing.
template <class D, class A>
struct ToGeneric : Shape<D, A> {
  static constexpr unsigned kSources = 1;
  static constexpr bool kIsVector = true;
  FLEXRACK_INLINE explicit ToGeneric(const Step& step) : base(static_cast<u64>(step.displacement)) {}
  FLEXRACK_INLINE D operator()(A a) const { return static_cast<D>(static_cast<u64>(a) + base); }
  u64 base;
};
template <class D, class A>
struct FromGeneric : Shape<D, A> {
  static constexpr unsigned kSources = 1;
  static constexpr bool kIsVector = true;
  FLEXRACK_INLINE explicit FromGeneric(const Step& step) : mask(static_cast<u64>(step.displacement)) {}
  FLEXRACK_INLINE D operator()(A a) const { return static_cast<D>(static_cast<u64>(a) & mask); }
  u64 mask;
};

bool has_window(ptx::Space space, Window& window) {
  switch (space) {
    case ptx::Space::shared:
    case ptx::Space::shared_cluster: window = Window::shared; return true;
    case ptx::Space::local: window = Window::local; return true;
    case ptx::Space::param: window = Window::param; return true;
    default: return false;
  }
}

template <template <class, class> class F>
Handler by_widths(const Instruction& from) {
  const bool is_wide = from.o[0].width == Width::w64, is_from_wide = from.o[1].width == Width::w64;
  if (is_wide) return is_from_wide ? handler<F<u64, u64>>() : handler<F<u64, u32>>();
  return is_from_wide ? handler<F<u32, u64>>() : handler<F<u32, u32>>();
}

const Step* is_in_space(Warp& warp, const Step* step) {
  u32 holds = 0;
  each_lane(warp.mask, [&](unsigned lane) {
    const auto address = static_cast<u64>(value_of(warp, step->source->o[1], lane));
    const Window window = window_of(address);
    bool is = false;
    switch (step->source->space) {
      case ptx::Space::shared: is = window == Window::shared && cluster_field(address) == 0; break;
      case ptx::Space::shared_cluster: is = window == Window::shared; break;
      case ptx::Space::local: is = window == Window::local; break;
      case ptx::Space::param: is = window == Window::param; break;
      case ptx::Space::constant: {
        const Range* range = window == Window::memory ? warp.block->worker().reader.now().find(address) : nullptr;
        is = range != nullptr && !range->is_writable;
        break;
      }
      default: is = window == Window::memory; break;
    }
    holds |= static_cast<u32>(is) << lane;
  });
  warp.set_predicate(step->d, holds);
  return step + 1;
}

/// The same place in the shared memory of another block of the cluster.
const Step* maps_to_rank(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  each_lane(warp.mask, [&](unsigned lane) {
    const auto address = static_cast<u64>(value_of(warp, from.o[1], lane)),
               rank = static_cast<u64>(value_of(warp, from.o[2], lane));
    const u64 above = from.space == ptx::Space::generic ? address >> 32 << 32 : 0;
    set_value(warp, from.o[0], lane, above | (rank + 1) << kClusterShift | shared_offset(address));
  });
  return step + 1;
}

const Step* rank_of_address(Warp& warp, const Step* step) {
  each_lane(warp.mask, [&](unsigned lane) {
    const u32 field = cluster_field(static_cast<u64>(value_of(warp, step->source->o[1], lane)));
    set_value(warp, step->source->o[0], lane, field == 0 ? warp.block->rank() : field - 1);
  });
  return step + 1;
}

/// All lanes get the same offset, of the greatest size that one asks for: their local memories are side by side.
const Step* allocates_local(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  const u32 align = 1U << from.detail;
  u64 bytes = 0;
  each_lane(warp.mask,
            [&](unsigned lane) { bytes = std::max(bytes, static_cast<u64>(value_of(warp, from.o[1], lane))); });
  const u64 begin = (u64{warp.frame->local_end} + align - 1) / align * align;
  if (begin + bytes > warp.block->local_bytes())
    return warp.fault(Fault::Kind::stack_overflow, step, static_cast<unsigned>(std::countr_zero(warp.mask)));
  warp.frame->local_end = static_cast<u32>(begin + bytes);
  each_lane(warp.mask, [&](unsigned lane) { set_value(warp, from.o[0], lane, begin); });
  return step + 1;
}

const Step* saves_stack(Warp& warp, const Step* step) {
  each_lane(warp.mask, [&](unsigned lane) { set_value(warp, step->source->o[0], lane, warp.frame->local_end); });
  return step + 1;
}

/// Only where all lanes of the frame do it at once: others may still use what is above.
const Step* restores_stack(Warp& warp, const Step* step) {
  if (warp.mask != (warp.frame->lanes & warp.live)) return step + 1;
  u64 end = 0;
  each_lane(warp.mask,
            [&](unsigned lane) { end = std::max(end, static_cast<u64>(value_of(warp, step->source->o[0], lane))); });
  if (end < warp.frame->local_end) warp.frame->local_end = static_cast<u32>(end);
  return step + 1;
}

}  // namespace

Handler move_handler(const Making& making, const Instruction& from, Step& step) {
  switch (from.op) {
    case Op::mov: return mov_handler(from);
    case Op::mov_pack: return pack_handler(making, from, step);
    case Op::mov_unpack: return unpack_handler(making, from, step);
    case Op::mov_variable:
      step.displacement = from.displacement + static_cast<std::int64_t>(making.image.variable(from.o[1].at));
      return fill_by_width(from.o[0].width);
    case Op::mov_function:
      step.displacement = static_cast<std::int64_t>(making.image.function_address(from.o[1].at));
      return fill_by_width(from.o[0].width);
    case Op::mov_shared:
    case Op::mov_param: step.displacement = from.displacement; return fill_by_width(from.o[0].width);
    case Op::mov_local: step.displacement = from.displacement; return local_address;
    default: return nullptr;
  }
}

Handler address_handler(const Making&, const Instruction& from, Step& step) {
  Window window{};
  switch (from.op) {
    case Op::cvta:
      step.displacement = has_window(from.space, window) ? static_cast<std::int64_t>(window_base(window)) : 0;
      return by_widths<ToGeneric>(from);
    case Op::cvta_to:
      step.displacement = has_window(from.space, window) ? std::int64_t{0xffffffff} : std::int64_t{-1};
      return by_widths<FromGeneric>(from);
    case Op::isspacep: return is_in_space;
    case Op::mapa: return maps_to_rank;
    case Op::getctarank: return rank_of_address;
    case Op::alloca_: return allocates_local;
    case Op::stacksave: return saves_stack;
    case Op::stackrestore: return restores_stack;
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
