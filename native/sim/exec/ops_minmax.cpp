// min and max of all types, with two and three operands (PTX ISA 9.0, 9.7.1.16, 9.7.3.11, 9.7.4.8).
#include "sim/exec/halves.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;

template <class T>
struct MinI : Shape<T, T> {
  FLEXRACK_OPERATION(MinI, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct MaxI : Shape<T, T> {
  FLEXRACK_OPERATION(MaxI, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};

template <class T, bool Ftz>
struct MinF : Shape<T, T> {
  FLEXRACK_OPERATION(MinF, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const { return least(operand<Ftz>(a), operand<Ftz>(b)); }
};
template <class T, bool Ftz>
struct MaxF : Shape<T, T> {
  FLEXRACK_OPERATION(MaxF, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const { return greatest(operand<Ftz>(a), operand<Ftz>(b)); }
};

/// All modifiers, for floats as f32: of halves too, whose values it keeps.
struct Chooser {
  explicit Chooser(const Step& step) : flags(step.source->flags), is_min(step.source->op == Op::min) {}
  float operator()(float a, float b) const {
    if (flags & ptx::kFtz) a = flush(a), b = flush(b);
    if (flags & ptx::kNan && (a != a || b != b)) return bits<float>(kNan32);
    if (!(flags & ptx::kXorSign)) return is_min ? least(a, b) : greatest(a, b);
    const bool sign = has_sign(a) != has_sign(b);
    const float chosen = is_min ? least(std::fabs(a), std::fabs(b)) : greatest(std::fabs(a), std::fabs(b));
    return chosen != chosen ? chosen : sign ? -chosen : chosen;
  }
  std::uint16_t flags;
  bool is_min;
};
template <unsigned Sources>
struct ModifiedF32 : Shape<float, float> {
  static constexpr unsigned kSources = Sources;
  static constexpr bool kIsVector = false;
  explicit ModifiedF32(const Step& step) : choose(step) {}
  float operator()(float a, float b) const { return choose(a, b); }
  float operator()(float a, float b, float c) const { return choose(choose(a, b), c); }
  Chooser choose;
};
template <class H, unsigned Sources = 2>
struct MinMaxH : Shape<u16, u16> {
  static constexpr unsigned kSources = Sources;
  static constexpr bool kIsVector = false;
  explicit MinMaxH(const Step& step) : choose(step) {}
  u16 in(u16 value) const { return choose.flags & ptx::kFtz ? H::flush(value) : value; }
  u16 operator()(u16 a, u16 b) const { return H::from_float(choose(H::to_float(in(a)), H::to_float(in(b)))); }
  u16 operator()(u16 a, u16 b, u16 c) const { return (*this)((*this)(a, b), c); }
  Chooser choose;
};

/// 16-bit integers in pairs, and .relu of signed ones.
template <class T, bool Min, bool Relu>
struct PairI : Shape<u32, u32> {
  FLEXRACK_OPERATION(PairI, 2, true)
  FLEXRACK_INLINE static u16 one(T a, T b) {
    const T chosen = (a < b) == Min ? a : b;
    return static_cast<u16>(Relu && chosen < 0 ? T{0} : chosen);
  }
  FLEXRACK_INLINE u32 operator()(u32 a, u32 b) const {
    return one(static_cast<T>(a), static_cast<T>(b)) |
           static_cast<u32>(one(static_cast<T>(a >> 16), static_cast<T>(b >> 16))) << 16;
  }
};
template <bool Min>
struct ReluI : Shape<std::int32_t, std::int32_t> {
  FLEXRACK_OPERATION(ReluI, 2, true)
  FLEXRACK_INLINE std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    const std::int32_t chosen = (a < b) == Min ? a : b;
    return chosen < 0 ? 0 : chosen;
  }
};

template <template <class> class F>
Handler of_integers(Type type) {
  switch (type) {
    case Type::u16: return handler<F<u16>>();
    case Type::s16: return handler<F<std::int16_t>>();
    case Type::u32: return handler<F<u32>>();
    case Type::s32: return handler<F<std::int32_t>>();
    case Type::u64: return handler<F<std::uint64_t>>();
    case Type::s64: return handler<F<std::int64_t>>();
    default: return nullptr;
  }
}

template <bool Min>
Handler of_pairs(const Instruction& from) {
  const bool relu = from.flags & ptx::kRelu;
  if (from.type == Type::u16x2) return handler<PairI<u16, Min, false>>();
  if (from.type == Type::s16x2)
    return relu ? handler<PairI<std::int16_t, Min, true>>() : handler<PairI<std::int16_t, Min, false>>();
  return handler<ReluI<Min>>();
}

template <class H>
Handler of_halves(bool is_pair, bool has_three) {
  if (has_three) return is_pair ? handler<BothHalves<MinMaxH<H, 3>>>() : handler<MinMaxH<H, 3>>();
  return is_pair ? handler<BothHalves<MinMaxH<H>>>() : handler<MinMaxH<H>>();
}

Handler of_floats(const Instruction& from, bool has_three) {
  const bool is_min = from.op == Op::min, ftz = from.flags & ptx::kFtz;
  if (from.type == Type::f64) return is_min ? handler<MinF<double, false>>() : handler<MaxF<double, false>>();
  if (has_three) return handler<ModifiedF32<3>>();
  if (from.flags & (ptx::kNan | ptx::kXorSign)) return handler<ModifiedF32<2>>();
  if (ftz) return is_min ? handler<MinF<float, true>>() : handler<MaxF<float, true>>();
  return is_min ? handler<MinF<float, false>>() : handler<MaxF<float, false>>();
}

}  // namespace

Handler minmax_handler(const Instruction& from) {
  if (from.op != Op::min && from.op != Op::max) return nullptr;
  const bool is_min = from.op == Op::min, has_three = from.o[3].kind != ptx::Operand::Kind::none;
  switch (from.type) {
    case Type::f32:
    case Type::f64: return of_floats(from, has_three);
    case Type::f16: return of_halves<HalfFormat>(false, has_three);
    case Type::f16x2: return of_halves<HalfFormat>(true, has_three);
    case Type::bf16: return of_halves<BfloatFormat>(false, has_three);
    case Type::bf16x2: return of_halves<BfloatFormat>(true, has_three);
    case Type::u16x2:
    case Type::s16x2: return is_min ? of_pairs<true>(from) : of_pairs<false>(from);
    default:
      if (from.flags & ptx::kRelu)
        return from.type == Type::s32 ? (is_min ? of_pairs<true>(from) : of_pairs<false>(from)) : nullptr;
      return is_min ? of_integers<MinI>(from.type) : of_integers<MaxI>(from.type);
  }
}

}  // namespace flexrack::sim::exec
