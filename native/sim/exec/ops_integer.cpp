// Integer arithmetic (PTX ISA 9.0, 9.7.1).
#include <type_traits>

#include "sim/exec/ops.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/// Arithmetic that wraps: done in an unsigned type of at least 32 bits.
template <class T>
using Modular = std::conditional_t<sizeof(T) <= 4, u32, u64>;

template <class T>
struct Add : Shape<T, T> {
  FLEXRACK_OPERATION(Add, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const { return static_cast<T>(Modular<T>(a) + Modular<T>(b)); }
};
template <class T>
struct Sub : Shape<T, T> {
  FLEXRACK_OPERATION(Sub, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const { return static_cast<T>(Modular<T>(a) - Modular<T>(b)); }
};
template <class T>
struct Mul : Shape<T, T> {
  FLEXRACK_OPERATION(Mul, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const { return static_cast<T>(Modular<T>(a) * Modular<T>(b)); }
};
template <class T>
struct Mad : Shape<T, T> {
  FLEXRACK_OPERATION(Mad, 3, true)
  FLEXRACK_INLINE T operator()(T a, T b, T c) const {
    return static_cast<T>(Modular<T>(a) * Modular<T>(b) + Modular<T>(c));
  }
};

/// Twice as wide as T.
template <class T>
struct DoubleOf;
template <>
struct DoubleOf<u16> {
  using type = u32;
};
template <>
struct DoubleOf<s16> {
  using type = s32;
};
template <>
struct DoubleOf<u32> {
  using type = u64;
};
template <>
struct DoubleOf<s32> {
  using type = s64;
};
template <>
struct DoubleOf<u64> {
  using type = u128;
};
template <>
struct DoubleOf<s64> {
  using type = s128;
};
template <class T>
using Double = typename DoubleOf<T>::type;

template <class T>
struct MulWide : Shape<Double<T>, T> {
  FLEXRACK_OPERATION(MulWide, 2, true)
  FLEXRACK_INLINE Double<T> operator()(T a, T b) const {
    return static_cast<Double<T>>(static_cast<Double<T>>(a) * static_cast<Double<T>>(b));
  }
};
template <class T>
struct MadWide : Shape<Double<T>, T, T, Double<T>> {
  FLEXRACK_OPERATION(MadWide, 3, true)
  FLEXRACK_INLINE Double<T> operator()(T a, T b, Double<T> c) const {
    using U = Modular<Double<T>>;
    return static_cast<Double<T>>(
        static_cast<U>(static_cast<Double<T>>(static_cast<Double<T>>(a) * static_cast<Double<T>>(b))) +
        static_cast<U>(c));
  }
};
template <class T>
FLEXRACK_INLINE T high_product(T a, T b) {
  return static_cast<T>((static_cast<Double<T>>(a) * static_cast<Double<T>>(b)) >> (8 * sizeof(T)));
}
template <class T>
struct MulHigh : Shape<T, T> {
  FLEXRACK_OPERATION(MulHigh, 2, sizeof(T) < 8)
  FLEXRACK_INLINE T operator()(T a, T b) const { return high_product(a, b); }
};
template <class T>
struct MadHigh : Shape<T, T> {
  FLEXRACK_OPERATION(MadHigh, 3, sizeof(T) < 8)
  FLEXRACK_INLINE T operator()(T a, T b, T c) const {
    return static_cast<T>(Modular<T>(high_product(a, b)) + Modular<T>(c));
  }
};

s32 clamp32(s64 value) {
  return static_cast<s32>(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}
struct AddSaturated : Shape<s32, s32> {
  FLEXRACK_OPERATION(AddSaturated, 2, false)
  s32 operator()(s32 a, s32 b) const { return clamp32(s64{a} + b); }
};
struct SubSaturated : Shape<s32, s32> {
  FLEXRACK_OPERATION(SubSaturated, 2, false)
  s32 operator()(s32 a, s32 b) const { return clamp32(s64{a} - b); }
};
struct MadHighSaturated : Shape<s32, s32> {
  FLEXRACK_OPERATION(MadHighSaturated, 3, false)
  s32 operator()(s32 a, s32 b, s32 c) const { return clamp32(s64{high_product(a, b)} + c); }
};

/// A quotient by zero is all ones, a remainder the dividend; the most negative number by -1 wraps.
template <class T>
struct Div : Shape<T, T> {
  FLEXRACK_OPERATION(Div, 2, false)
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return static_cast<T>(Modular<T>(0) - Modular<T>(a));
    }
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Rem : Shape<T, T> {
  FLEXRACK_OPERATION(Rem, 2, false)
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return 0;
    }
    return static_cast<T>(a % b);
  }
};
template <class T>
struct Abs : Shape<T, T> {
  FLEXRACK_OPERATION(Abs, 1, true)
  FLEXRACK_INLINE T operator()(T a) const { return a < 0 ? static_cast<T>(Modular<T>(0) - Modular<T>(a)) : a; }
};
template <class T>
struct Neg : Shape<T, T> {
  FLEXRACK_OPERATION(Neg, 1, true)
  FLEXRACK_INLINE T operator()(T a) const { return static_cast<T>(Modular<T>(0) - Modular<T>(a)); }
};
template <class T>
struct Sad : Shape<T, T> {
  FLEXRACK_OPERATION(Sad, 3, true)
  FLEXRACK_INLINE T operator()(T a, T b, T c) const {
    return static_cast<T>((a < b ? Modular<T>(b) - Modular<T>(a) : Modular<T>(a) - Modular<T>(b)) + Modular<T>(c));
  }
};

/// 24-bit sources, the product's 48 bits: the low 32 or bits 16 to 47.
template <class T>
FLEXRACK_INLINE Double<T> product24(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return s64{static_cast<s32>(static_cast<u32>(a) << 8) >> 8} * (static_cast<s32>(static_cast<u32>(b) << 8) >> 8);
  return Double<T>{a & 0xffffffU} * (b & 0xffffffU);
}
template <class T, bool High>
struct Mul24 : Shape<T, T> {
  FLEXRACK_OPERATION(Mul24, 2, true)
  FLEXRACK_INLINE T operator()(T a, T b) const { return static_cast<T>(product24(a, b) >> (High ? 16 : 0)); }
};
template <class T, bool High>
struct Mad24 : Shape<T, T> {
  FLEXRACK_OPERATION(Mad24, 3, true)
  FLEXRACK_INLINE T operator()(T a, T b, T c) const {
    return static_cast<T>(static_cast<u32>(product24(a, b) >> (High ? 16 : 0)) + static_cast<u32>(c));
  }
};
struct Mad24HighSaturated : Shape<s32, s32> {
  FLEXRACK_OPERATION(Mad24HighSaturated, 3, false)
  s32 operator()(s32 a, s32 b, s32 c) const { return clamp32((product24(a, b) >> 16) + c); }
};

/// Two 16-bit lanes in 32 bits.
template <template <class> class Half, class T>
struct Packed : Shape<u32, u32> {
  FLEXRACK_INLINE explicit Packed(const Step& step) : half(step) {}
  static constexpr unsigned kSources = Half<T>::kSources;
  static constexpr bool kIsVector = true;
  FLEXRACK_INLINE static T low(u32 value) { return static_cast<T>(value); }
  FLEXRACK_INLINE static T high(u32 value) { return static_cast<T>(value >> 16); }
  FLEXRACK_INLINE static u32 pair(T lower, T upper) {
    return static_cast<u16>(lower) | static_cast<u32>(static_cast<u16>(upper)) << 16;
  }
  FLEXRACK_INLINE u32 operator()(u32 a) const { return pair(half(low(a)), half(high(a))); }
  FLEXRACK_INLINE u32 operator()(u32 a, u32 b) const { return pair(half(low(a), low(b)), half(high(a), high(b))); }
  Half<T> half;
};

template <template <class> class F>
Handler by_width(Type type) {
  switch (type) {
    case Type::u16:
    case Type::s16:
    case Type::b16: return handler<F<u16>>();
    case Type::u32:
    case Type::s32:
    case Type::b32: return handler<F<u32>>();
    case Type::u64:
    case Type::s64:
    case Type::b64: return handler<F<u64>>();
    default: return nullptr;
  }
}

template <template <class> class F>
Handler by_type(Type type) {
  switch (type) {
    case Type::u16: return handler<F<u16>>();
    case Type::s16: return handler<F<s16>>();
    case Type::u32: return handler<F<u32>>();
    case Type::s32: return handler<F<s32>>();
    case Type::u64: return handler<F<u64>>();
    case Type::s64: return handler<F<s64>>();
    default: return nullptr;
  }
}

template <template <class> class F>
Handler by_small_type(Type type) {
  switch (type) {
    case Type::u16: return handler<F<u16>>();
    case Type::s16: return handler<F<s16>>();
    case Type::u32: return handler<F<u32>>();
    case Type::s32: return handler<F<s32>>();
    default: return nullptr;
  }
}

template <template <class> class F>
Handler signed_only(Type type) {
  switch (type) {
    case Type::s16: return handler<F<s16>>();
    case Type::s32: return handler<F<s32>>();
    case Type::s64: return handler<F<s64>>();
    default: return nullptr;
  }
}

template <template <class, bool> class F, bool High>
Handler of_24(Type type) {
  return type == Type::s32 ? handler<F<s32, High>>() : type == Type::u32 ? handler<F<u32, High>>() : nullptr;
}

bool is_pair_of_halves(Type type) { return type == Type::u16x2 || type == Type::s16x2; }

}  // namespace

Handler integer_handler(const Instruction& from) {
  const Type type = from.type;
  const bool is_saturated = from.flags & ptx::kSaturate;
  if (is_saturated && type != Type::s32) return nullptr;
  switch (from.op) {
    case Op::add:
      return is_saturated              ? handler<AddSaturated>()
             : is_pair_of_halves(type) ? handler<Packed<Add, u16>>()
                                       : by_width<Add>(type);
    case Op::sub:
      return is_saturated              ? handler<SubSaturated>()
             : is_pair_of_halves(type) ? handler<Packed<Sub, u16>>()
                                       : by_width<Sub>(type);
    case Op::mul_lo: return by_width<Mul>(type);
    case Op::mad_lo: return by_width<Mad>(type);
    case Op::mul_hi: return by_type<MulHigh>(type);
    case Op::mad_hi: return is_saturated ? handler<MadHighSaturated>() : by_type<MadHigh>(type);
    case Op::mul_wide: return by_small_type<MulWide>(type);
    case Op::mad_wide: return by_small_type<MadWide>(type);
    case Op::div: return by_type<Div>(type);
    case Op::rem: return by_type<Rem>(type);
    case Op::abs: return signed_only<Abs>(type);
    case Op::neg: return type == Type::s16x2 ? handler<Packed<Neg, u16>>() : signed_only<Neg>(type);
    case Op::sad: return by_type<Sad>(type);
    case Op::mul24_lo: return of_24<Mul24, false>(type);
    case Op::mul24_hi: return of_24<Mul24, true>(type);
    case Op::mad24_lo: return of_24<Mad24, false>(type);
    case Op::mad24_hi: return is_saturated ? handler<Mad24HighSaturated>() : of_24<Mad24, true>(type);
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
