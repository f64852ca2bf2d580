#include "sim/jit/emitter.h"

#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

void Emitter::emit(const Item& item, unsigned part) {
  const Form form = item.writes[0].form;
  const bool is_float = item.from->type == Type::f32, is_double = item.from->type == Type::f64;
  if (is_half_arithmetic(*item.from)) return halves(item, part);
  switch (item.from->op) {
    case Op::add:
    case Op::sub:
      if (is_double) return doubles(item, part);
      if (is_float) return floats(item, part);
      return form == Form::wide ? wide_integers(item, part) : integers(item, part);
    case Op::div:
    case Op::rem:
      if (!is_float && !is_double) return quotient(item, part);
      return is_double ? doubles(item, part) : floats(item, part);
    case Op::mul:
    case Op::rcp:
    case Op::sqrt: return is_double ? doubles(item, part) : floats(item, part);
    case Op::ex2: return power_of_two(item, part);
    case Op::rsqrt: return reciprocal_root(item, part);
    case Op::fma: return is_double ? doubles(item, part) : fused(item, part);
    case Op::min:
    case Op::max:
      return is_double ? extreme_doubles(item, part) : is_float ? extreme(item, part) : integers(item, part);
    case Op::abs: return is_double ? signs_of_doubles(item, part) : magnitude(item, part);
    case Op::neg:
      if (is_double) return signs_of_doubles(item, part);
      return is_float ? magnitude(item, part) : negation(item, part);
    case Op::mul_lo: return form == Form::wide ? low_product64(item, part) : integers(item, part);
    case Op::mad_lo: return integers(item, part);
    case Op::mul_hi: return high_product(item, part);
    case Op::mul_wide:
    case Op::mad_wide: return wide_product(item, part);
    case Op::logic_and:
    case Op::logic_or:
    case Op::logic_xor:
    case Op::logic_not: return logic(item, part);
    case Op::shl:
    case Op::shr: return shift(item, part);
    case Op::shf_l:
    case Op::shf_r: return funnel(item, part);
    case Op::lop3: return table(item, part);
    case Op::setp: return compare(item, part);
    case Op::selp: return select(item, part);
    case Op::cvt:
      if (item.reads[1].at != kNowhere) return pair(item, part);
      if (is_double || item.from->source_type == Type::f64) return convert_doubles(item, part);
      return convert(item, part);
    case Op::mov_pack: return pack(item, part);
    case Op::mov_unpack: return unpack(item, part);
    case Op::mov_shared:
    case Op::mov_param:
    case Op::mov_variable: return fill(item, part);
    default: return move(item, part);
  }
}

void Emitter::move(const Item& item, unsigned part) {
  const Form form = item.writes[0].form;
  const unsigned count = form == Form::wide ? 2 : 1;
  for (unsigned i = part * count; i < part * count + count; ++i) {
    if (form == Form::mask) {
      const unsigned from = predicate(item.reads[0], i), copied = at_.fresh();
      op(v::move, copied, 0, Source::vector(from));
      at_.put(item, item.writes[0], i, copied);
      continue;
    }
    const auto from = at_.last(item.reads[0], i);
    const unsigned made = at_.fresh();
    const auto displacement = static_cast<std::uint64_t>(item.step->displacement);
    if (item.from->op == Op::cvta && displacement != 0) {
      op(v::load, made, 0, from);
      op(v::add64, made, made, pool_.wide(displacement));
    } else if (item.from->op == Op::cvta_to && displacement != ~std::uint64_t{0}) {
      op(v::load, made, 0, from);
      op(v::and_, made, made, pool_.wide(displacement));
    } else {
      op(v::load, made, 0, from);
    }
    at_.put(item, item.writes[0], i, made);
    at_.release();
  }
}

/// One value in all lanes.
void Emitter::fill(const Item& item, unsigned part) {
  const bool is_wide = item.writes[0].form == Form::wide;
  const auto value = static_cast<std::uint64_t>(item.step->displacement);
  const auto from = is_wide ? pool_.wide(value) : pool_.word(static_cast<std::uint32_t>(value));
  for (unsigned i = is_wide ? 2 * part : part; i < (is_wide ? 2 * part + 2 : part + 1); ++i)
    at_.put(item, item.writes[0], i, constant(from));
}

void Emitter::pack(const Item& item, unsigned part) {
  if (item.writes[0].form == Form::word) {
    const unsigned made = at_.fresh();
    shift_by(v::shift32, v::kLeft, made, at_.take(item.reads[1], part), 16);
    op(v::or_, made, made, Source::vector(at_.take(item.reads[0], part)));
    return at_.put(item, item.writes[0], part, made);
  }
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned low = widened(item.reads[0], part, half, false), high = widened(item.reads[1], part, half, false);
    shift_by(v::shift64, v::kLeft, high, high, 32);
    op(v::or_, low, low, Source::vector(high));
    at_.put(item, item.writes[0], 2 * part + half, low);
    at_.release();
  }
}

void Emitter::unpack(const Item& item, unsigned part) {
  const auto& [low, high, unused1, unused2] = item.writes;
  unsigned first = 0, second = 0;
  if (item.reads[0].form == Form::wide) {
    const unsigned a = at_.take(item.reads[0], 2 * part), b = at_.take(item.reads[0], 2 * part + 1);
    first = narrowed(a, b, false), second = narrowed(a, b, true);
  } else {
    const unsigned whole = at_.take(item.reads[0], part);
    first = at_.fresh(), second = at_.fresh();
    op(v::and_, first, whole, pool_.word(0xffff));
    shift_by(v::shift32, v::kRight, second, whole, 16);
  }
  if (low.at != kNowhere) at_.put(item, low, part, first);
  if (high.at != kNowhere) at_.put(item, high, part, second);
}

}  // namespace flexrack::sim::jit
