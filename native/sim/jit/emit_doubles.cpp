// f64, to nearest; its conversions; what words need doubles for; and conversions between integers of 8, 16 and 32 bits.
#include <bit>
#include <iterator>

#include "sim/exec/convert.h"
#include "sim/exec/exp2.h"
#include "sim/jit/emitter.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

constexpr std::uint64_t kSignOfDouble = std::uint64_t{1} << 63, kOneDouble = 0x3ff0000000000000,
                        kHalfDouble = 0x3fe0000000000000, kTwoTo52 = 0x4330000000000000;

/// Of two NaN the processor takes the first source's, as the interpreter does (ops_float.cpp, nan_of).
void Emitter::doubles(const Item& item, unsigned part) {
  const auto& [a, b, c, unused1, unused2, unused3] = item.reads;
  for (unsigned half = 2 * part; half < 2 * part + 2; ++half) {
    if (item.from->op == Op::fma && !at_.is_last_read(c, item) && at_.is_last_read(a, item)) {
      const unsigned product = at_.copy_float(a, half, item), more = at_.take(c, half);
      op(v::fma132d, product, more, at_.last(b, half));
      at_.put(item, item.writes[0], half, product);
      at_.release();
      continue;
    }
    const unsigned made = at_.fresh();
    switch (item.from->op) {
      case Op::sqrt: op(v::sqrtd, made, 0, at_.last(a, half)); break;
      case Op::rcp: op(v::divd, made, constant(pool_.wide(kOneDouble)), at_.last(a, half)); break;
      case Op::fma: {
        op(v::move, made, 0, Source::vector(at_.take(c, half)));
        const unsigned first = at_.take(a, half);
        op(v::fma231d, made, first, at_.last(b, half));
        break;
      }
      default: {
        const Op what = item.from->op;
        const unsigned first = at_.take(a, half);
        op(what == Op::add   ? v::addd
           : what == Op::sub ? v::subd
           : what == Op::mul ? v::muld
                             : v::divd,
           made, first, at_.last(b, half));
      }
    }
    at_.put(item, item.writes[0], half, made);
    at_.release();
  }
}

/// As Emitter::extreme().
void Emitter::extreme_doubles(const Item& item, unsigned part) {
  const bool is_min = item.from->op == Op::min;
  for (unsigned half = 2 * part; half < 2 * part + 2; ++half) {
    const unsigned a = at_.take(item.reads[0], half), b = at_.take(item.reads[1], half), first = at_.fresh(),
                   made = at_.fresh();
    const auto blend = [&](unsigned other, unsigned value) {
      op(v::blend_by64, made, other, Source::vector(value), static_cast<int>(first << 4));
    };
    op(v::compared, first, a, Source::vector(b), v::equal_o);
    if (is_min) op(v::and_, first, first, Source::vector(a));
    else op(v::not_and, first, a, Source::vector(first));
    op(v::compared, made, a, Source::vector(b), is_min ? v::less_o : v::greater_o);
    op(v::or_, first, first, Source::vector(made));
    blend(b, a);
    op(v::compared, first, b, Source::vector(b), v::unordered);
    blend(made, a);
    op(v::compared, first, a, Source::vector(a), v::unordered);
    blend(made, b);
    at_.put(item, item.writes[0], half, made);
    at_.release();
  }
}

void Emitter::signs_of_doubles(const Item& item, unsigned part) {
  const bool is_negation = item.from->op == Op::neg;
  for (unsigned half = 2 * part; half < 2 * part + 2; ++half) {
    const unsigned from = at_.take(item.reads[0], half), made = at_.fresh();
    op(is_negation ? v::xor_ : v::and_, made, from, pool_.wide(is_negation ? kSignOfDouble : ~kSignOfDouble));
    at_.put(item, item.writes[0], half, made);
    at_.release();
  }
}

unsigned Emitter::word_as_doubles(const Use& use, unsigned part, unsigned half, bool is_signed) {
  if (!is_signed) {
    // The lower bits of 2^52, less that.
    const unsigned made = widened(use, part, half, false);
    op(v::or_, made, made, pool_.wide(kTwoTo52));
    op(v::subd, made, made, pool_.wide(kTwoTo52));
    return made;
  }
  const unsigned from = at_.take(use, part), made = at_.fresh();
  if (half == 1) op(v::upper_half, from, 0, Source::vector(made), 1);
  op(v::widen_word, made, 0, Source::vector(half == 1 ? made : from));
  return made;
}

