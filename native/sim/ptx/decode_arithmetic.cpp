// Arithmetic, bits and comparisons. Facts: PTX ISA 9.0, 9.7.1 to 9.7.8.
#include <iterator>

#include "sim/ptx/decoder.h"

namespace flexrack::sim::ptx {

namespace {

using Types = std::uint64_t;

constexpr Types bit(Type type) { return Types{1} << static_cast<unsigned>(type); }

constexpr Types kPacked = bit(Type::u16x2) | bit(Type::s16x2);
constexpr Types kInt32 = bit(Type::u32) | bit(Type::s32);
constexpr Types kInts = kInt32 | bit(Type::u16) | bit(Type::s16) | bit(Type::u64) | bit(Type::s64);
constexpr Types kSigned = bit(Type::s16) | bit(Type::s32) | bit(Type::s64);
constexpr Types kWide = kInt32 | bit(Type::u16) | bit(Type::s16);
constexpr Types kHalves = bit(Type::f16) | bit(Type::f16x2) | bit(Type::bf16) | bit(Type::bf16x2);
constexpr Types kReals = bit(Type::f32) | bit(Type::f64);
constexpr Types kFloats = kHalves | kReals | bit(Type::f32x2);
constexpr Types kF32 = bit(Type::f32);
constexpr Types kB32 = bit(Type::b32);
constexpr Types kBits = bit(Type::b16) | bit(Type::b32) | bit(Type::b64);
constexpr Types kBits3264 = bit(Type::b32) | bit(Type::b64);
constexpr Types kLogic = kBits | bit(Type::pred);
constexpr Types kInt3264 = kInt32 | bit(Type::u64) | bit(Type::s64);

struct Form {
  std::string_view name;
  std::string_view word;    ///< needed; empty: none
  Op op;
  std::string_view signature;
  Types types;
  std::uint16_t flags = 0;
  bool is_rounded = false;
  std::uint8_t detail = 0;
};

constexpr auto detail(TestProperty value) { return static_cast<std::uint8_t>(value); }
constexpr auto detail(PermuteMode value) { return static_cast<std::uint8_t>(value); }

constexpr std::uint16_t kMinMax = kFtz | kNan | kXorSign;

constexpr Form kForms[] = {
    {"abs", "", Op::abs, "Da", kSigned},
    {"abs", "", Op::abs, "Da", kFloats, kFtz},
    {"add", "", Op::add, "Daa", kInts | kPacked, kSaturate | kCarryOut},
    {"add", "", Op::add, "Daa", kFloats, kFtz | kSaturate, true},
    {"addc", "", Op::add, "Daa", kInt3264, kCarryOut},
    {"and", "", Op::logic_and, "Daa", kLogic},
    {"bfe", "", Op::bfe, "Daii", kInt3264},
    {"bfi", "", Op::bfi, "Daaii", kBits3264},
    {"bfind", "", Op::bfind, "Ia", kInt3264},
    {"bmsk", "", Op::bmsk, "Dii", kB32},
    {"brev", "", Op::brev, "Da", kBits3264},
    {"clz", "", Op::clz, "Ia", kBits3264},
    {"cnot", "", Op::cnot, "Da", kBits},
    {"copysign", "", Op::copysign, "Daa", kReals},
    {"cos", "", Op::cos, "Da", kF32, kApprox | kFtz},
    {"div", "", Op::div, "Daa", kInts},
    {"div", "", Op::div, "Daa", kReals, kApprox | kFtz, true},
    {"ex2", "", Op::ex2, "Da", kHalves | kF32, kApprox | kFtz},
    {"fma", "", Op::fma, "Daaa", kFloats, kFtz | kSaturate | kRelu | kOob, true},
    {"fns", "", Op::fns, "Iiii", kB32},
    {"lg2", "", Op::lg2, "Da", kF32, kApprox | kFtz},
    {"mad", "lo", Op::mad_lo, "Daaa", kInts, kCarryOut},
    {"mad", "hi", Op::mad_hi, "Daaa", kInts, kSaturate | kCarryOut},
    {"mad", "wide", Op::mad_wide, "Waaw", kWide},
    {"mad", "", Op::fma, "Daaa", kReals, kFtz | kSaturate, true},
    {"mad24", "lo", Op::mad24_lo, "Daaa", kInt32},
    {"mad24", "hi", Op::mad24_hi, "Daaa", kInt32, kSaturate},
    {"madc", "lo", Op::mad_lo, "Daaa", kInt3264, kCarryOut},
    {"madc", "hi", Op::mad_hi, "Daaa", kInt3264, kCarryOut},
    {"max", "", Op::max, "Daa", kInts | kPacked, kRelu},
    {"max", "", Op::max, "Daa?a", kFloats, kMinMax},
    {"min", "", Op::min, "Daa", kInts | kPacked, kRelu},
    {"min", "", Op::min, "Daa?a", kFloats, kMinMax},
    {"mul", "lo", Op::mul_lo, "Daa", kInts},
    {"mul", "hi", Op::mul_hi, "Daa", kInts},
    {"mul", "wide", Op::mul_wide, "Waa", kWide},
    {"mul", "", Op::mul, "Daa", kFloats, kFtz | kSaturate, true},
    {"mul24", "lo", Op::mul24_lo, "Daa", kInt32},
    {"mul24", "hi", Op::mul24_hi, "Daa", kInt32},
    {"neg", "", Op::neg, "Da", kSigned},
    {"neg", "", Op::neg, "Da", kFloats, kFtz},
    {"not", "", Op::logic_not, "Da", kLogic},
    {"or", "", Op::logic_or, "Daa", kLogic},
    {"popc", "", Op::popc, "Ia", kBits3264},
    {"prmt", "f4e", Op::prmt, "Daai", kB32, 0, false, detail(PermuteMode::f4e)},
    {"prmt", "b4e", Op::prmt, "Daai", kB32, 0, false, detail(PermuteMode::b4e)},
    {"prmt", "rc8", Op::prmt, "Daai", kB32, 0, false, detail(PermuteMode::rc8)},
    {"prmt", "ecl", Op::prmt, "Daai", kB32, 0, false, detail(PermuteMode::ecl)},
    {"prmt", "ecr", Op::prmt, "Daai", kB32, 0, false, detail(PermuteMode::ecr)},
    {"prmt", "rc16", Op::prmt, "Daai", kB32, 0, false, detail(PermuteMode::rc16)},
    {"prmt", "", Op::prmt, "Daai", kB32},
    {"rcp", "", Op::rcp, "Da", kReals, kApprox | kFtz, true},
    {"rem", "", Op::rem, "Daa", kInts},
    {"rsqrt", "", Op::rsqrt, "Da", kReals, kApprox | kFtz},
    {"sad", "", Op::sad, "Daaa", kInts},
    {"selp", "", Op::selp, "Daap", kInts | kBits | kReals},
    {"shf", "l", Op::shf_l, "Daai", kB32},
    {"shf", "r", Op::shf_r, "Daai", kB32},
    {"shl", "", Op::shl, "Dai", kBits},
    {"shr", "", Op::shr, "Dai", kBits | kInts},
    {"sin", "", Op::sin, "Da", kF32, kApprox | kFtz},
    {"sqrt", "", Op::sqrt, "Da", kReals, kApprox | kFtz, true},
    {"sub", "", Op::sub, "Daa", kInts | kPacked, kSaturate | kCarryOut},
    {"sub", "", Op::sub, "Daa", kFloats, kFtz | kSaturate, true},
    {"subc", "", Op::sub, "Daa", kInt3264, kCarryOut},
    {"szext", "", Op::szext, "Dai", kInt32},
    {"tanh", "", Op::tanh, "Da", kHalves | kF32, kApprox},
    {"testp", "finite", Op::testp, "Pa", kReals, 0, false, detail(TestProperty::finite)},
    {"testp", "infinite", Op::testp, "Pa", kReals, 0, false, detail(TestProperty::infinite)},
    {"testp", "number", Op::testp, "Pa", kReals, 0, false, detail(TestProperty::number)},
    {"testp", "notanumber", Op::testp, "Pa", kReals, 0, false, detail(TestProperty::notanumber)},
    {"testp", "normal", Op::testp, "Pa", kReals, 0, false, detail(TestProperty::normal)},
    {"testp", "subnormal", Op::testp, "Pa", kReals, 0, false, detail(TestProperty::subnormal)},
    {"xor", "", Op::logic_xor, "Daa", kLogic},
};

const Form* form_of(Decoder& in) {
  for (const auto& each : kForms) {
    if (each.name != in.name() || !(each.types & bit(in.out.type))) continue;
    if (each.word.empty() || in.take(each.word)) return &each;
  }
  return nullptr;
}

void take_modes(Decoder& in, const Form& form) {
  if (form.op == Op::shf_l || form.op == Op::shf_r || form.op == Op::bmsk || form.op == Op::szext) {
    if (in.take("wrap")) in.out.flags |= kWrap;
    else in.take("clamp");
  }
  if (form.op == Op::bfind && in.take("shiftamt")) in.out.flags |= kShiftAmount;
  if (in.out.flags & kXorSign) in.take("abs");
}

}  // namespace

bool decode_arithmetic(Decoder& in) {
  in.out.type = in.take_type();
  const auto* form = form_of(in);
  if (!form) return false;
  in.out.op = form->op;
  in.out.detail = form->detail;
  in.take_flags(form->flags);
  if (form->is_rounded) in.take_rounding();
  take_modes(in, *form);
  in.operands(form->signature);
  const bool takes_carry = in.name() == "addc" || in.name() == "subc" || in.name() == "madc";
  if (takes_carry) in.out.flags |= kCarryIn;
  if (in.out.flags & (kCarryIn | kCarryOut)) in.out.o[4] = in.lanes(in.builder().carry());
  return true;
}

bool decode_dot_product(Decoder& in) {
  in.out.type = in.take_type();
  in.out.source_type = in.take_type();
  const auto is_fit = [](Type type) { return type == Type::u32 || type == Type::s32; };
  if (!is_fit(in.out.type) || !is_fit(in.out.source_type)) return false;
  in.out.op = Op::dp4a;
  if (in.name() == "dp2a") {
    const bool is_high = in.take("hi");
    if (!is_high && !in.take("lo")) return false;
    in.out.op = is_high ? Op::dp2a_hi : Op::dp2a_lo;
  }
  in.operands("Iiii");
  return true;
}

bool decode_lop3(Decoder& in) {
  in.out.type = in.take_type();
  if (in.out.type != Type::b32) return false;
  in.take_combine();
  const bool has_predicate = in.out.combine != Combine::none;
  in.out.op = has_predicate ? Op::lop3_pred : Op::lop3;
  if (in.item_count() != (has_predicate ? 6u : 5u)) in.mismatch();
  in.out.o[0] = has_predicate ? in.destination_or_sink(in.item(0), Type::b32) : in.destination(in.item(0), Type::b32);
  for (std::size_t at = 1; at < 4; ++at) in.out.o[at] = in.source(in.item(at), Type::b32);
  const auto lut = in.immediate(in.item(4));
  if (lut > 255) in.mismatch();
  in.out.detail = static_cast<std::uint8_t>(lut);
  if (!has_predicate) {
    in.out.o[4] = in.builder().constant(lut, Width::w32);
    return true;
  }
  in.out.o[4] = in.partner(in.item(0), Type::pred);
  in.out.o[5] = in.source(in.item(5), Type::pred);
  if (in.out.o[4].kind == Operand::Kind::none) in.mismatch();
  return true;
}

bool decode_set(Decoder& in) {
  in.take_compare();
  in.take_combine();
  in.take_flags(kFtz);
  in.out.op = Op::set;
  in.out.type = in.take_type();
  in.out.source_type = in.take_type();
  if (in.out.source_type == Type::none || in.out.compare == Compare::none) return false;
  in.operands(in.out.combine == Combine::none ? "Dss" : "Dssp");
  return true;
}

bool decode_setp(Decoder& in) {
  in.take_compare();
  in.take_combine();
  in.take_flags(kFtz);
  in.out.op = Op::setp;
  in.out.type = in.take_type();
  if (in.out.type == Type::none || in.out.type == Type::pred || in.out.compare == Compare::none) return false;
  in.out.o[0] = in.destination_or_sink(in.item(0), Type::pred);
  in.out.o[1] = in.partner(in.item(0), Type::pred);
  in.operands(in.out.combine == Combine::none ? "aa" : "aap", 2, 1);
  return true;
}

bool decode_slct(Decoder& in) {
  in.take_flags(kFtz);
  in.out.op = Op::slct;
  in.out.type = in.take_type();
  in.out.source_type = in.take_type();
  if (in.out.source_type != Type::s32 && in.out.source_type != Type::f32) return false;
  in.operands("Daas");
  return true;
}

}  // namespace flexrack::sim::ptx
