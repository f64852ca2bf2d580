// Narrow floats by looking them up: all values of a format in order, and the one that a number rounds to. Nothing of
// the executor's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace flexrack::test {

/// Sign, exponent and fraction; whether the greatest exponent is infinity and NaN.
class NarrowFormat {
 public:
  NarrowFormat(unsigned exponent_bits, unsigned fraction_bits, int bias, bool has_infinity, std::uint32_t count)
      : sign_(1U << (exponent_bits + fraction_bits)), has_infinity_(has_infinity) {
    for (std::uint32_t raw = 0; raw < count; ++raw) {
      const int exponent = static_cast<int>(raw >> fraction_bits);
      const double fraction = raw & ((1U << fraction_bits) - 1), one = std::ldexp(1.0, static_cast<int>(fraction_bits));
      values_.push_back(exponent == 0 ? std::ldexp(fraction / one, 1 - bias)
                                      : std::ldexp(1 + fraction / one, exponent - bias));
    }
  }

  double value(std::uint32_t raw) const {
    const std::uint32_t rest = raw & (sign_ - 1);
    const double magnitude = rest < values_.size()                     ? values_[rest]
                             : rest == values_.size() && has_infinity_ ? HUGE_VAL
                                                                       : std::nan("");
    return raw & sign_ ? -magnitude : magnitude;
  }

  enum class Mode { nearest, zero, down, up };
  /// The bits of a number; too big: `above`.
  std::uint32_t round(double number, Mode mode, std::uint32_t above) const {
    const bool is_negative = std::signbit(number);
    const double magnitude = std::fabs(number);
    const std::uint32_t sign = is_negative ? sign_ : 0;
    const auto after = std::upper_bound(values_.begin(), values_.end(), magnitude);  // the first that is greater
    const auto low = static_cast<std::uint32_t>(after - values_.begin() - 1);
    if (values_[low] == magnitude) return sign | low;
    const bool away = mode == Mode::up ? !is_negative : mode == Mode::down && is_negative;
    if (after == values_.end()) {
      // Beyond the greatest: as if one more followed, half an ulp counts.
      const double next = values_[low] + (values_[low] - values_[low - 1]), middle = (values_[low] + next) / 2;
      const bool is_over = mode == Mode::nearest ? magnitude > middle || (magnitude == middle && low % 2 == 1) : away;
      return sign | (is_over ? above : low);
    }
    if (mode != Mode::nearest) return sign | (away ? low + 1 : low);
    const double below = magnitude - values_[low], over = *after - magnitude;
    return sign | (below < over || (below == over && low % 2 == 0) ? low : low + 1);
  }

 private:
  std::uint32_t sign_;
  bool has_infinity_;
  std::vector<double> values_;  ///< the finite ones that are not negative
};

inline const NarrowFormat& half_format() {
  static const NarrowFormat format(5, 10, 15, true, 0x7c00);
  return format;
}
inline const NarrowFormat& bfloat_format() {
  static const NarrowFormat format(8, 7, 127, true, 0x7f80);
  return format;
}

}  // namespace flexrack::test