void Emitter::convert_doubles(const Item& item, unsigned part) {
  const Use& a = item.reads[0];
  const Use& d = item.writes[0];
  if (item.from->type == Type::f32) {
    const unsigned low = at_.fresh(), high = at_.fresh();
    op(v::narrow_double, low, 0, Source::vector(at_.take(a, 2 * part)));
    op(v::narrow_double, high, 0, Source::vector(at_.take(a, 2 * part + 1)));
    op(v::insert_upper, low, low, Source::vector(high), 1);
    return at_.put(item, d, part, low, true, item.subnormals == Subnormals::flushed);
  }
  for (unsigned half = 0; half < 2; ++half) {
    unsigned made = 0;
    if (item.from->source_type == Type::f32) {
      const unsigned from = at_.take(a, part);
      made = at_.fresh();
      if (half == 1) op(v::upper_half, from, 0, Source::vector(made), 1);
      op(v::widen_float, made, 0, Source::vector(half == 1 ? made : from));
    } else {
      made = word_as_doubles(a, part, half, ptx::is_signed(item.from->source_type));
    }
    at_.put(item, d, 2 * part + half, made);
    at_.release();
  }
}

/// As exp2_float() of ops_approximation.cpp. A NaN goes through: of one, the processor's minimum and maximum are the
/// second source.
void Emitter::power_of_two(const Item& item, unsigned part) {
  const auto word = [&](float value) { return constant(pool_.word(std::bit_cast<std::uint32_t>(value))); };
  const auto wide = [&](double value) { return pool_.wide(std::bit_cast<std::uint64_t>(value)); };
  const unsigned from = at_.take(item.reads[0], part), within = word(exec::kExp2Greatest),
                 least = word(exec::kExp2Least);
  op(v::minf, within, within, Source::vector(from));
  op(v::maxf, within, least, Source::vector(within));
  std::array<unsigned, 2> made{};
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned f = at_.fresh(), magic = at_.fresh(), sum = at_.fresh();
    if (half == 1) op(v::upper_half, within, 0, Source::vector(f), 1);
    op(v::widen_float, f, 0, Source::vector(half == 1 ? f : within));
    op(v::addd, magic, f, wide(exec::kNoFraction));
    op(v::subd, sum, magic, wide(exec::kNoFraction));
    op(v::subd, f, f, Source::vector(sum));
    op(v::load, sum, 0, wide(exec::kExp2Series[0]));
    for (unsigned i = 1; i < std::size(exec::kExp2Series); ++i) op(v::fma213d, sum, f, wide(exec::kExp2Series[i]));
    op(v::add64, magic, magic, pool_.wide(1023));
    shift_by(v::shift64, v::kLeft, magic, magic, 52);
    op(v::muld, sum, sum, Source::vector(magic));
    op(v::narrow_double, sum, 0, Source::vector(sum));
    made[half] = sum;
    at_.release_fresh(std::array<unsigned, 2>{within, made[0]}, std::array<unsigned, 1>{sum});
  }
  op(v::insert_upper, made[0], made[0], Source::vector(made[1]), 1);
  at_.put(item, item.writes[0], part, made[0], true, item.subnormals == Subnormals::flushed);
}

/// By way of doubles, as the interpreter does (ops_float.cpp, RsqrtF).
void Emitter::reciprocal_root(const Item& item, unsigned part) {
  const unsigned from = at_.take(item.reads[0], part);
  std::array<unsigned, 2> made{};
  for (unsigned half = 0; half < 2; ++half) {
    made[half] = at_.fresh();
    if (half == 1) op(v::upper_half, from, 0, Source::vector(made[half]), 1);
    op(v::widen_float, made[half], 0, Source::vector(half == 1 ? made[half] : from));
    op(v::sqrtd, made[half], 0, Source::vector(made[half]));
    op(v::divd, made[half], constant(pool_.wide(kOneDouble)), Source::vector(made[half]));
    op(v::narrow_double, made[half], 0, Source::vector(made[half]));
  }
  op(v::insert_upper, made[0], made[0], Source::vector(made[1]), 1);
  finish_float(item, part, made[0]);
}

