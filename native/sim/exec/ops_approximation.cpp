// sin, cos, lg2, ex2, tanh (.approx; PTX ISA 9.0, 9.7.3.18 to 22 and 9.7.4): series in double precision, so that the
// float that results is the nearest one but for a few; all of it vector code.
#include <iterator>
#include <numbers>

#include "sim/exec/exp2.h"
#include "sim/exec/narrow.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

/// To the nearest integer, of magnitudes below 2^51: adding 1.5 * 2^52 leaves no bits for a fraction.
FLEXRACK_INLINE double nearest_integer(double value) {
  const double sum = value + kNoFraction;
  return sum - kNoFraction;
}

/// 2^x for x in -1000..1000.
FLEXRACK_INLINE double exp2_series(double x) {
  const double magic = x + kNoFraction, f = x - (magic - kNoFraction);
  double sum = kExp2Series[0];
  for (unsigned i = 1; i < std::size(kExp2Series); ++i) sum = __builtin_fma(sum, f, kExp2Series[i]);
  return sum * bits<double>((bits<std::uint64_t>(magic) + 1023) << 52);
}

FLEXRACK_INLINE float exp2_float(float a) {
  const float within = a < kExp2Least ? kExp2Least : a > kExp2Greatest ? kExp2Greatest : a;
  const float value = static_cast<float>(exp2_series(static_cast<double>(a != a ? 0.0f : within)));
  return a != a ? bits<float>(kNan32) : value;
}

/// m 2^e with m in [1/sqrt 2, sqrt 2): e + 2/ln 2 (t + t^3/3 + ...), t = (m-1)/(m+1), |t| < 0.172.
FLEXRACK_INLINE float log2_float(float a) {
  const auto raw = bits<std::uint64_t>(static_cast<double>(a));
  // 0x3fe6a09e667f3bcd is 1/sqrt 2: counting exponents from there.
  const auto shifted = static_cast<std::int64_t>(raw) - 0x3fe6a09e667f3bcd;
  const auto exponent = static_cast<std::int32_t>(static_cast<std::uint64_t>(shifted) >> 52) << 20 >> 20;
  const auto mantissa = bits<double>(raw - (static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)) << 52));
  const double t = (mantissa - 1.0) / (mantissa + 1.0), s = t * t;
  double sum = 1.0 / 15;
  sum = sum * s + 1.0 / 13;
  sum = sum * s + 1.0 / 11;
  sum = sum * s + 1.0 / 9;
  sum = sum * s + 1.0 / 7;
  sum = sum * s + 1.0 / 5;
  sum = sum * s + 1.0 / 3;
  sum = sum * s + 1.0;
  const float value = static_cast<float>(static_cast<double>(exponent) + 2.0 / std::numbers::ln2 * t * sum);
  const float special = a == 0.0f ? -HUGE_VALF : a > 0.0f ? HUGE_VALF : bits<float>(kNan32);
  return ((a > 0.0f) & (a < HUGE_VALF)) ? value : special;
}

/// The sine of x + quarters * pi/2.
FLEXRACK_INLINE float sine(float a, std::int32_t quarters) {
  // Beyond 2^48 a float does not tell an angle.
  const double x = __builtin_fabsf(a) < 281474976710656.0f ? static_cast<double>(a) : 0.0;
  const double turns = nearest_integer(x * (2.0 / std::numbers::pi));
  // pi/2 in two parts, each product added with one rounding.
  const double r = __builtin_fma(-turns, 0x1.1a62633145c07p-54, __builtin_fma(-turns, 0x1.921fb54442d18p+0, x));
  const double s = r * r;
  double odd = 1.0 / 6227020800;
  odd = odd * s - 1.0 / 39916800;
  odd = odd * s + 1.0 / 362880;
  odd = odd * s - 1.0 / 5040;
  odd = odd * s + 1.0 / 120;
  odd = odd * s - 1.0 / 6;
  odd = (odd * s + 1.0) * r;
  double even = 1.0 / 479001600;
  even = even * s - 1.0 / 3628800;
  even = even * s + 1.0 / 40320;
  even = even * s - 1.0 / 720;
  even = even * s + 1.0 / 24;
  even = even * s - 0.5;
  even = even * s + 1.0;
  // Only the two low bits of the count matter: they are the low bits of the sum with 1.5 * 2^52.
  const auto count =
      static_cast<std::uint32_t>(bits<std::uint64_t>(turns + kNoFraction)) + static_cast<std::uint32_t>(quarters);
  const double chosen = count & 1 ? even : odd;
  const float value = static_cast<float>(count & 2 ? -chosen : chosen);
  const float at_zero = ((a == 0.0f) & (quarters == 0)) ? a : value;
  return __builtin_fabsf(a) < HUGE_VALF ? at_zero : bits<float>(kNan32);
}

