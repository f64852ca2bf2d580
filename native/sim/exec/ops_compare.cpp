// setp, set, selp, slct, testp (PTX ISA 9.0, 9.7.6 and 9.7.7).
#include <bit>
#include <type_traits>

#include "sim/exec/halves.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Compare;

template <class T, Compare How>
struct CompareI : Shape<u32, T> {
  FLEXRACK_INLINE explicit CompareI(const Step&) {}
  FLEXRACK_INLINE bool operator()(T a, T b) const {
    if constexpr (How == Compare::eq) return a == b;
    if constexpr (How == Compare::ne) return a != b;
    if constexpr (How == Compare::lt) return a < b;
    if constexpr (How == Compare::le) return a <= b;
    if constexpr (How == Compare::gt) return a > b;
    return a >= b;
  }
};

/// Which of less, equal, greater and unordered make a comparison true.
struct Truth {
  bool less, equal, greater, unordered;
};
constexpr Truth truth_of(Compare how) {
  switch (how) {
    case Compare::eq: return {false, true, false, false};
    case Compare::ne: return {true, false, true, false};
    case Compare::lt: return {true, false, false, false};
    case Compare::le: return {true, true, false, false};
    case Compare::gt: return {false, false, true, false};
    case Compare::ge: return {false, true, true, false};
    case Compare::equ: return {false, true, false, true};
    case Compare::neu: return {true, false, true, true};
    case Compare::ltu: return {true, false, false, true};
    case Compare::leu: return {true, true, false, true};
    case Compare::gtu: return {false, false, true, true};
    case Compare::geu: return {false, true, true, true};
    case Compare::num: return {true, true, true, false};
    case Compare::nan: return {false, false, false, true};
    case Compare::none: break;
  }
  return {};
}

template <class T, Compare How, bool Ftz>
struct CompareF : Shape<u32, T> {
  FLEXRACK_INLINE explicit CompareF(const Step&) {}
  FLEXRACK_INLINE bool operator()(T a, T b) const {
    a = operand<Ftz>(a), b = operand<Ftz>(b);
    // One machine comparison for each: the unordered ones are the others' opposites.
    if constexpr (How == Compare::eq) return a == b;
    if constexpr (How == Compare::ne) return (a < b) | (a > b);
    if constexpr (How == Compare::lt) return a < b;
    if constexpr (How == Compare::le) return a <= b;
    if constexpr (How == Compare::gt) return a > b;
    if constexpr (How == Compare::ge) return a >= b;
    if constexpr (How == Compare::equ) return !((a < b) | (a > b));
    if constexpr (How == Compare::neu) return !(a == b);
    if constexpr (How == Compare::ltu) return !(a >= b);
    if constexpr (How == Compare::leu) return !(a > b);
    if constexpr (How == Compare::gtu) return !(a <= b);
    if constexpr (How == Compare::geu) return !(a < b);
    if constexpr (How == Compare::num) return (a == a) & (b == b);
    return (a != a) | (b != b);
  }
};

bool holds_for(Compare how, float a, float b) {
  const Truth truth = truth_of(how);
  return a < b ? truth.less : a > b ? truth.greater : a == b ? truth.equal : truth.unordered;
}

/// One half against one half.
bool compare_halves(const Instruction& from, Type type, u16 a, u16 b) {
  if (type == Type::bf16 || type == Type::bf16x2)
    return holds_for(from.compare, bfloat_to_float(a), bfloat_to_float(b));
  if (from.flags & ptx::kFtz) a = HalfFormat::flush(a), b = HalfFormat::flush(b);
  return holds_for(from.compare, half_to_float(a), half_to_float(b));
}

u32 combined(const Warp& warp, const Step* step, u32 holds) {
  if (step->c == kNowhere) return holds;
  const u32 with = warp.predicate(step->c);
  switch (step->source->combine) {
    case ptx::Combine::logic_and: return holds & with;
    case ptx::Combine::logic_or: return holds | with;
    case ptx::Combine::logic_xor: return holds ^ with;
    default: return holds;
  }
}

/// setp of f16, bf16 and pairs: of pairs the second result is the high half's.
const Step* compare_half_lanes(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  const bool is_pair = from.type == Type::f16x2 || from.type == Type::bf16x2;
  u32 low = 0, high = 0;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u32 a = is_pair ? warp.registers<const u32>(step->a)[lane] : warp.registers<const u16>(step->a)[lane];
    const u32 b = is_pair ? warp.registers<const u32>(step->b)[lane] : warp.registers<const u16>(step->b)[lane];
    low |= static_cast<u32>(compare_halves(from, from.type, static_cast<u16>(a), static_cast<u16>(b))) << lane;
    if (is_pair)
      high |= static_cast<u32>(compare_halves(from, from.type, static_cast<u16>(a >> 16), static_cast<u16>(b >> 16)))
              << lane;
  }
  finish_compare(warp, step, low, is_pair ? high : ~low);
  return step + 1;
}

