#include "sim/ptx/float_bits.h"

#include <bit>
#include <cmath>

namespace flexrack::sim::ptx {

namespace {

std::uint32_t single_bits(const Constant& value) {
  return value.is_single ? value.single : std::bit_cast<std::uint32_t>(static_cast<float>(as_real(value)));
}

/// What a real constant is in an integer type: cut, as casts in C are, without what C leaves undefined.
std::uint64_t cut(double value) {
  if (std::isnan(value) || value >= 18446744073709551616.0 || value < -9223372036854775808.0) return 0;
  return value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) : static_cast<std::uint64_t>(value);
}

}  // namespace

std::uint16_t half_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7fff);
  const double size = std::fabs(value);
  if (size == 0) return sign;
  if (size >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);
  int exponent = 0;
  std::frexp(size, &exponent);  // size = m * 2^exponent, m in [0.5, 1)
  const int scale = exponent - 1 < -14 ? 24 : 10 - (exponent - 1);
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, scale)));
  // Subnormals count steps of 2^-24; a carry into the exponent is what rounding up means in both cases.
  if (exponent - 1 < -14) return static_cast<std::uint16_t>(sign | steps);
  return static_cast<std::uint16_t>(sign | ((static_cast<std::uint32_t>(exponent - 1 + 15 - 1) << 10) + steps));
}

std::uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x7fff);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::uint64_t bits_of(const Constant& value, Type type) {
  const auto bytes = bytes_of(type);
  switch (type) {
    case Type::f32:
    case Type::tf32: return single_bits(value);
    case Type::f64: return std::bit_cast<std::uint64_t>(as_real(value));
    case Type::f16:
      if (value.is_real) return half_bits(value.real);
      break;
    case Type::bf16:
      if (value.is_real) return bfloat_bits(static_cast<float>(value.real));
      break;
    default:
      if (value.is_real && value.is_single && bytes == 4) return value.single;
      if (value.is_real && !is_signed(type) && bytes == 4) return single_bits(value);
      if (value.is_real && bytes == 8) return std::bit_cast<std::uint64_t>(value.real);
      break;
  }
  const auto bits = value.is_real ? cut(value.real) : value.integer;
  return bytes >= 8 || bytes == 0 ? bits : bits & ((std::uint64_t{1} << bytes * 8) - 1);
}

}  // namespace flexrack::sim::ptx
