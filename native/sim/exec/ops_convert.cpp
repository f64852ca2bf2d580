// cvt: the conversions that programs are full of in vector code, all others one lane at a time.
#include <bit>

#include "sim/exec/convert.h"
#include "sim/exec/narrow.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"

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

/// From a register to another by way of the narrower integer type.
template <class D, class A, class Middle>
struct Cut : Shape<D, A> {
  FLEXRACK_OPERATION(Cut, 1, true)
  FLEXRACK_INLINE D operator()(A a) const { return static_cast<D>(static_cast<Middle>(a)); }
};

/// To nearest.
template <class D, class A>
struct Cast : Shape<D, A> {
  FLEXRACK_OPERATION(Cast, 1, true)
  FLEXRACK_INLINE D operator()(A a) const { return static_cast<D>(a); }
};
template <bool Ftz>
struct DoubleToFloat : Shape<float, double> {
  FLEXRACK_OPERATION(DoubleToFloat, 1, true)
  FLEXRACK_INLINE float operator()(double a) const { return result<Ftz, false>(static_cast<float>(a)); }
};
template <bool Ftz>
struct FloatToDouble : Shape<double, float> {
  FLEXRACK_OPERATION(FloatToDouble, 1, true)
  FLEXRACK_INLINE double operator()(float a) const { return static_cast<double>(operand<Ftz>(a)); }
};
struct HalfToFloat : Shape<float, u16> {
  FLEXRACK_OPERATION(HalfToFloat, 1, true)
  FLEXRACK_INLINE float operator()(u16 a) const { return nan_to_one(half_to_float(a)); }
};
struct BfloatToFloat : Shape<float, u16> {
  FLEXRACK_OPERATION(BfloatToFloat, 1, true)
  FLEXRACK_INLINE float operator()(u16 a) const { return nan_to_one(bfloat_to_float(a)); }
};
struct FloatToHalf : Shape<u16, float> {
  FLEXRACK_OPERATION(FloatToHalf, 1, true)
  FLEXRACK_INLINE u16 operator()(float a) const { return float_to_half(a); }
};
struct FloatToBfloat : Shape<u16, float> {
  FLEXRACK_OPERATION(FloatToBfloat, 1, true)
  FLEXRACK_INLINE u16 operator()(float a) const { return float_to_bfloat(a); }
};

/// Toward zero, as integers clamped to the type's range; NaN is 0.
template <class D, bool Ftz>
struct Truncate : Shape<D, float> {
  FLEXRACK_OPERATION(Truncate, 1, true)
  FLEXRACK_INLINE D operator()(float a) const {
    constexpr float kAbove = std::is_signed_v<D> ? 2147483648.0f : 4294967296.0f,
                    kBelow = std::is_signed_v<D> ? -2147483648.0f : 0.0f;
    const float x = operand<Ftz>(a);
    const bool is_within = (x > kBelow) & (x < kAbove);
    const D inside = static_cast<D>(static_cast<s64>(is_within ? x : 0.0f));
    const D outside = x >= kAbove   ? static_cast<D>(~u32{0} >> (std::is_signed_v<D> ? 1 : 0))
                      : x <= kBelow ? static_cast<D>(std::is_signed_v<D> ? 0x80000000U : 0U)
                                    : D{0};
    return is_within ? inside : outside;
  }
};

/// Any conversion of one value.
template <class D, class A>
struct Any : Shape<D, A> {
  static constexpr unsigned kSources = 1;
  static constexpr bool kIsVector = false;
  explicit Any(const Step& step) : convert(*step.source) {}
  D operator()(A a) const { return static_cast<D>(convert(a)); }
  Conversion convert;
};

template <class D, class A>
Handler cut_by(Type middle) {
  switch (middle) {
    case Type::u8:
    case Type::b8: return handler<Cut<D, A, u8>>();
    case Type::s8: return handler<Cut<D, A, s8>>();
    case Type::u16:
    case Type::b16: return handler<Cut<D, A, u16>>();
    case Type::s16: return handler<Cut<D, A, s16>>();
    case Type::u32:
    case Type::b32: return handler<Cut<D, A, u32>>();
    case Type::s32: return handler<Cut<D, A, s32>>();
    case Type::u64:
    case Type::b64: return handler<Cut<D, A, u64>>();
    case Type::s64: return handler<Cut<D, A, s64>>();
    default: return nullptr;
  }
}

