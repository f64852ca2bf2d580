// Integers, logic, shifts.
#include "sim/jit/emitter.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

unsigned Emitter::constant(const Source& from) {
  const unsigned value = at_.fresh();
  op(v::load, value, 0, from);
  return value;
}

unsigned Emitter::inverted(unsigned value) {
  const unsigned made = at_.fresh();
  op(v::xor_, made, value, pool_.word(~0U));
  return made;
}

unsigned Emitter::predicate(const Use& use, unsigned part) {
  const unsigned value = at_.take(use, part);
  return use.at & kNegated ? inverted(value) : value;
}

void Emitter::integers(const Item& item, unsigned part) {
  const auto& [a, b, c, unused1, unused2, unused3] = item.reads;
  const bool is_signed = ptx::is_signed(item.from->type), is_min = item.from->op == Op::min;
  const unsigned first = at_.take(a, part);
  const auto second = at_.last(b, part);
  const unsigned made = at_.fresh();
  switch (item.from->op) {
    case Op::add: op(v::add32, made, first, second); break;
    case Op::sub: op(v::sub32, made, first, second); break;
    case Op::mul_lo: op(v::mul32, made, first, second); break;
    case Op::mad_lo:
      op(v::mul32, made, first, second);
      op(v::add32, made, made, at_.last(c, part));
      break;
    default:
      op(is_signed ? (is_min ? v::min_signed : v::max_signed)
         : is_min  ? v::min_unsigned
                   : v::max_unsigned,
         made, first, second);
      break;
  }
  at_.put(item, item.writes[0], part, made);
}

void Emitter::wide_integers(const Item& item, unsigned part) {
  for (unsigned half = 2 * part; half < 2 * part + 2; ++half) {
    const unsigned first = at_.take(item.reads[0], half);
    const auto second = at_.last(item.reads[1], half);
    const unsigned made = at_.fresh();
    op(item.from->op == Op::add ? v::add64 : v::sub64, made, first, second);
    at_.put(item, item.writes[0], half, made);
    at_.release();
  }
}

void Emitter::logic(const Item& item, unsigned part) {
  const Form form = item.writes[0].form;
  const Vex& what = item.from->op == Op::logic_and ? v::and_ : item.from->op == Op::logic_or ? v::or_ : v::xor_;
  const unsigned count = form == Form::wide ? 2 : 1;
  for (unsigned i = part * count; i < part * count + count; ++i) {
    const unsigned first = form == Form::mask ? predicate(item.reads[0], i) : at_.take(item.reads[0], i);
    const auto second = item.from->op == Op::logic_not ? pool_.word(form == Form::half ? 0xffff : ~0U)
                        : form == Form::mask           ? Source::vector(predicate(item.reads[1], i))
                                                       : at_.last(item.reads[1], i);
    const unsigned made = at_.fresh();
    op(what, made, first, second);
    at_.put(item, item.writes[0], i, made);
    at_.release();
  }
}

void Emitter::negation(const Item& item, unsigned part) {
  const bool is_wide = item.writes[0].form == Form::wide;
  for (unsigned i = is_wide ? 2 * part : part; i < (is_wide ? 2 * part + 2 : part + 1); ++i) {
    const auto from = at_.last(item.reads[0], i);
    const unsigned made = at_.fresh();
    op(v::xor_, made, made, Source::vector(made));
    op(is_wide ? v::sub64 : v::sub32, made, made, from);
    at_.put(item, item.writes[0], i, made);
    at_.release();
  }
}

void Emitter::shift(const Item& item, unsigned part) {
  const bool is_left = item.from->op == Op::shl, is_signed = !is_left && ptx::is_signed(item.from->type);
  if (item.writes[0].form == Form::word) {
    // Amounts beyond the width: zero, or the sign.
    const unsigned from = at_.take(item.reads[0], part);
    const auto by = at_.last(item.reads[1], part);
    const unsigned made = at_.fresh();
    op(is_left ? v::shl32 : is_signed ? v::sar32 : v::shr32, made, from, by);
    return at_.put(item, item.writes[0], part, made);
  }
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned from = at_.take(item.reads[0], 2 * part + half), by = widened(item.reads[1], part, half, false),
                   made = at_.fresh();
    op(is_left ? v::shl64 : v::shr64, made, from, Source::vector(by));
    at_.put(item, item.writes[0], 2 * part + half, made);
    at_.release();
  }
}

/// Two words as one, shifted: the upper word for shf.l, the lower for shf.r.
void Emitter::funnel(const Item& item, unsigned part) {
  const auto& [low, high, amount, unused1, unused2, unused3] = item.reads;
  const bool is_left = item.from->op == Op::shf_l, wraps = item.from->flags & ptx::kWrap;
  const unsigned made = at_.fresh(), rest = at_.fresh();
  std::uint64_t known = 0;
  if ((amount.at & kInConstants) && constant_of(code_, amount, known)) {
    const auto by = static_cast<int>(wraps ? known & 31 : known < 32 ? known : 32);
    const unsigned from_low = at_.take(low, part), from_high = at_.take(high, part);
    // By 32 and more the immediate forms give zero.
    shift_by(v::shift32, is_left ? v::kLeft : v::kRight, made, is_left ? from_high : from_low, by);
    shift_by(v::shift32, is_left ? v::kRight : v::kLeft, rest, is_left ? from_low : from_high, 32 - by);
  } else {
    const unsigned by = at_.fresh();
    op(wraps ? v::and_ : v::min_unsigned, by, at_.take(amount, part), pool_.word(wraps ? 31 : 32));
    op(v::load, rest, 0, pool_.word(32));
    op(v::sub32, rest, rest, Source::vector(by));
    const unsigned from_low = at_.take(low, part), from_high = at_.take(high, part);
    op(is_left ? v::shl32 : v::shr32, made, is_left ? from_high : from_low, Source::vector(by));
    op(is_left ? v::shr32 : v::shl32, rest, is_left ? from_low : from_high, Source::vector(rest));
  }
  op(v::or_, made, made, Source::vector(rest));
  at_.put(item, item.writes[0], part, made);
}

