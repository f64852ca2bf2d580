// Constants as the bits of a type.
#pragma once

#include <cstdint>

#include "sim/ptx/syntax.h"

namespace flexrack::sim::ptx {

/// The bits of a half and of a bfloat, rounded to nearest even.
std::uint16_t half_bits(double value);
std::uint16_t bfloat_bits(float value);

/// A constant of any kind as a real number.
inline double as_real(const Constant& value) {
  if (value.is_real) return value.real;
  return value.is_unsigned ? static_cast<double>(value.integer)
                           : static_cast<double>(static_cast<std::int64_t>(value.integer));
}

/// A constant as an operand or initial value of a type; untyped bits of a floating constant are those of the float or
/// double that fits. Packed halves and halves take integers as bits.
std::uint64_t bits_of(const Constant& value, Type type);

}  // namespace flexrack::sim::ptx
