// One value from one type to another: all that cvt may ask for (PTX ISA 9.0, 9.7.9.21), one lane at a time.
#pragma once

#include <cstdint>

#include "sim/exec/rounding.h"
#include "sim/ptx/program.h"

namespace flexrack::sim::exec {

/// A value between the two types: an integer as sign and magnitude, or a float, exactly.
struct Exact {
  bool is_float = false;
  bool is_negative = false;
  std::uint64_t magnitude = 0;
  double value = 0;
};

struct Conversion {
  ptx::Type to, from;
  ptx::Rounding rounding;
  std::uint16_t flags;

  explicit Conversion(const ptx::Instruction& instruction)
      : to(instruction.type), from(instruction.source_type), rounding(instruction.rounding), flags(instruction.flags) {}
  /// Of a register's bits, zero-extended: cut to the source type. The result extended by its sign.
  std::uint64_t operator()(std::uint64_t raw) const { return write(read(raw, from)); }

  Exact read(std::uint64_t raw, ptx::Type type) const;
  std::uint64_t write(const Exact& exact) const;

 private:
  std::uint64_t write_integer(const Exact& exact) const;
  double to_integral(double value) const;
};

/// Of a conversion between integers: the one type by way of which the value goes. none: one is not enough.
ptx::Type middle_type(const ptx::Instruction& from);

/// Bits that a value of the type has in a register; 4-, 6- and 8-bit floats come in pairs, of which this is one.
unsigned bits_of(ptx::Type type);
/// f16, bf16 and what is smaller; nullptr: another type.
const struct Format* format_of(ptx::Type type);

}  // namespace flexrack::sim::exec
