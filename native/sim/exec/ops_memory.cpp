// ld and st (PTX ISA 9.0, 9.7.9.8 and 9.7.9.11).
#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/exec/access.h"
#include "sim/exec/block.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"
#include "sim/exec/strong_access.h"

namespace flexrack::sim::exec {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using ptx::Width;

enum class Spread : u8 { elsewhere, contiguous, uniform, scattered };

/// Where the lanes of an access may go, without a look at the memory map.
struct Reach {
  std::uintptr_t origin = 0;  ///< what an address counts from
  u64 begin = 0, limit = 0;   ///< the least address, and how far above it one may be
  bool is_usable = false;
};

FLEXRACK_INLINE Reach memory_reach(Warp& warp, const Step* step, u32 size, bool is_write) {
  const auto& kept = warp.ranges->of(step);
  const u64 span = is_write ? kept.write_span : kept.read_span;
  return {0, kept.begin, span - size, span >= size};
}

FLEXRACK_INLINE Reach shared_reach(Warp& warp, u32 size) {
  const u32 bytes = warp.block->shared_bytes();
  return {reinterpret_cast<std::uintptr_t>(warp.block->shared()), 0, u64{bytes} - size, bytes >= size};
}

template <class M>
FLEXRACK_INLINE M fetch(std::uintptr_t from) {
  M value;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(from), sizeof value);
  return value;
}
template <class M>
FLEXRACK_INLINE void put(std::uintptr_t to, M value) {
  __builtin_memcpy(reinterpret_cast<void*>(to), &value, sizeof value);
}

/// Whether the base register is one of several results.
FLEXRACK_INLINE bool is_overwritten(const Step* step) {
  return step->a == step->d || step->a == step->b || step->a == step->c || step->a == step->e;
}

/// Where the k-th element of a vector is: of eight the others are in the instruction's list.
At element_at(const Step* step, unsigned k) {
  const At places[4] = {step->d, step->b, step->c, step->e};
  return k < 4 ? places[k] : place_of(step->extra[k]);
}

template <class M, class D>
const Step* loads_anywhere(Warp& warp, const Step* step) {
  const unsigned count = step->source->count;
  if (!locate(warp, step, static_cast<u32>(sizeof(M)) * count, false)) return nullptr;
  for (unsigned k = 0; k < count; ++k) {
    const At place = element_at(step, k);
    if (place == kNowhere) continue;
    auto* d = warp.registers<D>(place);
    for (u32 left = warp.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      d[lane] = static_cast<D>(fetch<M>(reinterpret_cast<std::uintptr_t>(warp.targets[lane]) + k * sizeof(M)));
    }
  }
  return step + 1;
}

template <class M, class D>
const Step* stores_anywhere(Warp& warp, const Step* step) {
  const unsigned count = step->source->count;
  if (!locate(warp, step, static_cast<u32>(sizeof(M)) * count, true)) return nullptr;
  for (unsigned k = 0; k < count; ++k) {
    const auto* d = warp.registers<const D>(element_at(step, k));
    for (u32 left = warp.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      put<M>(reinterpret_cast<std::uintptr_t>(warp.targets[lane]) + k * sizeof(M), static_cast<M>(d[lane]));
    }
  }
  return step + 1;
}

/// What is reached may lie anywhere in the frames of .local and .param: then nobody else reads it.
FLEXRACK_INLINE bool is_aligned(const void* at, u32 size) {
  return (reinterpret_cast<std::uintptr_t>(at) & (std::min(size, 16U) - 1)) == 0;
}

/// volatile, relaxed, acquire: each lane's access is one, of all elements of a vector, in order; a strand that reads
/// the same again and again is known to wait.
template <class M, class D>
const Step* loads_strong(Warp& warp, const Step* step) {
  const unsigned count = step->source->count;
  const u32 size = static_cast<u32>(sizeof(M)) * count;
  if (!locate(warp, step, size, false)) return nullptr;
  At places[8];
  for (unsigned k = 0; k < count; ++k) places[k] = element_at(step, k);
  u64 last = 0;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    M elements[8];
    if (is_aligned(warp.targets[lane], size)) {
      load_whole(elements, warp.targets[lane], size);
    } else {
      std::memcpy(elements, warp.targets[lane], size);
    }
    last = 0;
    for (unsigned k = 0; k < count; ++k) {
      last = std::rotl(last, 7) ^ static_cast<u64>(elements[k]);
      if (places[k] != kNowhere) warp.registers<D>(places[k])[lane] = static_cast<D>(elements[k]);
    }
  }
  return warp.polled_at(step, last);
}

