// Floating point as PTX has it (PTX ISA 9.0, 9.7.3): subnormals flushed or kept, results clamped, the one NaN. All of
// it without branches, so that loops over lanes become vector code.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#define FLEXRACK_INLINE [[gnu::always_inline]] inline

namespace flexrack::sim::exec {

template <class To, class From>
FLEXRACK_INLINE To bits(From value) {
  return __builtin_bit_cast(To, value);
}

/// The unsigned integer of a float's size, and its highest bit.
template <class T>
using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
inline constexpr Word<T> kSign = Word<T>{1} << (8 * sizeof(T) - 1);

inline constexpr std::uint32_t kNan32 = 0x7fffffff;
inline constexpr std::uint16_t kNan16 = 0x7fff;  ///< of f16 and bf16

FLEXRACK_INLINE float nan_to_one(float value) { return value != value ? bits<float>(kNan32) : value; }
FLEXRACK_INLINE double nan_to_one(double value) { return value; }

/// Subnormals become zero of their sign.
FLEXRACK_INLINE float flush(float value) {
  const auto raw = bits<std::uint32_t>(value);
  return bits<float>((raw & 0x7f800000U) == 0 ? raw & 0x80000000U : raw);
}
FLEXRACK_INLINE double flush(double value) {
  const auto raw = bits<std::uint64_t>(value);
  return bits<double>((raw & 0x7ff0000000000000U) == 0 ? raw & 0x8000000000000000U : raw);
}

/// [0, 1]; NaN and -0 become +0.
template <class T>
FLEXRACK_INLINE T saturate(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

template <bool Ftz, class T>
FLEXRACK_INLINE T operand(T value) {
  if constexpr (Ftz) return flush(value);
  return value;
}

template <bool Ftz, bool Sat, class T>
FLEXRACK_INLINE T result(T value) {
  if constexpr (Ftz) value = flush(value);
  if constexpr (Sat) return saturate(value);
  return nan_to_one(value);
}

template <class T>
FLEXRACK_INLINE bool has_sign(T value) {
  return (bits<Word<T>>(value) & kSign<T>) != 0;
}

/// -0 is less than +0; of a number and a NaN the number.
template <class T>
FLEXRACK_INLINE T least(T a, T b) {
  const T chosen = (a < b) | ((a == b) & has_sign(a)) ? a : b;
  return nan_to_one(a != a ? b : b != b ? a : chosen);
}
template <class T>
FLEXRACK_INLINE T greatest(T a, T b) {
  const T chosen = (a > b) | ((a == b) & !has_sign(a)) ? a : b;
  return nan_to_one(a != a ? b : b != b ? a : chosen);
}

}  // namespace flexrack::sim::exec
