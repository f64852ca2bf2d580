// The machine code of one item for eight lanes.
#pragma once

#include "sim/jit/registers.h"

namespace flexrack::sim::jit {

class Emitter {
 public:
  Emitter(Assembler& to, Pool& pool, Registers& registers, const exec::Code& code)
      : to_(to), pool_(pool), at_(registers), code_(code) {}
  void emit(const Item& item, unsigned part);

 private:
  void integers(const Item& item, unsigned part);
  void wide_integers(const Item& item, unsigned part);
  void floats(const Item& item, unsigned part);
  void fused(const Item& item, unsigned part);
  void extreme(const Item& item, unsigned part);
  void finish_float(const Item& item, unsigned part, unsigned value);
  /// One instruction with the rounding of an item.
  void rounded_op(const Item& item, const Vex& what, unsigned to, unsigned first, const Source& second);
  void doubles(const Item& item, unsigned part);
  void extreme_doubles(const Item& item, unsigned part);
  void signs_of_doubles(const Item& item, unsigned part);
  void convert_doubles(const Item& item, unsigned part);
  void power_of_two(const Item& item, unsigned part);
  void reciprocal_root(const Item& item, unsigned part);
  void quotient(const Item& item, unsigned part);
  void divide_words(const Item& item, unsigned part, const std::array<unsigned, 2>& dividends);
  void cut(const Item& item, unsigned part);
  void pair(const Item& item, unsigned part);
  void halves(const Item& item, unsigned part);
  void logic(const Item& item, unsigned part);
  void negation(const Item& item, unsigned part);
  void magnitude(const Item& item, unsigned part);
  void shift(const Item& item, unsigned part);
  void funnel(const Item& item, unsigned part);
  void table(const Item& item, unsigned part);
  void high_product(const Item& item, unsigned part);
  void low_product64(const Item& item, unsigned part);
  void wide_product(const Item& item, unsigned part);
  void compare(const Item& item, unsigned part);
  void select(const Item& item, unsigned part);
  void convert(const Item& item, unsigned part);
  void move(const Item& item, unsigned part);
  void pack(const Item& item, unsigned part);
  void unpack(const Item& item, unsigned part);
  void fill(const Item& item, unsigned part);

  void op(const Vex& what, unsigned to, unsigned first, const Source& second, int immediate = -1) {
    to_.vector(what, to, first, second, immediate);
  }
  void shift_by(const Vex& what, unsigned direction, unsigned to, unsigned from, int amount) {
    to_.vector(what, direction, to, Source::vector(from), amount);
  }
  unsigned constant(const Source& from);
  unsigned inverted(unsigned value);
  /// A predicate as a vector, negated where it is meant so.
  unsigned predicate(const Use& use, unsigned part);
  /// Four lanes of a word as wide ones: `half` 0 the lower of eight.
  unsigned widened(const Use& use, unsigned part, unsigned half, bool is_signed);
  /// The lower or upper words of eight wide lanes.
  unsigned narrowed(unsigned low, unsigned high, bool is_upper);
  unsigned compared_words(const Item& item, unsigned part);
  unsigned compared_doubles(const Item& item, unsigned wide_part);
  /// A float as a half or bfloat16 in the lower bits of a word.
  unsigned narrow_float(const Use& use, unsigned part, Type type) { return rounded_to_half(at_.take(use, part), type); }
  unsigned rounded_to_half(unsigned value, Type type);
  unsigned widened_half(const Use& use, unsigned part, bool is_upper, Type type);
  unsigned half_result(const Item& item, unsigned part, bool is_upper, unsigned kept);
  unsigned fused_half(const std::array<unsigned, 3>& floats, unsigned half, const std::array<unsigned, 6>& kept);
  /// Four words as doubles, exactly.
  unsigned word_as_doubles(const Use& use, unsigned part, unsigned half, bool is_signed);
  unsigned compared_wides(const Item& item, unsigned wide_part);
  unsigned of_two(unsigned table, unsigned a, unsigned b);

  Assembler& to_;
  Pool& pool_;
  Registers& at_;
  const exec::Code& code_;
};

}  // namespace flexrack::sim::jit