FLEXRACK_INLINE float tanh_float(float a) {
  const double x = a < -20.0f ? -20.0 : a > 20.0f ? 20.0 : static_cast<double>(a);
  const double e = exp2_series((a != a ? 0.0 : x) * (2.0 / std::numbers::ln2));
  const float value = static_cast<float>((e - 1.0) / (e + 1.0));
  const float kept = a == 0.0f ? a : value;
  return a != a ? bits<float>(kNan32) : kept;
}

struct Sin {
  FLEXRACK_INLINE static float of(float a) { return sine(a, 0); }
};
struct Cos {
  FLEXRACK_INLINE static float of(float a) { return sine(a, 1); }
};
struct Log2 {
  FLEXRACK_INLINE static float of(float a) { return log2_float(a); }
};
struct Exp2 {
  FLEXRACK_INLINE static float of(float a) { return exp2_float(a); }
};
struct Tanh {
  FLEXRACK_INLINE static float of(float a) { return tanh_float(a); }
};

template <class F, bool Ftz>
struct Float : Shape<float, float> {
  FLEXRACK_OPERATION(Float, 1, true)
  FLEXRACK_INLINE float operator()(float a) const { return operand<Ftz>(F::of(operand<Ftz>(a))); }
};
template <class F>
struct HalfOf : Shape<std::uint16_t, std::uint16_t> {
  FLEXRACK_OPERATION(HalfOf, 1, true)
  FLEXRACK_INLINE std::uint16_t operator()(std::uint16_t a) const { return float_to_half(F::of(half_to_float(a))); }
};
template <class F>
struct BfloatOf : Shape<std::uint16_t, std::uint16_t> {
  FLEXRACK_OPERATION(BfloatOf, 1, true)
  FLEXRACK_INLINE std::uint16_t operator()(std::uint16_t a) const {
    return float_to_bfloat(operand<true>(F::of(operand<true>(bfloat_to_float(a)))));
  }
};
template <class Half>
struct PairOf : Shape<std::uint32_t, std::uint32_t> {
  static constexpr unsigned kSources = 1;
  static constexpr bool kIsVector = true;
  FLEXRACK_INLINE explicit PairOf(const Step& step) : half(step) {}
  FLEXRACK_INLINE std::uint32_t operator()(std::uint32_t a) const {
    return half(static_cast<std::uint16_t>(a)) | static_cast<std::uint32_t>(half(static_cast<std::uint16_t>(a >> 16)))
                                                     << 16;
  }
  Half half;
};

template <class F>
Handler of_type(const Instruction& from) {
  switch (from.type) {
    case Type::f32: return from.flags & ptx::kFtz ? handler<Float<F, true>>() : handler<Float<F, false>>();
    case Type::f16: return handler<HalfOf<F>>();
    case Type::f16x2: return handler<PairOf<HalfOf<F>>>();
    case Type::bf16: return handler<BfloatOf<F>>();
    case Type::bf16x2: return handler<PairOf<BfloatOf<F>>>();
    default: return nullptr;
  }
}

}  // namespace

Handler approximation_handler(const Instruction& from) {
  switch (from.op) {
    case Op::sin: return from.type == Type::f32 ? of_type<Sin>(from) : nullptr;
    case Op::cos: return from.type == Type::f32 ? of_type<Cos>(from) : nullptr;
    case Op::lg2: return from.type == Type::f32 ? of_type<Log2>(from) : nullptr;
    case Op::ex2: return of_type<Exp2>(from);
    case Op::tanh: return of_type<Tanh>(from);
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
