// f32 and conversions.
#include "sim/exec/numbers.h"
#include "sim/jit/emitter.h"
#include "sim/jit/memory.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

constexpr std::uint32_t kSignBit = 0x80000000, kOneFloat = 0x3f800000;

/// Clamped, or with the NaN and the subnormals that arithmetic gave.
void Emitter::finish_float(const Item& item, unsigned part, unsigned value) {
  const bool is_saturated = item.from->flags & ptx::kSaturate;
  if (is_saturated) {
    // Of a NaN, and of two zeros, the second source.
    const unsigned zero = at_.fresh();
    op(v::xor_, zero, zero, Source::vector(zero));
    op(v::maxf, value, value, Source::vector(zero));
    op(v::minf, value, value, pool_.word(kOneFloat));
  }
  at_.put(item, item.writes[0], part, value, !is_saturated, !is_saturated && item.subnormals == Subnormals::flushed);
}

void Emitter::rounded_op(const Item& item, const Vex& what, unsigned to, unsigned first, const Source& second) {
  const int mode = rounding_mode(item.from->rounding);
  if (mode <= 0) return op(what, to, first, second);
  static_assert(StackFrame::kRounding == 8);
  to_.bytes({0x0f, 0xae, 0x5c, 0x24, 0x08, 0x8b, 0x4c, 0x24, 0x08});  // stmxcsr [rsp + 8]; mov ecx, [rsp + 8]
  to_.bytes({0x81, 0xe1, 0xff, 0x9f, 0xff, 0xff, 0x81, 0xc9, 0, static_cast<std::uint8_t>(mode << 5), 0,
             0});  // and ecx, ~0x6000; or ecx, mode << 13
  to_.bytes({0x89, 0x4c, 0x24, 0x0c, 0x0f, 0xae, 0x54, 0x24, 0x0c});  // mov [rsp + 12], ecx; ldmxcsr [rsp + 12]
  op(what, to, first, second);
  to_.bytes({0x0f, 0xae, 0x54, 0x24, 0x08});  // ldmxcsr [rsp + 8]
}

void Emitter::floats(const Item& item, unsigned part) {
  const auto& [a, b, c, unused1, unused2, unused3] = item.reads;
  const unsigned made = at_.fresh();
  switch (item.from->op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div: {
      const unsigned first = at_.take_float(a, part);
      const Op what = item.from->op;
      const auto second = at_.last_float(b, part);
      rounded_op(item,
                 what == Op::add   ? v::addf
                 : what == Op::sub ? v::subf
                 : what == Op::mul ? v::mulf
                                   : v::divf,
                 made, first, second);
      break;
    }
    case Op::rcp: {
      const unsigned one = constant(pool_.word(kOneFloat));
      const auto by = at_.last_float(a, part);
      rounded_op(item, v::divf, made, one, by);
      break;
    }
    default: {
      const auto from = at_.last_float(a, part);
      rounded_op(item, v::sqrtf, made, 0, from);
    }
  }
  finish_float(item, part, made);
}

void Emitter::fused(const Item& item, unsigned part) {
  const auto& [a, b, c, unused1, unused2, unused3] = item.reads;
  if (!at_.is_last_read(c, item) && (at_.is_last_read(a, item) || (c.at & kInConstants))) {
    const unsigned product = at_.copy_float(a, part, item);
    const unsigned by = at_.take_float(b, part);
    const auto more = at_.last_float(c, part);
    rounded_op(item, v::fma213, product, by, more);
    return finish_float(item, part, product);
  }
  const unsigned made = at_.copy_float(c, part, item);
  const unsigned first = at_.take_float(a, part);
  const auto by = at_.last_float(b, part);
  rounded_op(item, v::fma231, made, first, by);
  finish_float(item, part, made);
}