template <class T>
Handler compare_integers(Compare how, bool is_plain) {
  switch (how) {
    case Compare::eq: return compare_handler<CompareI<std::make_unsigned_t<T>, Compare::eq>>(is_plain);
    case Compare::ne: return compare_handler<CompareI<std::make_unsigned_t<T>, Compare::ne>>(is_plain);
    case Compare::lt: return compare_handler<CompareI<T, Compare::lt>>(is_plain);
    case Compare::le: return compare_handler<CompareI<T, Compare::le>>(is_plain);
    case Compare::gt: return compare_handler<CompareI<T, Compare::gt>>(is_plain);
    case Compare::ge: return compare_handler<CompareI<T, Compare::ge>>(is_plain);
    default: return nullptr;
  }
}

template <class T, bool Ftz>
Handler compare_floats(Compare how, bool is_plain) {
  switch (how) {
    case Compare::eq: return compare_handler<CompareF<T, Compare::eq, Ftz>>(is_plain);
    case Compare::ne: return compare_handler<CompareF<T, Compare::ne, Ftz>>(is_plain);
    case Compare::lt: return compare_handler<CompareF<T, Compare::lt, Ftz>>(is_plain);
    case Compare::le: return compare_handler<CompareF<T, Compare::le, Ftz>>(is_plain);
    case Compare::gt: return compare_handler<CompareF<T, Compare::gt, Ftz>>(is_plain);
    case Compare::ge: return compare_handler<CompareF<T, Compare::ge, Ftz>>(is_plain);
    case Compare::equ: return compare_handler<CompareF<T, Compare::equ, Ftz>>(is_plain);
    case Compare::neu: return compare_handler<CompareF<T, Compare::neu, Ftz>>(is_plain);
    case Compare::ltu: return compare_handler<CompareF<T, Compare::ltu, Ftz>>(is_plain);
    case Compare::leu: return compare_handler<CompareF<T, Compare::leu, Ftz>>(is_plain);
    case Compare::gtu: return compare_handler<CompareF<T, Compare::gtu, Ftz>>(is_plain);
    case Compare::geu: return compare_handler<CompareF<T, Compare::geu, Ftz>>(is_plain);
    case Compare::num: return compare_handler<CompareF<T, Compare::num, Ftz>>(is_plain);
    case Compare::nan: return compare_handler<CompareF<T, Compare::nan, Ftz>>(is_plain);
    case Compare::none: break;
  }
  return nullptr;
}

Handler compare_by_type(Type type, Compare how, bool ftz, bool is_plain) {
  switch (type) {
    case Type::u16:
    case Type::b16: return compare_integers<u16>(how, is_plain);
    case Type::s16: return compare_integers<std::int16_t>(how, is_plain);
    case Type::u32:
    case Type::b32: return compare_integers<u32>(how, is_plain);
    case Type::s32: return compare_integers<std::int32_t>(how, is_plain);
    case Type::u64:
    case Type::b64: return compare_integers<u64>(how, is_plain);
    case Type::s64: return compare_integers<std::int64_t>(how, is_plain);
    case Type::f32:
      return ftz ? compare_floats<float, true>(how, is_plain) : compare_floats<float, false>(how, is_plain);
    case Type::f64: return compare_floats<double, false>(how, is_plain);
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2: return compare_half_lanes;
    default: return nullptr;
  }
}

/// What set writes where the comparison holds.
u32 true_of(Type type) {
  switch (type) {
    case Type::f32: return 0x3f800000;
    case Type::f16: return 0x3c00;
    case Type::f16x2: return 0x3c003c00;
    case Type::bf16: return 0x3f80;
    case Type::bf16x2: return 0x3f803f80;
    case Type::u16:
    case Type::s16: return 0xffff;
    default: return 0xffffffff;
  }
}

