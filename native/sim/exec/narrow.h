// Floats of 16 bits and less: f16, bf16, tf32 and the 8-, 6- and 4-bit ones (PTX ISA 9.0, 5.2.3).
#pragma once

#include <cstdint>

#include "sim/exec/numbers.h"
#include "sim/ptx/types.h"

namespace flexrack::sim::exec {

/// How a narrow float is laid out: sign, exponent, fraction.
struct Format {
  unsigned exponent_bits, fraction_bits;
  int bias;
  bool has_infinity;       ///< else the greatest exponent is of numbers too
  std::uint32_t nan;       ///< the NaN that results; 0: it has none
  std::uint32_t greatest;  ///< the greatest finite value
};

inline constexpr Format kF16{5, 10, 15, true, 0x7fff, 0x7bff};
inline constexpr Format kBf16{8, 7, 127, true, 0x7fff, 0x7f7f};
inline constexpr Format kTf32{8, 10, 127, true, 0x3ffff, 0x3fbff};  ///< 19 bits: the high ones of an f32
inline constexpr Format kE4m3{4, 3, 7, false, 0x7f, 0x7e};
inline constexpr Format kE5m2{5, 2, 15, true, 0x7f, 0x7b};
inline constexpr Format kE2m3{2, 3, 1, false, 0, 0x1f};
inline constexpr Format kE3m2{3, 2, 3, false, 0, 0x1f};
inline constexpr Format kE2m1{2, 1, 1, false, 0, 0x7};

/// The bits of `value`, rounded once. Saturating: too big becomes the greatest finite value, not infinity. Formats
/// without infinity always saturate.
std::uint32_t encode(double value, const Format& format, ptx::Rounding mode, bool saturates);
double decode(std::uint32_t raw, const Format& format);

/// An integer as a double whose last bit is set if bits were lost, so that rounding it again to less than 50 bits is
/// rounding once.
double to_double_odd(std::uint64_t magnitude, bool is_negative);

/// x + y as such a double.
double add_odd(double x, double y);

FLEXRACK_INLINE float half_to_float(std::uint16_t raw) {
  const std::uint32_t sign = static_cast<std::uint32_t>(raw & 0x8000) << 16, rest = raw & 0x7fffU;
  // Normals: the exponent is shifted by 112; subnormals: a float of 2^-14 and the fraction, less 2^-14; infinity and
  // NaN: up to the greatest exponent.
  const std::uint32_t normal = (rest << 13) + 0x38000000U;
  const float small = bits<float>(0x38800000U | rest << 13) - bits<float>(0x38800000U);
  const std::uint32_t chosen = rest < 0x400     ? bits<std::uint32_t>(small)
                               : rest >= 0x7c00 ? normal + 0x38000000U
                                                : normal;
  return bits<float>(chosen | sign);
}

/// To nearest even; NaN becomes 0x7fff.
FLEXRACK_INLINE std::uint16_t float_to_half(float value) {
  const auto raw = bits<std::uint32_t>(value);
  const std::uint32_t sign = raw >> 16 & 0x8000U, rest = raw & 0x7fffffffU;
  const std::uint32_t odd = rest >> 13 & 1;
  const std::uint32_t normal = (rest - 0x38000000U + 0xfff + odd) >> 13;
  const std::uint32_t small =
      bits<std::uint32_t>(bits<float>(rest) + 0.5f) - 0x3f000000U;  // 0.5 has an ulp of 2^-24, as subnormal halves
  const std::uint32_t chosen = rest < 0x38800000U ? small : rest < 0x47800000U ? normal : 0x7c00U;
  return static_cast<std::uint16_t>(rest > 0x7f800000U ? kNan16 : chosen | sign);
}

FLEXRACK_INLINE float bfloat_to_float(std::uint16_t raw) { return bits<float>(static_cast<std::uint32_t>(raw) << 16); }
FLEXRACK_INLINE std::uint16_t float_to_bfloat(float value) {
  const auto raw = bits<std::uint32_t>(value);
  const std::uint32_t rounded = (raw + 0x7fff + (raw >> 16 & 1)) >> 16;
  return static_cast<std::uint16_t>((raw & 0x7fffffffU) > 0x7f800000U ? kNan16 : rounded);
}

}  // namespace flexrack::sim::exec