/// -0 is less than +0; of a number and a NaN the number.
void Emitter::extreme(const Item& item, unsigned part) {
  const bool is_min = item.from->op == Op::min;
  const unsigned a = at_.take_float(item.reads[0], part), b = at_.take_float(item.reads[1], part), first = at_.fresh(),
                 made = at_.fresh();
  // The blend looks at sign bits: whether a is the one, or both are the same and a's sign tells.
  op(v::comparef, first, a, Source::vector(b), v::equal_o);
  if (is_min) {
    op(v::and_, first, first, Source::vector(a));
  } else {
    op(v::not_and, first, a, Source::vector(first));
  }
  op(v::comparef, made, a, Source::vector(b), is_min ? v::less_o : v::greater_o);
  op(v::or_, first, first, Source::vector(made));
  op(v::blend_by, made, b, Source::vector(a), static_cast<int>(first << 4));
  op(v::comparef, first, b, Source::vector(b), v::unordered);
  op(v::blend_by, made, made, Source::vector(a), static_cast<int>(first << 4));
  at_.put(item, item.writes[0], part, made, true, item.subnormals == Subnormals::flushed);
}

void Emitter::magnitude(const Item& item, unsigned part) {
  const bool is_float = item.from->type == Type::f32, is_flushed = item.subnormals == Subnormals::flushed;
  const unsigned from = at_.take(item.reads[0], part), made = at_.fresh();
  if (!is_float) {
    op(v::abs32, made, 0, Source::vector(from));
    return at_.put(item, item.writes[0], part, made);
  }
  if (item.from->op == Op::neg) op(v::xor_, made, from, pool_.word(kSignBit));
  else op(v::and_, made, from, pool_.word(~kSignBit));
  if (item.from->flags & ptx::kSaturate) return finish_float(item, part, made);
  at_.put(item, item.writes[0], part, made, false, is_flushed);
}

/// By ptx::Compare.
constexpr int kPredicates[] = {
    0,           v::equal_o,   v::differs_o, v::less_o,       v::less_equal_o, v::greater_o,       v::greater_equal_o,
    v::equal_u,  v::differs_u, v::less_u,    v::less_equal_u, v::greater_u,    v::greater_equal_u, v::ordered,
    v::unordered};

unsigned Emitter::compared_doubles(const Item& item, unsigned wide_part) {
  const unsigned a = at_.take(item.reads[0], wide_part), made = at_.fresh();
  op(v::compared, made, a, at_.last(item.reads[1], wide_part), kPredicates[static_cast<unsigned>(item.from->compare)]);
  return made;
}

unsigned Emitter::compared_words(const Item& item, unsigned part) {
  using ptx::Compare;
  const auto how = item.from->compare;
  const unsigned made = at_.fresh();
  if (item.from->type == Type::f32) {
    const unsigned a = at_.take_float(item.reads[0], part);
    op(v::comparef, made, a, at_.last_float(item.reads[1], part), kPredicates[static_cast<unsigned>(how)]);
    return made;
  }
  unsigned a = at_.take(item.reads[0], part), b = at_.take(item.reads[1], part);
  const bool is_signed = ptx::is_signed(item.from->type);
  if (is_signed && item.reads[0].form == Form::half) {
    // Of 16 bits, with their sign where words have theirs.
    const unsigned from_a = a, from_b = b;
    a = at_.fresh(), b = at_.fresh();
    shift_by(v::shift32, v::kLeft, a, from_a, 16);
    shift_by(v::shift32, v::kLeft, b, from_b, 16);
  }
  const auto first = Source::vector(a), second = Source::vector(b);
  switch (how) {
    case Compare::eq: op(v::equal32, made, a, second); return made;
    case Compare::ne: op(v::equal32, made, a, second); return inverted(made);
    case Compare::gt:
    case Compare::le:
      if (is_signed) {
        op(v::greater32, made, a, second);
        return how == Compare::gt ? made : inverted(made);
      }
      op(v::min_unsigned, made, a, second);
      op(v::equal32, made, made, first);
      return how == Compare::le ? made : inverted(made);
    default:
      if (is_signed) {
        op(v::greater32, made, b, first);
        return how == Compare::lt ? made : inverted(made);
      }
      op(v::max_unsigned, made, a, second);
      op(v::equal32, made, made, first);
      return how == Compare::ge ? made : inverted(made);
  }
}