/// A function of two bits: bit 2a + b of the table.
unsigned Emitter::of_two(unsigned table, unsigned a, unsigned b) {
  const unsigned made = at_.fresh();
  const auto second = Source::vector(b);
  switch (table & 15) {
    case 0b0000: op(v::xor_, made, made, Source::vector(made)); break;
    case 0b1111: op(v::load, made, 0, pool_.word(~0U)); break;
    case 0b1000: op(v::and_, made, a, second); break;
    case 0b1110: op(v::or_, made, a, second); break;
    case 0b0110: op(v::xor_, made, a, second); break;
    case 0b1100: op(v::move, made, 0, Source::vector(a)); break;
    case 0b1010: op(v::move, made, 0, second); break;
    case 0b0010: op(v::not_and, made, a, second); break;
    case 0b0100: op(v::not_and, made, b, Source::vector(a)); break;
    default: {
      const unsigned opposite = of_two(~table, a, b);
      op(v::xor_, made, opposite, pool_.word(~0U));
    }
  }
  return made;
}

/// lop3: of the first source's bit, what is left is a function of two: f0 ^ (a & (f0 ^ f1)).
void Emitter::table(const Item& item, unsigned part) {
  const unsigned ones = item.from->detail, without = ones & 15, with = ones >> 4 & 15;
  const unsigned b = at_.take(item.reads[1], part), c = at_.take(item.reads[2], part);
  if (without == with) return at_.put(item, item.writes[0], part, of_two(without, b, c));
  const unsigned a = at_.take(item.reads[0], part);
  if (without == 0) {
    const unsigned rest = of_two(with, b, c), made = at_.fresh();
    op(v::and_, made, a, Source::vector(rest));
    return at_.put(item, item.writes[0], part, made);
  }
  const unsigned differs = of_two(without ^ with, b, c), made = at_.fresh();
  if ((without ^ with) == 15) op(v::move, made, 0, Source::vector(a));
  else op(v::and_, made, a, Source::vector(differs));
  op(v::xor_, made, made, Source::vector(of_two(without, b, c)));
  at_.put(item, item.writes[0], part, made);
}

unsigned Emitter::widened(const Use& use, unsigned part, unsigned half, bool is_signed) {
  const unsigned from = at_.take(use, part), made = at_.fresh();
  if (half == 1) op(v::upper_half, from, 0, Source::vector(made), 1);
  op(is_signed ? v::widen_signed : v::widen_unsigned, made, 0, Source::vector(half == 1 ? made : from));
  return made;
}

unsigned Emitter::narrowed(unsigned low, unsigned high, bool is_upper) {
  const unsigned made = at_.fresh();
  op(v::shuffle, made, low, Source::vector(high), is_upper ? 0xdd : 0x88);
  op(v::permute64, made, 0, Source::vector(made), 0xd8);
  return made;
}

void Emitter::wide_product(const Item& item, unsigned part) {
  const bool is_signed = ptx::is_signed(item.from->type);
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned a = widened(item.reads[0], part, half, is_signed), b = widened(item.reads[1], part, half, is_signed),
                   made = at_.fresh();
    op(is_signed ? v::mul_even_signed : v::mul_even_unsigned, made, a, Source::vector(b));
    if (item.reads[2].at != kNowhere) op(v::add64, made, made, at_.last(item.reads[2], 2 * part + half));
    at_.put(item, item.writes[0], 2 * part + half, made);
    at_.release();
  }
}

/// a * b, the upper words: of even and of odd lanes.
void Emitter::high_product(const Item& item, unsigned part) {
  const Vex& what = ptx::is_signed(item.from->type) ? v::mul_even_signed : v::mul_even_unsigned;
  const unsigned a = at_.take(item.reads[0], part), b = at_.take(item.reads[1], part), even = at_.fresh(),
                 odd = at_.fresh(), other = at_.fresh();
  op(what, even, a, Source::vector(b));
  shift_by(v::shift64, v::kRight, even, even, 32);
  shift_by(v::shift64, v::kRight, odd, a, 32);
  shift_by(v::shift64, v::kRight, other, b, 32);
  op(what, odd, odd, Source::vector(other));
  op(v::blend32, even, even, Source::vector(odd), 0xaa);
  at_.put(item, item.writes[0], part, even);
}

/// Lower words, and above them the sum of the crossed products.
void Emitter::low_product64(const Item& item, unsigned part) {
  for (unsigned half = 2 * part; half < 2 * part + 2; ++half) {
    const unsigned a = at_.take(item.reads[0], half), b = at_.take(item.reads[1], half), cross = at_.fresh(),
                   made = at_.fresh();
    shift_by(v::shift64, v::kRight, cross, a, 32);
    op(v::mul_even_unsigned, cross, cross, Source::vector(b));
    shift_by(v::shift64, v::kRight, made, b, 32);
    op(v::mul_even_unsigned, made, made, Source::vector(a));
    op(v::add64, cross, cross, Source::vector(made));
    shift_by(v::shift64, v::kLeft, cross, cross, 32);
    op(v::mul_even_unsigned, made, a, Source::vector(b));
    op(v::add64, made, made, Source::vector(cross));
    at_.put(item, item.writes[0], half, made);
    at_.release();
  }
}

}  // namespace flexrack::sim::jit
