// Arithmetic of f32 and f64, and f32x2 (PTX ISA 9.0, 9.7.3): to nearest in vector code, other roundings one lane at a
// time.
#include "sim/exec/ops.h"
#include "sim/exec/rounding.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

/// Whose NaN a result in f64 has: that of the first source which is one, made quiet; the machines' own rules differ.
template <class T>
FLEXRACK_INLINE T nan_of(T value, T a, T b = T{0}, T c = T{0}) {
  if constexpr (sizeof(T) == 4) {
    return value;
  } else {
    const T last = c != c ? c : bits<T>(std::uint64_t{0xfff8000000000000});
    const T second = b != b ? b : last, first = a != a ? a : second;
    return value != value ? bits<T>(bits<std::uint64_t>(first) | 0x0008000000000000U) : value;
  }
}

template <class T, bool Ftz, bool Sat>
struct AddF : Shape<T, T> {
  FLEXRACK_OPERATION(AddF, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const {
    return result<Ftz, Sat>(nan_of(operand<Ftz>(a) + operand<Ftz>(b), a, b));
  }
};
template <class T, bool Ftz, bool Sat>
struct SubF : Shape<T, T> {
  FLEXRACK_OPERATION(SubF, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const {
    return result<Ftz, Sat>(nan_of(operand<Ftz>(a) - operand<Ftz>(b), a, b));
  }
};
template <class T, bool Ftz, bool Sat>
struct MulF : Shape<T, T> {
  FLEXRACK_OPERATION(MulF, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const {
    return result<Ftz, Sat>(nan_of(operand<Ftz>(a) * operand<Ftz>(b), a, b));
  }
};
template <class T, bool Ftz, bool Sat>
struct FmaF : Shape<T, T> {
  FLEXRACK_OPERATION(FmaF, 3, true)
  FLEXRACK_INLINE T operator()(T a, T b, T c) const {
    if constexpr (sizeof(T) == 4)
      return result<Ftz, Sat>(__builtin_fmaf(operand<Ftz>(a), operand<Ftz>(b), operand<Ftz>(c)));
    return result<Ftz, Sat>(nan_of(static_cast<T>(__builtin_fma(a, b, c)), a, b, c));
  }
};
template <class T, bool Ftz, bool Sat>
struct DivF : Shape<T, T> {
  FLEXRACK_OPERATION(DivF, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const {
    return result<Ftz, Sat>(nan_of(operand<Ftz>(a) / operand<Ftz>(b), a, b));
  }
};
template <class T, bool Ftz, bool Sat>
struct RcpF : Shape<T, T> {
  FLEXRACK_OPERATION(RcpF, 1, true)
  FLEXRACK_INLINE T operator()(T a) const { return result<Ftz, Sat>(nan_of(T{1} / operand<Ftz>(a), a)); }
};
template <class T, bool Ftz, bool Sat>
struct SqrtF : Shape<T, T> {
  FLEXRACK_OPERATION(SqrtF, 1, true)
  FLEXRACK_INLINE T operator()(T a) const {
    if constexpr (sizeof(T) == 4) return result<Ftz, Sat>(__builtin_sqrtf(operand<Ftz>(a)));
    return result<Ftz, Sat>(nan_of(static_cast<T>(__builtin_sqrt(a)), a));
  }
};

/// 1/sqrt: f32 rounded once from the double's, that is within the .approx error of 2^-22.9.
template <class T, bool Ftz, bool Sat>
struct RsqrtF : Shape<T, T> {
  FLEXRACK_OPERATION(RsqrtF, 1, true)
  FLEXRACK_INLINE T operator()(T a) const {
    return result<Ftz, Sat>(static_cast<T>(1.0 / __builtin_sqrt(static_cast<double>(operand<Ftz>(a)))));
  }
};

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: the high 32 bits count, the low ones become zero.
template <bool Root>
struct ApproxF64 : Shape<double, double> {
  FLEXRACK_OPERATION(ApproxF64, 1, true)
  FLEXRACK_INLINE double operator()(double a) const {
    const double in = flush(bits<double>(bits<std::uint64_t>(a) & 0xffffffff00000000U));
    const double out = flush(Root ? 1.0 / __builtin_sqrt(in) : 1.0 / in);
    return bits<double>(bits<std::uint64_t>(out) & 0xffffffff00000000U);
  }
};

template <class T, bool Ftz, bool Sat>
struct AbsF : Shape<T, T> {
  FLEXRACK_OPERATION(AbsF, 1, true)
  FLEXRACK_INLINE T operator()(T a) const {
    return bits<T>(static_cast<Word<T>>(bits<Word<T>>(operand<Ftz>(a)) & ~kSign<T>));
  }
};
template <class T, bool Ftz, bool Sat>
struct NegF : Shape<T, T> {
  FLEXRACK_OPERATION(NegF, 1, true)
  FLEXRACK_INLINE T operator()(T a) const {
    return bits<T>(static_cast<Word<T>>(bits<Word<T>>(operand<Ftz>(a)) ^ kSign<T>));
  }
};
template <class T>
struct CopySign : Shape<T, T> {
  FLEXRACK_OPERATION(CopySign, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const {
    // b with the sign of a.
    return bits<T>(static_cast<Word<T>>((bits<Word<T>>(b) & ~kSign<T>) | (bits<Word<T>>(a) & kSign<T>)));
  }
};

/// What every directed rounding has in common: the modifiers are looked at each time.
template <class T>
struct Modified : Shape<T, T> {
  static constexpr bool kIsVector = false;
  explicit Modified(const Step& step)
      : mode(step.source->rounding), ftz(step.source->flags & ptx::kFtz), sat(step.source->flags & ptx::kSaturate) {}
  T in(T value) const { return ftz ? flush(value) : value; }
  T out(T value) const {
    if (ftz) value = flush(value);
    return sat ? saturate(value) : nan_to_one(value);
  }
  Rounding mode;
  bool ftz, sat;
};
template <class T>
struct AddRounded : Modified<T> {
  static constexpr unsigned kSources = 2;
  using Modified<T>::Modified;
  T operator()(T a, T b) const { return this->out(add_rounded(this->in(a), this->in(b), this->mode)); }
};
template <class T>
struct SubRounded : Modified<T> {
  static constexpr unsigned kSources = 2;
  using Modified<T>::Modified;
  T operator()(T a, T b) const { return this->out(add_rounded(this->in(a), -this->in(b), this->mode)); }
};
template <class T>
struct MulRounded : Modified<T> {
  static constexpr unsigned kSources = 2;
  using Modified<T>::Modified;
  T operator()(T a, T b) const { return this->out(mul_rounded(this->in(a), this->in(b), this->mode)); }
};
template <class T>
struct FmaRounded : Modified<T> {
  static constexpr unsigned kSources = 3;
  using Modified<T>::Modified;
  T operator()(T a, T b, T c) const {
    return this->out(fma_rounded(this->in(a), this->in(b), this->in(c), this->mode));
  }
};
template <class T>
struct DivRounded : Modified<T> {
  static constexpr unsigned kSources = 2;
  using Modified<T>::Modified;
  T operator()(T a, T b) const { return this->out(div_rounded(this->in(a), this->in(b), this->mode)); }
};
template <class T>
struct RcpRounded : Modified<T> {
  static constexpr unsigned kSources = 1;
  using Modified<T>::Modified;
  T operator()(T a) const { return this->out(div_rounded(T{1}, this->in(a), this->mode)); }
};
template <class T>
struct SqrtRounded : Modified<T> {
  static constexpr unsigned kSources = 1;
  using Modified<T>::Modified;
  T operator()(T a) const { return this->out(sqrt_rounded(this->in(a), this->mode)); }
};

/// Two f32 in a 64-bit register.
template <template <class> class F>
struct PairF32 : Shape<std::uint64_t, std::uint64_t> {
  static constexpr unsigned kSources = F<float>::kSources;
  static constexpr bool kIsVector = false;
  explicit PairF32(const Step& step) : half(step) {}
  static float low(std::uint64_t value) { return bits<float>(static_cast<std::uint32_t>(value)); }
  static float high(std::uint64_t value) { return bits<float>(static_cast<std::uint32_t>(value >> 32)); }
  static std::uint64_t pair(float lower, float upper) {
    return bits<std::uint32_t>(lower) | static_cast<std::uint64_t>(bits<std::uint32_t>(upper)) << 32;
  }
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return pair(half(low(a), low(b)), half(high(a), high(b)));
  }
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b, std::uint64_t c) const {
    return pair(half(low(a), low(b), low(c)), half(high(a), high(b), high(c)));
  }
  F<float> half;
};

template <template <class, bool, bool> class F>
Handler nearest(const Instruction& from) {
  const bool ftz = from.flags & ptx::kFtz, sat = from.flags & ptx::kSaturate;
  if (from.type == Type::f64) return handler<F<double, false, false>>();
  if (ftz) return sat ? handler<F<float, true, true>>() : handler<F<float, true, false>>();
  return sat ? handler<F<float, false, true>>() : handler<F<float, false, false>>();
}

template <template <class, bool, bool> class Nearest, template <class> class Rounded>
Handler rounded(const Instruction& from) {
  const bool is_directed =
      from.rounding == Rounding::rz || from.rounding == Rounding::rm || from.rounding == Rounding::rp;
  if (!is_directed) return nearest<Nearest>(from);
  return from.type == Type::f64 ? handler<Rounded<double>>() : handler<Rounded<float>>();
}

Handler pair_handler(Op op) {
  switch (op) {
    case Op::add: return handler<PairF32<AddRounded>>();
    case Op::sub: return handler<PairF32<SubRounded>>();
    case Op::mul: return handler<PairF32<MulRounded>>();
    case Op::fma: return handler<PairF32<FmaRounded>>();
    default: return nullptr;
  }
}

}  // namespace

Handler float_handler(const Instruction& from) {
  if (from.type == Type::f32x2) return pair_handler(from.op);
  if (from.type != Type::f32 && from.type != Type::f64) return nullptr;
  const bool is_double = from.type == Type::f64;
  switch (from.op) {
    case Op::add: return rounded<AddF, AddRounded>(from);
    case Op::sub: return rounded<SubF, SubRounded>(from);
    case Op::mul: return rounded<MulF, MulRounded>(from);
    case Op::fma: return rounded<FmaF, FmaRounded>(from);
    case Op::div: return rounded<DivF, DivRounded>(from);
    case Op::rcp:
      return is_double && (from.flags & ptx::kApprox) ? handler<ApproxF64<false>>() : rounded<RcpF, RcpRounded>(from);
    case Op::sqrt: return rounded<SqrtF, SqrtRounded>(from);
    case Op::rsqrt: return is_double && (from.flags & ptx::kFtz) ? handler<ApproxF64<true>>() : nearest<RsqrtF>(from);
    case Op::abs: return nearest<AbsF>(from);
    case Op::neg: return nearest<NegF>(from);
    case Op::copysign: return is_double ? handler<CopySign<double>>() : handler<CopySign<float>>();
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