unsigned Emitter::compared_wides(const Item& item, unsigned wide_part) {
  using ptx::Compare;
  const auto how = item.from->compare;
  unsigned a = at_.take(item.reads[0], wide_part), b = at_.take(item.reads[1], wide_part);
  const unsigned made = at_.fresh();
  if (how == Compare::eq || how == Compare::ne) {
    op(v::equal64, made, a, Source::vector(b));
    return how == Compare::eq ? made : inverted(made);
  }
  if (!ptx::is_signed(item.from->type)) {
    const auto sign = pool_.wide(std::uint64_t{1} << 63);
    const unsigned from_a = a, from_b = b;
    a = at_.fresh(), b = at_.fresh();
    op(v::xor_, a, from_a, sign);
    op(v::xor_, b, from_b, sign);
  }
  const bool is_greater = how == Compare::gt || how == Compare::le;
  op(v::greater64, made, is_greater ? a : b, Source::vector(is_greater ? b : a));
  return how == Compare::gt || how == Compare::lt ? made : inverted(made);
}

void Emitter::compare(const Item& item, unsigned part) {
  unsigned holds = 0;
  if (item.reads[0].form == Form::wide) {
    const bool is_double = item.from->type == Type::f64;
    const unsigned low = is_double ? compared_doubles(item, 2 * part) : compared_wides(item, 2 * part);
    at_.release(low);
    const unsigned high = is_double ? compared_doubles(item, 2 * part + 1) : compared_wides(item, 2 * part + 1);
    holds = narrowed(low, high, false);
    at_.release(holds);
  } else {
    holds = compared_words(item, part);
  }
  const auto combined = [&](unsigned value) {
    const Use& with = item.reads[2];
    if (with.at == kNowhere || item.from->combine == ptx::Combine::none) return value;
    const unsigned other = predicate(with, part), made = at_.fresh();
    op(item.from->combine == ptx::Combine::logic_and  ? v::and_
       : item.from->combine == ptx::Combine::logic_or ? v::or_
                                                      : v::xor_,
       made, value, Source::vector(other));
    return made;
  };
  // Both are made before the first is written: it may be the predicate to combine with.
  const bool has_second = item.writes[1].at != kNowhere;
  const unsigned first = combined(holds), second = has_second ? combined(inverted(holds)) : 0;
  if (item.writes[0].at != kNowhere) at_.put(item, item.writes[0], part, first);
  if (has_second) at_.put(item, item.writes[1], part, second);
}

void Emitter::select(const Item& item, unsigned part) {
  const bool is_wide = item.writes[0].form == Form::wide, is_negated = item.reads[2].at & kNegated;
  const Use& a = item.reads[is_negated ? 1 : 0];
  const Use& b = item.reads[is_negated ? 0 : 1];
  const unsigned count = is_wide ? 2 : 1;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned by =
        is_wide ? widened({item.reads[2].at, Form::mask}, part, i, true) : at_.take(item.reads[2], part);
    const unsigned other = at_.take(b, part * count + i);
    const auto chosen = at_.last(a, part * count + i);
    const unsigned made = at_.fresh();
    op(v::blend_by, made, other, chosen, static_cast<int>(by << 4));
    at_.put(item, item.writes[0], part * count + i, made);
    at_.release();
  }
}