/// The pair of register widths, each of 16, 32 and 64 bits.
template <template <class, class> class Choose>
Handler by_widths(Width d, Width a, Type type) {
  switch (d) {
    case Width::w16:
      return a == Width::w16   ? Choose<u16, u16>::of(type)
             : a == Width::w32 ? Choose<u16, u32>::of(type)
                               : Choose<u16, u64>::of(type);
    case Width::w32:
      return a == Width::w16   ? Choose<u32, u16>::of(type)
             : a == Width::w32 ? Choose<u32, u32>::of(type)
                               : Choose<u32, u64>::of(type);
    case Width::w64:
      return a == Width::w16   ? Choose<u64, u16>::of(type)
             : a == Width::w32 ? Choose<u64, u32>::of(type)
                               : Choose<u64, u64>::of(type);
    default: return nullptr;
  }
}
template <class D, class A>
struct ChooseCut {
  static Handler of(Type middle) { return cut_by<D, A>(middle); }
};
template <class D, class A>
struct ChooseAny {
  static Handler of(Type) { return handler<Any<D, A>>(); }
};

bool is_integer(Type type) { return type >= Type::b8 && type <= Type::s64 && type != Type::b128; }

unsigned register_bits(Width width) { return 8U << static_cast<unsigned>(width); }

/// Conversions in vector code; nullptr: another, or with modifiers that they do not have.
Handler fast(const Instruction& from) {
  const Type to = from.type, source = from.source_type;
  const Width d = from.o[0].width, a = from.o[1].width;
  const bool ftz = from.flags & ptx::kFtz;
  const bool is_plain_move = (from.flags & ~(ptx::kFtz | ptx::kUniform)) == 0,
             is_nearest = from.rounding == ptx::Rounding::rn || from.rounding == ptx::Rounding::none;
  if (!is_plain_move) return nullptr;
  const auto is = [&](Type wanted, Width to_width, Type wanted_source, Width source_width) {
    return to == wanted && d == to_width && source == wanted_source && a == source_width;
  };
  if (is_nearest) {
    if (is(Type::f32, Width::w32, Type::s32, Width::w32)) return handler<Cast<float, s32>>();
    if (is(Type::f32, Width::w32, Type::u32, Width::w32)) return handler<Cast<float, u32>>();
    if (is(Type::f64, Width::w64, Type::s32, Width::w32)) return handler<Cast<double, s32>>();
    if (is(Type::f64, Width::w64, Type::u32, Width::w32)) return handler<Cast<double, u32>>();
    if (is(Type::f64, Width::w64, Type::f32, Width::w32))
      return ftz ? handler<FloatToDouble<true>>() : handler<FloatToDouble<false>>();
    if (is(Type::f32, Width::w32, Type::f64, Width::w64))
      return ftz ? handler<DoubleToFloat<true>>() : handler<DoubleToFloat<false>>();
    if (ftz) return nullptr;
    if (is(Type::f32, Width::w32, Type::f16, Width::w16)) return handler<HalfToFloat>();
    if (is(Type::f32, Width::w32, Type::bf16, Width::w16)) return handler<BfloatToFloat>();
    if (is(Type::f16, Width::w16, Type::f32, Width::w32)) return handler<FloatToHalf>();
    if (is(Type::bf16, Width::w16, Type::f32, Width::w32)) return handler<FloatToBfloat>();
    return nullptr;
  }
  if (from.rounding != ptx::Rounding::rzi) return nullptr;
  if (is(Type::s32, Width::w32, Type::f32, Width::w32))
    return ftz ? handler<Truncate<s32, true>>() : handler<Truncate<s32, false>>();
  if (is(Type::u32, Width::w32, Type::f32, Width::w32))
    return ftz ? handler<Truncate<u32, true>>() : handler<Truncate<u32, false>>();
  return nullptr;
}

