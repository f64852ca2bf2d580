// Arithmetic in f16 and bf16 by way of f32, with the one rounding that the format has.
#pragma once

#include "sim/exec/narrow.h"

namespace flexrack::sim::exec {

struct HalfFormat {
  FLEXRACK_INLINE static float to_float(std::uint16_t raw) { return half_to_float(raw); }
  FLEXRACK_INLINE static std::uint16_t from_float(float value) { return float_to_half(value); }
  FLEXRACK_INLINE static std::uint16_t flush(std::uint16_t raw) {
    return static_cast<std::uint16_t>((raw & 0x7c00) == 0 ? raw & 0x8000 : raw);
  }
  static constexpr std::uint16_t kOne = 0x3c00, kInfinity = 0x7c00;
};
struct BfloatFormat {
  FLEXRACK_INLINE static float to_float(std::uint16_t raw) { return bfloat_to_float(raw); }
  FLEXRACK_INLINE static std::uint16_t from_float(float value) { return float_to_bfloat(value); }
  FLEXRACK_INLINE static std::uint16_t flush(std::uint16_t raw) { return raw; }
  static constexpr std::uint16_t kOne = 0x3f80, kInfinity = 0x7f80;
};

/// A double as a float whose last bit is set if bits were lost: rounding that again to 11 bits or less is rounding
/// once.
FLEXRACK_INLINE float to_float_odd(double value) {
  const float near = static_cast<float>(value);
  const double rest = value - static_cast<double>(near);
  const auto raw = bits<std::uint32_t>(near);
  const bool grows = (rest > 0) == (value > 0);  // the magnitude
  const std::uint32_t odd = raw & 1 || rest == 0 || rest != rest ? raw : grows ? raw + 1 : raw - 1;
  return bits<float>(odd);
}

/// a * b + c: the product is exact in a double, the sum is rounded to odd.
FLEXRACK_INLINE float fma_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b), wide = c;
  const double sum = product + wide, part = sum - product, rest = (product - (sum - part)) + (wide - part);
  const auto raw = bits<std::uint64_t>(sum);
  const bool is_kept = raw & 1 || rest == 0 || rest != rest || sum - sum != 0;
  const std::uint64_t odd = is_kept ? raw : (rest > 0) == (sum > 0) ? raw + 1 : raw - 1;
  return to_float_odd(bits<double>(odd));
}

/// Two halves of 32 bits, each by itself.
template <class Half>
struct BothHalves {
  using Result = std::uint32_t;
  using A = std::uint32_t;
  using B = std::uint32_t;
  using C = std::uint32_t;
  using E = std::uint32_t;
  static constexpr unsigned kSources = Half::kSources;
  static constexpr bool kIsVector = Half::kIsVector;
  template <class Step>
  FLEXRACK_INLINE explicit BothHalves(const Step& step) : half(step) {}
  FLEXRACK_INLINE static std::uint16_t low(std::uint32_t value) { return static_cast<std::uint16_t>(value); }
  FLEXRACK_INLINE static std::uint16_t high(std::uint32_t value) { return static_cast<std::uint16_t>(value >> 16); }
  FLEXRACK_INLINE static std::uint32_t pair(std::uint16_t lower, std::uint16_t upper) {
    return lower | static_cast<std::uint32_t>(upper) << 16;
  }
  FLEXRACK_INLINE std::uint32_t operator()(std::uint32_t a) const { return pair(half(low(a)), half(high(a))); }
  FLEXRACK_INLINE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return pair(half(low(a), low(b)), half(high(a), high(b)));
  }
  FLEXRACK_INLINE std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return pair(half(low(a), low(b), low(c)), half(high(a), high(b), high(c)));
  }
  Half half;
};

}  // namespace flexrack::sim::exec
