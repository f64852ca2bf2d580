// f16 and bf16, alone and in pairs, by way of f32; a product and a sum in f16 by way of f64.
#include "sim/jit/emitter.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {
namespace {

bool is_brain(Type type) { return type == Type::bf16 || type == Type::bf16x2; }

}  // namespace

/// Eight lanes as floats: of a half, or the lower or upper of a pair.
unsigned Emitter::widened_half(const Use& use, unsigned part, bool is_upper, Type type) {
  const unsigned from = at_.take(use, part), made = at_.fresh();
  if (is_brain(type)) {
    if (is_upper) op(v::and_, made, from, pool_.word(0xffff0000));
    else shift_by(v::shift32, v::kLeft, made, from, 16);
    return made;
  }
  if (is_upper) shift_by(v::shift32, v::kRight, made, from, 16);
  else op(v::and_, made, from, pool_.word(0xffff));
  op(v::pack16, made, made, Source::vector(made));
  op(v::permute64, made, 0, Source::vector(made), 0xd8);
  op(v::from_half, made, 0, Source::vector(made));
  return made;
}

/// a * b + c of four lanes as floats that round to halves as the exact sum does: what a double has beyond a float is
/// put into the float's last bit. In `kept` stay those that are needed yet.
unsigned Emitter::fused_half(const std::array<unsigned, 3>& floats, unsigned half,
                             const std::array<unsigned, 6>& kept) {
  std::array<unsigned, 3> wide{};
  for (unsigned i = 0; i < 3; ++i) {
    wide[i] = at_.fresh();
    if (half == 1) op(v::upper_half, floats[i], 0, Source::vector(wide[i]), 1);
    op(v::widen_float, wide[i], 0, Source::vector(half == 1 ? wide[i] : floats[i]));
  }
  const unsigned sum = wide[2], lost = wide[0], zero = wide[1];
  constexpr std::uint64_t kLastBit = std::uint64_t{1} << 29;
  op(v::fma231d, sum, wide[0], Source::vector(wide[1]));
  op(v::and_, lost, sum, pool_.wide(kLastBit - 1));
  op(v::xor_, sum, sum, Source::vector(lost));
  op(v::xor_, zero, zero, Source::vector(zero));
  op(v::equal64, lost, lost, Source::vector(zero));
  op(v::load, zero, 0, pool_.wide(kLastBit));
  op(v::not_and, lost, lost, Source::vector(zero));
  op(v::or_, sum, sum, Source::vector(lost));
  op(v::narrow_double, sum, 0, Source::vector(sum));
  at_.release_fresh(kept, std::array<unsigned, 1>{sum});
  return sum;
}

/// One result for eight lanes, as 16 bits of a word each.
unsigned Emitter::half_result(const Item& item, unsigned part, bool is_upper, unsigned kept) {
  const Type type = item.from->type;
  const unsigned sources = item.from->op == Op::fma ? 3 : 2;
  std::array<unsigned, 3> floats{kept, kept, kept};
  for (unsigned i = 0; i < sources; ++i) {
    floats[i] = widened_half(item.reads[i], part, is_upper, type);
    at_.release_fresh(floats, std::array<unsigned, 1>{kept});
  }
  unsigned made = floats[0];
  if (sources == 3) {
    const unsigned low = fused_half(floats, 0, {floats[0], floats[1], floats[2], kept, kept, kept});
    const unsigned high = fused_half(floats, 1, {floats[0], floats[1], floats[2], kept, low, low});
    made = low;
    op(v::insert_upper, made, made, Source::vector(high), 1);
  } else {
    op(item.from->op == Op::add   ? v::addf
       : item.from->op == Op::sub ? v::subf
                                  : v::mulf,
       made, made, Source::vector(floats[1]));
  }
  at_.release_fresh(std::array<unsigned, 2>{made, kept}, std::array<unsigned, 1>{made});
  return rounded_to_half(made, is_brain(type) ? Type::bf16 : Type::f16);
}

void Emitter::halves(const Item& item, unsigned part) {
  const bool is_pair = item.writes[0].form == Form::word;
  if (item.from->op == Op::neg || item.from->op == Op::abs) {
    const std::uint32_t signs = is_pair ? 0x80008000 : 0x8000;
    const unsigned from = at_.take(item.reads[0], part), made = at_.fresh();
    if (item.from->op == Op::neg) op(v::xor_, made, from, pool_.word(signs));
    else op(v::and_, made, from, pool_.word(~signs));
    return at_.put(item, item.writes[0], part, made);
  }
  // Something to keep where there is nothing yet.
  const unsigned nothing = at_.fresh();
  const unsigned low = half_result(item, part, false, nothing);
  if (!is_pair) return at_.put(item, item.writes[0], part, low);
  at_.release_fresh(std::array<unsigned, 1>{low}, std::array<unsigned, 1>{low});
  const unsigned high = half_result(item, part, true, low);
  shift_by(v::shift32, v::kLeft, high, high, 16);
  op(v::or_, high, high, Source::vector(low));
  at_.put(item, item.writes[0], part, high);
}

}  // namespace flexrack::sim::jit