template <class M, class D>
const Step* stores_strong(Warp& warp, const Step* step) {
  const unsigned count = step->source->count;
  const u32 size = static_cast<u32>(sizeof(M)) * count;
  if (!locate(warp, step, size, true)) return nullptr;
  At places[8];
  for (unsigned k = 0; k < count; ++k) places[k] = element_at(step, k);
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    M elements[8];
    for (unsigned k = 0; k < count; ++k) elements[k] = static_cast<M>(warp.registers<const D>(places[k])[lane]);
    if (is_aligned(warp.targets[lane], size)) {
      store_whole(warp.targets[lane], elements, size);
    } else {
      std::memcpy(warp.targets[lane], elements, size);
    }
  }
  return step + 1;
}

/// One address for all lanes: parameters, variables.
template <class M, class D>
const Step* loads_same(Warp& warp, const Step* step) {
  const unsigned count = step->source->count;
  const u32 mask = warp.mask;
  warp.mask = mask & (0 - mask);
  const bool is_found = locate(warp, step, static_cast<u32>(sizeof(M)) * count, false);
  warp.mask = mask;
  if (!is_found) return nullptr;
  const auto from = reinterpret_cast<std::uintptr_t>(warp.targets[std::countr_zero(mask)]);
  for (unsigned k = 0; k < count; ++k) {
    const At place = element_at(step, k);
    if (place == kNowhere) continue;
    const D value = static_cast<D>(fetch<M>(from + k * sizeof(M)));
    auto* d = warp.registers<D>(place);
    if (warp.is_full()) {
      FLEXRACK_LANES d[i] = value;
    } else {
      for (u32 left = mask; left != 0; left &= left - 1) d[std::countr_zero(left)] = value;
    }
  }
  return step + 1;
}

namespace any_machine {
#define FLEXRACK_TARGET __attribute__((FLEXRACK_FAST))
#include "sim/exec/memory_shells.inc"
#undef FLEXRACK_TARGET
}  // namespace any_machine

#if defined(__x86_64__)
namespace with_avx2 {
#define FLEXRACK_TARGET __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"), FLEXRACK_FAST))
#include "sim/exec/memory_shells.inc"
#undef FLEXRACK_TARGET
}  // namespace with_avx2
#endif

/// How an access is made.
enum class Way : u8 { memory, shared32, shared64, same, strong, anywhere };

Way way_of(const Instruction& from, const ptx::Operand& address, bool is_load) {
  using Kind = ptx::Operand::Kind;
  if (from.order != ptx::Order::weak) return Way::strong;
  if (from.count > 4) return Way::anywhere;
  const bool is_own = from.space == ptx::Space::local;
  if (address.kind != Kind::address_register) return is_load && !is_own ? Way::same : Way::anywhere;
  switch (from.space) {
    case ptx::Space::generic:
    case ptx::Space::global:
    case ptx::Space::constant: return address.width == Width::w64 ? Way::memory : Way::anywhere;
    case ptx::Space::shared: return address.width == Width::w64 ? Way::shared64 : Way::shared32;
    default: return Way::anywhere;
  }
}

