#include "sim/exec/narrow.h"

#include <cmath>

namespace flexrack::sim::exec {
namespace {

/// Whether the magnitude is rounded away from zero, given the fraction that is cut off: compared with a half, and
/// whether there is any.
bool rounds_up(ptx::Rounding mode, double cut, bool is_odd, bool is_negative) {
  switch (mode) {
    case ptx::Rounding::rz: return false;
    case ptx::Rounding::rm: return is_negative && cut > 0;
    case ptx::Rounding::rp: return !is_negative && cut > 0;
    case ptx::Rounding::rna: return cut >= 0.5;
    default: return cut > 0.5 || (cut == 0.5 && is_odd);
  }
}

}  // namespace

std::uint32_t encode(double value, const Format& format, ptx::Rounding mode, bool saturates) {
  const unsigned width = format.exponent_bits + format.fraction_bits;
  if (std::isnan(value)) return format.nan != 0 ? format.nan : format.greatest;
  const bool is_negative = std::signbit(value);
  const std::uint32_t sign = is_negative ? 1U << width : 0;
  const std::uint32_t infinity = ((1U << format.exponent_bits) - 1) << format.fraction_bits;
  const std::uint32_t too_big = saturates || (!format.has_infinity && format.nan == 0) ? format.greatest
                                : format.has_infinity                                  ? infinity
                                                                                       : format.nan;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | too_big;
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  const int least = 1 - format.bias;
  if (exponent < least) exponent = least;
  // In units of the last place: exact, a double has more bits than any of these.
  const double units = std::ldexp(magnitude, static_cast<int>(format.fraction_bits) - exponent),
               whole = std::floor(units);
  auto count = static_cast<std::uint64_t>(whole);
  if (rounds_up(mode, units - whole, count & 1, is_negative)) ++count;
  // The hidden bit adds one to the exponent of normals; a carry goes the same way.
  const std::uint64_t raw = (static_cast<std::uint64_t>(exponent - least) << format.fraction_bits) + count;
  if (raw > format.greatest) {
    const bool toward_zero = mode == ptx::Rounding::rz || (mode == ptx::Rounding::rm && !is_negative) ||
                             (mode == ptx::Rounding::rp && is_negative);
    return sign | (toward_zero ? format.greatest : too_big);
  }
  return sign | static_cast<std::uint32_t>(raw);
}

double decode(std::uint32_t raw, const Format& format) {
  const unsigned width = format.exponent_bits + format.fraction_bits;
  const double sign = raw >> width & 1 ? -1.0 : 1.0;
  const std::uint32_t rest = raw & ((1U << width) - 1), fraction = rest & ((1U << format.fraction_bits) - 1),
                      exponent = rest >> format.fraction_bits;
  if (format.has_infinity && exponent == (1U << format.exponent_bits) - 1)
    return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (!format.has_infinity && format.nan != 0 && rest == format.nan) return std::nan("");
  const int shift = 1 - format.bias - static_cast<int>(format.fraction_bits);
  if (exponent == 0) return sign * std::ldexp(fraction, shift);
  return sign * std::ldexp(fraction + (1U << format.fraction_bits), shift + static_cast<int>(exponent) - 1);
}

double to_double_odd(std::uint64_t magnitude, bool is_negative) {
  if (magnitude >> 53 != 0) magnitude = (magnitude & ~std::uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
  const auto value = static_cast<double>(magnitude);
  return is_negative ? -value : value;
}

double add_odd(double x, double y) {
  const double sum = x + y;
  if (!(std::fabs(sum) < HUGE_VAL)) return sum;
  const double part = sum - x, rest = (x - (sum - part)) + (y - part);
  if (rest == 0) return sum;
  const auto raw = bits<std::uint64_t>(sum);
  if (raw & 1) return sum;
  // The odd neighbour on the side of the exact value.
  return bits<double>((rest > 0) == (sum > 0) ? raw + 1 : raw - 1);
}

}  // namespace flexrack::sim::exec