u64 raw_of(const Warp& warp, const ptx::Operand& operand, unsigned lane) {
  const At at = place_of(operand);
  switch (operand.width) {
    case Width::w16: return warp.registers<const u16>(at)[lane];
    case Width::w64: return warp.registers<const u64>(at)[lane];
    default: return warp.registers<const u32>(at)[lane];
  }
}

void put_raw(Warp& warp, const ptx::Operand& operand, unsigned lane, u64 value) {
  const At at = place_of(operand);
  switch (operand.width) {
    case Width::w16: warp.registers<u16>(at)[lane] = static_cast<u16>(value); break;
    case Width::w64: warp.registers<u64>(at)[lane] = value; break;
    default: warp.registers<u32>(at)[lane] = static_cast<u32>(value); break;
  }
}

bool is_pair(Type type) {
  switch (type) {
    case Type::f16x2:
    case Type::bf16x2:
    case Type::e4m3x2:
    case Type::e5m2x2:
    case Type::e2m3x2:
    case Type::e3m2x2:
    case Type::e2m1x2:
    case Type::ue8m0x2: return true;
    default: return false;
  }
}

/// d = (a, b), the first the high part; or both halves of a pair.
const Step* to_pairs(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  const Conversion convert(from);
  const unsigned to_bits = bits_of(from.type), source_bits = bits_of(from.source_type);
  const bool has_two = from.o[2].kind != ptx::Operand::Kind::none;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u64 a = raw_of(warp, from.o[1], lane);
    const u64 high = convert(has_two ? a : a >> source_bits),
              low = convert(has_two ? raw_of(warp, from.o[2], lane) : a);
    put_raw(warp, from.o[0], lane, (high << to_bits) | (low & ((u64{1} << to_bits) - 1)));
  }
  return step + 1;
}

/// Clamped parts of 2, 4, 8 or 16 bits one after the other; where there is a third source, in front of them.
const Step* pack_parts(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  const unsigned width = bits_of(from.type);
  const bool is_signed = ptx::is_signed(from.type);
  const s64 least = is_signed ? -(s64{1} << (width - 1)) : 0,
            greatest = is_signed ? (s64{1} << (width - 1)) - 1 : (s64{1} << width) - 1;
  const auto part = [&](u64 raw) {
    const s64 value = static_cast<s32>(raw);
    return static_cast<u64>(value < least ? least : value > greatest ? greatest : value) & ((u64{1} << width) - 1);
  };
  const bool has_third = from.o[3].kind != ptx::Operand::Kind::none;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u64 pair = part(raw_of(warp, from.o[1], lane)) << width | part(raw_of(warp, from.o[2], lane));
    put_raw(warp, from.o[0], lane, has_third ? raw_of(warp, from.o[3], lane) << (2 * width) | pair : pair);
  }
  return step + 1;
}

}  // namespace

Type middle_type(const Instruction& from) {
  const unsigned to_bits = bits_of(from.type), source_bits = bits_of(from.source_type),
                 d_bits = register_bits(from.o[0].width);
  // Cut to the result's type: what is above it comes from its own sign.
  if (to_bits <= source_bits) return from.type;
  // The source's sign fills the result's type, and that the register, if it is no wider or the sign is the same.
  if (to_bits == d_bits || ptx::is_signed(from.type) == ptx::is_signed(from.source_type) ||
      !ptx::is_signed(from.source_type))
    return from.source_type;
  return Type::none;
}

Handler convert_handler(const Instruction& from) {
  if (from.op == Op::cvt_pack) return pack_parts;
  if (from.op != Op::cvt) return nullptr;
  if (is_pair(from.type) || is_pair(from.source_type)) return to_pairs;
  if (const auto found = fast(from)) return found;
  if (is_integer(from.type) && is_integer(from.source_type) && (from.flags & ptx::kSaturate) == 0) {
    const Type middle = middle_type(from);
    if (middle != Type::none) return by_widths<ChooseCut>(from.o[0].width, from.o[1].width, middle);
  }
  return by_widths<ChooseAny>(from.o[0].width, from.o[1].width, from.type);
}

}  // namespace flexrack::sim::exec