void Emitter::convert(const Item& item, unsigned part) {
  const auto& from = *item.from;
  const Use& a = item.reads[0];
  const Use& d = item.writes[0];
  if (d.form == Form::wide) {
    // The source's sign fills the rest; of equal width it is the same.
    for (unsigned half = 0; half < 2; ++half) {
      unsigned made = 0;
      if (a.form == Form::wide) {
        made = at_.fresh();
        op(v::move, made, 0, Source::vector(at_.take(a, 2 * part + half)));
      } else {
        made = widened(a, part, half, ptx::is_signed(from.source_type));
      }
      at_.put(item, d, 2 * part + half, made);
      at_.release();
    }
    return;
  }
  if (a.form == Form::wide) {
    const unsigned low = at_.take(a, 2 * part), high = at_.take(a, 2 * part + 1);
    return at_.put(item, d, part, narrowed(low, high, false));
  }
  const bool to_float = from.type == Type::f32, is_float = from.source_type == Type::f32;
  if (!to_float && !is_float) return cut(item, part);
  if (is_float && d.form == Form::half) return at_.put(item, d, part, narrow_float(a, part, from.type));
  const unsigned value = at_.take(a, part), made = at_.fresh();
  if (to_float && from.source_type == Type::s32) {
    op(v::from_signed, made, 0, Source::vector(value));
    return at_.put(item, d, part, made);
  }
  if (to_float && from.source_type == Type::u32) {
    // Both halves are exact, and the sum is rounded once.
    const unsigned upper = at_.fresh();
    shift_by(v::shift32, v::kRight, upper, value, 16);
    op(v::from_signed, upper, 0, Source::vector(upper));
    op(v::and_, made, value, pool_.word(0xffff));
    op(v::from_signed, made, 0, Source::vector(made));
    op(v::fma231, made, upper, pool_.word(0x47800000));
    return at_.put(item, d, part, made);
  }
  if (to_float && from.source_type == Type::bf16) {
    shift_by(v::shift32, v::kLeft, made, value, 16);
    return at_.put(item, d, part, made, true);
  }
  if (to_float && !is_float) {
    op(v::pack16, made, value, Source::vector(value));
    op(v::permute64, made, 0, Source::vector(made), 0xd8);
    op(v::from_half, made, 0, Source::vector(made));
    return at_.put(item, d, part, made, true);
  }
  const int mode = rounding_mode(from.rounding);
  if (to_float) {
    op(v::round_float, made, 0, Source::vector(value), mode | 8);
    return at_.put(item, d, part, made, true, item.subnormals == Subnormals::flushed);
  }
  const unsigned other = at_.fresh();
  // To s32: what is out of range is 0x80000000: of the greatest numbers all other bits, of a NaN zero.
  if (mode != 3) op(v::round_float, made, 0, Source::vector(value), mode | 8);
  op(v::truncate, made, 0, Source::vector(mode == 3 ? value : made));
  op(v::comparef, other, value, pool_.word(0x4f000000), v::greater_equal_o);
  op(v::xor_, made, made, Source::vector(other));
  op(v::comparef, other, value, Source::vector(value), v::ordered);
  op(v::and_, made, made, Source::vector(other));
  at_.put(item, d, part, made);
}

unsigned Emitter::rounded_to_half(unsigned value, Type type) {
  const unsigned made = at_.fresh(), other = at_.fresh();
  if (type == Type::bf16) {
    // To nearest, to even: half of what is cut is added, less where the result is even.
    shift_by(v::shift32, v::kRight, made, value, 16);
    op(v::and_, made, made, pool_.word(1));
    op(v::add32, made, made, pool_.word(0x7fff));
    op(v::add32, made, made, Source::vector(value));
    shift_by(v::shift32, v::kRight, made, made, 16);
  } else {
    op(v::to_half, value, 0, Source::vector(made), 0);
    op(v::widen16, made, 0, Source::vector(made));
  }
  op(v::comparef, other, value, Source::vector(value), v::unordered);
  op(v::blend_by, made, made, pool_.word(0x7fff), static_cast<int>(other << 4));
  return made;
}

/// The second source is the lower half.
void Emitter::pair(const Item& item, unsigned part) {
  const Type type = item.from->type == Type::bf16x2 ? Type::bf16 : Type::f16;
  const unsigned high = narrow_float(item.reads[0], part, type), low = narrow_float(item.reads[1], part, type);
  shift_by(v::shift32, v::kLeft, high, high, 16);
  op(v::or_, high, high, Source::vector(low));
  at_.put(item, item.writes[0], part, high);
}

}  // namespace flexrack::sim::jit