template <class M, class D>
struct Load {
  static Handler of(Way way) {
    switch (way) {
      case Way::memory: return FLEXRACK_SHELL(loads, M, D, u64, false);
      case Way::shared32: return FLEXRACK_SHELL(loads, M, D, u32, true);
      case Way::shared64: return FLEXRACK_SHELL(loads, M, D, u64, true);
      case Way::same: return loads_same<M, D>;
      case Way::strong: return loads_strong<M, D>;
      case Way::anywhere: return loads_anywhere<M, D>;
    }
    return nullptr;
  }
};
template <class M, class D>
struct Store {
  static Handler of(Way way) {
    switch (way) {
      case Way::memory: return FLEXRACK_SHELL(stores, M, D, u64, false);
      case Way::shared32: return FLEXRACK_SHELL(stores, M, D, u32, true);
      case Way::shared64: return FLEXRACK_SHELL(stores, M, D, u64, true);
      case Way::strong: return stores_strong<M, D>;
      default: return stores_anywhere<M, D>;
    }
  }
};

template <template <class, class> class Access, class M>
Handler by_width(Width width, Way way) {
  if constexpr (sizeof(M) <= 2) {
    if (width == Width::w16) return Access<M, u16>::of(way);
  }
  if constexpr (sizeof(M) <= 4) {
    if (width == Width::w32) return Access<M, u32>::of(way);
  }
  if (width == Width::w64) return Access<M, u64>::of(way);
  return nullptr;
}

/// By the type in memory and the register's width; loads extend by the sign of the type.
template <template <class, class> class Access>
Handler by_type(Type type, Width width, Way way, bool is_load) {
  const bool is_signed = is_load && ptx::is_signed(type);
  switch (ptx::bytes_of(type)) {
    case 1: return is_signed ? by_width<Access, s8>(width, way) : by_width<Access, u8>(width, way);
    case 2: return is_signed ? by_width<Access, s16>(width, way) : by_width<Access, u16>(width, way);
    case 4: return is_signed ? by_width<Access, s32>(width, way) : by_width<Access, u32>(width, way);
    case 8: return by_width<Access, u64>(width, way);
    case 16: return width == Width::w128 ? Access<u128, u128>::of(way) : nullptr;
    default: return nullptr;
  }
}

/// Puts the address and the elements' places into a step.
bool take_operands(const Making& making, const ptx::Operand& address, const ptx::Operand& value, Step& step,
                   Width& width) {
  step.a = address.kind == ptx::Operand::Kind::address_register ? address.at : kNowhere;
  step.displacement = step.source->displacement;
  if (address.kind == ptx::Operand::Kind::address_variable)
    step.displacement += static_cast<s64>(making.image.variable(address.at));
  step.b = step.c = step.e = kNowhere;
  if (value.kind != ptx::Operand::Kind::list) {
    step.d = place_of(value);
    width = value.width;
    return true;
  }
  At* const places[4] = {&step.d, &step.b, &step.c, &step.e};
  for (unsigned k = 0; k < value.count && k < 4; ++k) *places[k] = place_of(making.listed(value, k));
  step.extra = &making.listed(value, 0);
  width = making.listed(value, 0).width;
  for (unsigned k = 0; k < value.count; ++k) {
    const auto& element = making.listed(value, k);
    if (element.kind == ptx::Operand::Kind::sink) continue;
    width = element.width;
  }
  for (unsigned k = 0; k < value.count; ++k) {
    const auto& element = making.listed(value, k);
    if (element.kind != ptx::Operand::Kind::sink && element.width != width) return false;
  }
  return true;
}

}  // namespace

Handler load_handler(const Making& making, const Instruction& from, Step& step) {
  if (from.op != Op::ld) return nullptr;
  Width width{};
  if (!take_operands(making, from.o[1], from.o[0], step, width)) return nullptr;
  Way way = way_of(from, from.o[1], true);
  const At places[4] = {step.d, step.b, step.c, step.e};
  for (unsigned k = 0; k < from.count && k < 4; ++k) {
    if (places[k] == kNowhere && way != Way::same) way = Way::anywhere;  // a sink
  }
  return by_type<Load>(from.type, width, way, true);
}

Handler store_handler(const Making& making, const Instruction& from, Step& step) {
  if (from.op != Op::st) return nullptr;
  Width width{};
  if (!take_operands(making, from.o[0], from.o[1], step, width)) return nullptr;
  return by_type<Store>(from.type, width, way_of(from, from.o[0], false), false);
}

}  // namespace flexrack::sim::exec