/// The quotients of two words each, as doubles. Where all are divided by one number, which most are, by way of its
/// inverse: of a dividend and a half the quotient lies by a half of an inverse away from any whole number, which is
/// more than two roundings of it make.
void Emitter::divide_words(const Item& item, unsigned part, const std::array<unsigned, 2>& dividends) {
  const bool is_signed = ptx::is_signed(item.from->type);
  const Use& b = item.reads[1];
  std::uint64_t number = 0;
  const bool is_number = b.at & kInConstants;
  if (is_number) constant_of(code_, b, number);
  const auto add_half = [&](unsigned dividend, unsigned sign) {
    if (is_signed) {
      op(v::and_, sign, dividend, pool_.wide(kSignOfDouble));
      op(v::or_, sign, sign, pool_.wide(kHalfDouble));
      op(v::addd, dividend, dividend, Source::vector(sign));
    } else {
      op(v::addd, dividend, dividend, pool_.wide(kHalfDouble));
    }
  };
  const unsigned sign = at_.fresh();
  if (is_number && static_cast<std::uint32_t>(number) != 0) {
    const auto word = static_cast<std::uint32_t>(number);
    const double divisor = is_signed ? static_cast<std::int32_t>(word) : static_cast<double>(word);
    for (const unsigned dividend : dividends) {
      add_half(dividend, sign);
      op(v::muld, dividend, dividend, pool_.wide(std::bit_cast<std::uint64_t>(1 / divisor)));
    }
    return;
  }
  const std::array<unsigned, 2> divisors{word_as_doubles(b, part, 0, is_signed),
                                         word_as_doubles(b, part, 1, is_signed)};
  const unsigned first = at_.take(b, part), same = at_.fresh();
  // From here on no value changes its place.
  op(v::spread32, same, 0, Source::vector(first));
  op(v::xor_, same, same, Source::vector(first));
  op(v::test, same, 0, Source::vector(same));
  const auto to_many = to_.jump(Assembler::Condition::differs);
  op(v::load, same, 0, pool_.wide(kOneDouble));
  op(v::divd_short, same, same, Source::vector(divisors[0]));
  op(v::spread64, same, 0, Source::vector(same));
  for (const unsigned dividend : dividends) {
    add_half(dividend, sign);
    op(v::muld, dividend, dividend, Source::vector(same));
  }
  const auto over = to_.jump(Assembler::Condition::always);
  to_.land(to_many);
  for (unsigned half = 0; half < 2; ++half)
    op(v::divd, dividends[half], dividends[half], Source::vector(divisors[half]));
  to_.land(over);
}

/// The quotient of two words as doubles, cut, is that of the words: what it lies below the next whole number is more
/// than a double's last bit there. Zero gives all ones, or the dividend.
void Emitter::quotient(const Item& item, unsigned part) {
  const bool is_signed = ptx::is_signed(item.from->type);
  const auto& [a, b, unused1, unused2, unused3, unused4] = item.reads;
  std::array<unsigned, 2> made{};
  const std::array<unsigned, 2> dividends{word_as_doubles(a, part, 0, is_signed),
                                          word_as_doubles(a, part, 1, is_signed)};
  divide_words(item, part, dividends);
  at_.release_fresh(dividends, dividends);
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned dividend = dividends[half];
    if (is_signed) {
      op(v::cut_double, dividend, 0, Source::vector(dividend));
    } else {
      // By way of 2^52, rounded down: the mode is told to the instruction.
      op(v::round_double, dividend, 0, Source::vector(dividend), 3);
      op(v::addd, dividend, dividend, pool_.wide(kTwoTo52));
    }
    made[half] = dividend;
  }
  unsigned whole = made[0];
  if (is_signed) op(v::insert_upper, whole, whole, Source::vector(made[1]), 1);
  else whole = narrowed(made[0], made[1], false);
  at_.release_fresh(std::array<unsigned, 1>{whole}, std::array<unsigned, 1>{whole});
  const unsigned divisor = at_.take(b, part), is_zero = at_.fresh();
  op(v::xor_, is_zero, is_zero, Source::vector(is_zero));
  op(v::equal32, is_zero, is_zero, Source::vector(divisor));
  if (item.from->op == Op::div) {
    op(v::or_, whole, whole, Source::vector(is_zero));
  } else {
    // By zero the product is zero, and the dividend stays.
    op(v::mul32, whole, whole, Source::vector(divisor));
    const unsigned dividend = at_.take(a, part);
    op(v::sub32, whole, dividend, Source::vector(whole));
  }
  at_.put(item, item.writes[0], part, whole);
}

void Emitter::cut(const Item& item, unsigned part) {
  const Type middle = exec::middle_type(*item.from);
  const int lost = 32 - 8 * static_cast<int>(ptx::bytes_of(middle));
  const unsigned from = at_.take(item.reads[0], part), made = at_.fresh();
  if (lost == 0) {
    op(v::move, made, 0, Source::vector(from));
  } else {
    shift_by(v::shift32, v::kLeft, made, from, lost);
    shift_by(v::shift32, ptx::is_signed(middle) ? v::kArithmetic : v::kRight, made, made, lost);
  }
  if (item.writes[0].form == Form::half) op(v::and_, made, made, pool_.word(0xffff));
  at_.put(item, item.writes[0], part, made);
}

}  // namespace flexrack::sim::jit