/// set: by the handler of setp, whose two predicates finish_compare() puts into Warp::compared.
const Step* sets(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  u32 predicates[2] = {};
  warp.compared = predicates;
  step->inner(warp, step);
  warp.compared = nullptr;
  const bool is_pair = from.source_type == Type::f16x2 || from.source_type == Type::bf16x2;
  const u32 one = true_of(from.type), low_one = is_pair ? one & 0xffff : one, high_one = is_pair ? one & 0xffff0000 : 0;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u32 value = (predicates[0] >> lane & 1 ? low_one : 0) | (predicates[1] >> lane & 1 ? high_one : 0);
    if (from.o[0].width == ptx::Width::w16) {
      warp.registers<u16>(step->d)[lane] = static_cast<u16>(value);
    } else {
      warp.registers<u32>(step->d)[lane] = value;
    }
  }
  return step + 1;
}

template <class T, class C>
struct Slct : Shape<T, T, T, C> {
  FLEXRACK_OPERATION(Slct, 3, true)
  FLEXRACK_INLINE T operator()(T a, T b, C c) const { return c >= C{0} ? a : b; }
};
template <class T>
struct SlctFtz : Shape<T, T, T, float> {
  FLEXRACK_OPERATION(SlctFtz, 3, true)
  FLEXRACK_INLINE T operator()(T a, T b, float c) const { return flush(c) >= 0.0f ? a : b; }
};
template <class T>
Handler slct(const Instruction& from) {
  if (from.source_type == Type::s32) return handler<Slct<T, std::int32_t>>();
  return from.flags & ptx::kFtz ? handler<SlctFtz<T>>() : handler<Slct<T, float>>();
}

const Step* selects_predicates(Warp& warp, const Step* step) {
  const u32 choice = warp.predicate(step->c);
  warp.set_predicate(step->d, (choice & warp.predicate(step->a)) | (~choice & warp.predicate(step->b)));
  return step + 1;
}

template <class T>
const Step* tests_property(Warp& warp, const Step* step) {
  constexpr Word<T> kFraction = sizeof(T) == 4 ? Word<T>{0x7fffff} : static_cast<Word<T>>(0xfffffffffffffU),
                    kExponent = static_cast<Word<T>>(~kFraction & ~kSign<T>);
  const auto* a = warp.registers<const Word<T>>(step->a);
  u32 holds = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Word<T> exponent = a[lane] & kExponent, fraction = a[lane] & kFraction;
    bool is = false;
    switch (static_cast<ptx::TestProperty>(step->source->detail)) {
      case ptx::TestProperty::finite: is = exponent != kExponent; break;
      case ptx::TestProperty::infinite: is = exponent == kExponent && fraction == 0; break;
      case ptx::TestProperty::number: is = exponent != kExponent || fraction == 0; break;
      case ptx::TestProperty::notanumber: is = exponent == kExponent && fraction != 0; break;
      case ptx::TestProperty::normal: is = exponent != kExponent && exponent != 0; break;
      case ptx::TestProperty::subnormal: is = exponent == 0 && fraction != 0; break;
    }
    holds |= static_cast<u32>(is) << lane;
  }
  warp.set_predicate(step->d, holds);
  return step + 1;
}

}  // namespace

void finish_compare(Warp& warp, const Step* step, u32 holds, u32 others) {
  const u32 first = combined(warp, step, holds), second = combined(warp, step, others);
  if (warp.compared != nullptr) {
    warp.compared[0] = first, warp.compared[1] = second;
    return;
  }
  if (step->d != kNowhere) warp.set_predicate(step->d, first);
  if (step->e != kNowhere) warp.set_predicate(step->e, second);
}

Handler compare_family_handler(const Instruction& from, Step& step) {
  const bool ftz = from.flags & ptx::kFtz;
  const unsigned width = from.op == Op::selp || from.op == Op::slct ? ptx::bytes_of(from.type) : 0;
  switch (from.op) {
    case Op::setp:
      step.d = place_of(from.o[0]), step.e = place_of(from.o[1]), step.a = place_of(from.o[2]),
      step.b = place_of(from.o[3]), step.c = place_of(from.o[4]);
      return compare_by_type(from.type, from.compare, ftz,
                             step.e == kNowhere && step.c == kNowhere && step.d != kNowhere);
    case Op::set: {
      const auto compare = compare_by_type(from.source_type, from.compare, ftz, false);
      step.inner = compare;
      return compare == nullptr ? nullptr : sets;
    }
    case Op::selp:
      if (from.type == Type::pred) return selects_predicates;
      return width == 2   ? select_handler<u16>()
             : width == 4 ? select_handler<u32>()
             : width == 8 ? select_handler<u64>()
                          : nullptr;
    case Op::slct:
      return width == 2 ? slct<u16>(from) : width == 4 ? slct<u32>(from) : width == 8 ? slct<u64>(from) : nullptr;
    case Op::testp: return from.type == Type::f64 ? tests_property<double> : tests_property<float>;
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
