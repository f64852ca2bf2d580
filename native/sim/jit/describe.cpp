// Instructions that compute on registers.
#include "sim/jit/describe.h"

#include "sim/exec/convert.h"
#include "sim/exec/ops.h"

namespace flexrack::sim::jit {

using ptx::Width;

Form form_of(Width width) {
  switch (width) {
    case Width::w1: return Form::mask;
    case Width::w16: return Form::half;
    case Width::w32: return Form::word;
    case Width::w64: return Form::wide;
    default: return Form::none;
  }
}

namespace {

Form form_of_bytes(unsigned bytes) {
  return bytes == 2 ? Form::half : bytes == 4 ? Form::word : bytes == 8 ? Form::wide : Form::none;
}

Form integer_form(Type type) {
  switch (type) {
    case Type::u32:
    case Type::s32:
    case Type::b32: return Form::word;
    case Type::u64:
    case Type::s64:
    case Type::b64: return Form::wide;
    case Type::pred: return Form::mask;
    default: return Form::none;
  }
}

/// All operands of one form.
bool takes(Item& item, Form form, unsigned sources, unsigned latency = 1) {
  if (form == Form::none) return false;
  item.writes[0] = {item.step->d, form};
  const At places[] = {item.step->a, item.step->b, item.step->c};
  for (unsigned i = 0; i < sources; ++i) item.reads[i] = {places[i], form};
  item.latency = static_cast<std::uint8_t>(latency);
  return true;
}

bool takes_floats(Item& item, unsigned sources, unsigned latency) {
  const auto& from = *item.from;
  if (from.type != Type::f32 || (from.rounding != ptx::Rounding::none && rounding_mode(from.rounding) < 0))
    return false;
  if (from.flags & ~(ptx::kFtz | ptx::kSaturate | ptx::kApprox)) return false;
  item.subnormals = from.flags & ptx::kFtz ? Subnormals::flushed : Subnormals::kept;
  return takes(item, Form::word, sources, latency);
}

/// f64 to nearest: it keeps subnormals, whatever a segment's floats do with theirs.
bool takes_doubles(Item& item, unsigned sources, unsigned latency) {
  const auto& from = *item.from;
  if (from.type != Type::f64 || from.flags != 0 ||
      (from.rounding != ptx::Rounding::rn && from.rounding != ptx::Rounding::none))
    return false;
  item.subnormals = Subnormals::kept;
  return takes(item, Form::wide, sources, latency);
}

bool takes_reals(Item& item, unsigned sources, unsigned latency) {
  return item.from->type == Type::f64 ? takes_doubles(item, sources, latency + latency / 8)
                                      : takes_floats(item, sources, latency);
}

bool describe_halves(Item& item) {
  const auto& from = *item.from;
  const bool is_pair = from.type == Type::f16x2 || from.type == Type::bf16x2,
             is_brain = from.type == Type::bf16 || from.type == Type::bf16x2;
  if (from.flags != 0 || (from.rounding != ptx::Rounding::rn && from.rounding != ptx::Rounding::none)) return false;
  const bool is_arithmetic = from.op != Op::neg && from.op != Op::abs;
  // The sum of a product in bfloat16 needs more than a double has.
  if (from.op == Op::fma && is_brain) return false;
  if (is_brain && is_arithmetic) item.subnormals = Subnormals::kept;
  return takes(item, is_pair ? Form::word : Form::half, from.op == Op::fma ? 3 : is_arithmetic ? 2 : 1, 14);
}

bool takes_integers(Item& item, unsigned sources, bool may_be_wide = true) {
  const Form form = integer_form(item.from->type);
  if (form == Form::mask || item.from->flags != 0 || (form == Form::wide && !may_be_wide)) return false;
  return takes(item, form, sources);
}

bool takes_numbers(Item& item, unsigned sources, bool may_be_wide, unsigned latency) {
  const bool is_real = item.from->type == Type::f32 || item.from->type == Type::f64;
  return is_real ? takes_reals(item, sources, latency) : takes_integers(item, sources, may_be_wide);
}

bool is_64(Type type) { return type == Type::u64 || type == Type::s64 || type == Type::b64; }

/// By way of doubles, whose quotients of words are exact enough.
bool takes_quotient(Item& item) { return item.from->flags == 0 && takes(item, Form::word, 2, 20); }

bool is_16(Type type) { return type == Type::u16 || type == Type::s16 || type == Type::b16; }

bool describe_logic(Item& item, unsigned sources) {
  return takes(item, is_16(item.from->type) ? Form::half : integer_form(item.from->type), sources);
}

bool describe_shift(Item& item) {
  const Form form = integer_form(item.from->type);
  if (form != Form::word && form != Form::wide) return false;
  if (form == Form::wide && item.from->op == Op::shr && ptx::is_signed(item.from->type)) return false;
  if (!takes(item, form, 1)) return false;
  item.reads[1] = {item.step->b, Form::word};
  return true;
}

bool describe_compare(Item& item) {
  const auto& from = *item.from;
  const auto& step = *item.step;
  Form form = integer_form(from.type);
  if (from.type == Type::f32) {
    form = Form::word;
    item.subnormals = from.flags & ptx::kFtz ? Subnormals::flushed : Subnormals::kept;
  }
  if (from.type == Type::f64) form = Form::wide, item.subnormals = Subnormals::kept;
  if (is_16(from.type)) form = Form::half;
  if (form != Form::word && form != Form::wide && form != Form::half) return false;
  if (from.type == Type::f64 && from.flags != 0) return false;
  if (from.compare == ptx::Compare::none || (from.flags & ~ptx::kFtz) != 0) return false;
  item.writes[0] = {step.d, Form::mask}, item.writes[1] = {step.e, Form::mask};
  item.reads = {Use{step.a, form}, Use{step.b, form}, Use{step.c, Form::mask}, Use{}, Use{}};
  return true;
}

bool describe_wide_product(Item& item, bool has_sum) {
  if (!is_32(item.from->type) || item.from->flags != 0) return false;
  item.writes[0] = {item.step->d, Form::wide};
  item.reads[0] = {item.step->a, Form::word}, item.reads[1] = {item.step->b, Form::word};
  if (has_sum) item.reads[2] = {item.step->c, Form::wide};
  item.latency = has_sum ? 5 : 4;
  return true;
}

/// Two floats to two halves: the second source is the lower one.
bool describe_pair(Item& item) {
  const auto& from = *item.from;
  if ((from.type != Type::f16x2 && from.type != Type::bf16x2) || from.source_type != Type::f32 ||
      from.rounding != ptx::Rounding::rn)
    return false;
  if ((from.flags & ~ptx::kUniform) != 0 || from.o[3].kind != ptx::Operand::Kind::none) return false;
  if (from.o[0].width != Width::w32 || from.o[1].width != Width::w32 || from.o[2].width != Width::w32) return false;
  item.reads[1] = {item.step->b, Form::word};
  item.latency = 8;
  return true;
}

bool describe_double(Item& item) {
  const auto& from = *item.from;
  const Width d = from.o[0].width, a = from.o[1].width;
  if (from.rounding != ptx::Rounding::rn && from.rounding != ptx::Rounding::none) return false;
  if ((from.flags & ~(ptx::kFtz | ptx::kUniform)) != 0) return false;
  const bool is_flushed = from.flags & ptx::kFtz;
  item.latency = 7;
  if (from.type == Type::f64 && d == Width::w64 && a == Width::w32 && is_32(from.source_type) &&
      from.source_type != Type::b32)
    return !is_flushed;
  item.subnormals = is_flushed ? Subnormals::flushed : Subnormals::kept;
  if (from.type == Type::f64 && d == Width::w64) return from.source_type == Type::f32 && a == Width::w32;
  return from.type == Type::f32 && d == Width::w32 && a == Width::w64;
}

/// Integers in registers that may be wider than they are: cut to the narrower, whose sign fills the rest.
bool describe_cut(Item& item) {
  const auto& from = *item.from;
  const auto is_narrow = [](Type type) { return type == Type::u8 || type == Type::s8 || is_16(type); };
  const Form d = item.writes[0].form, a = item.reads[0].form;
  if ((d != Form::half && d != Form::word) || (a != Form::half && a != Form::word)) return false;
  if (!(is_narrow(from.type) || is_32(from.type)) || !(is_narrow(from.source_type) || is_32(from.source_type)))
    return false;
  item.latency = 3;
  return exec::middle_type(from) != Type::none;
}

bool describe_convert(Item& item) {
  const auto& from = *item.from;
  const Width d = from.o[0].width, a = from.o[1].width;
  item.writes[0] = {item.step->d, form_of(d)};
  item.reads[0] = {item.step->a, form_of(a)};
  item.latency = 4;
  if (from.o[2].kind != ptx::Operand::Kind::none) return describe_pair(item);
  if (from.type == Type::f64 || from.source_type == Type::f64) return describe_double(item);
  const bool is_plain = (from.flags & ~ptx::kUniform) == 0,
             is_nearest = from.rounding == ptx::Rounding::rn || from.rounding == ptx::Rounding::none;
  if (from.type == Type::f32 && d == Width::w32 && is_plain && is_nearest) {
    if ((from.source_type == Type::s32 || from.source_type == Type::u32) && a == Width::w32) return true;
    return (from.source_type == Type::f16 || from.source_type == Type::bf16) && a == Width::w16;
  }
  if (from.source_type == Type::f32 && a == Width::w32) {
    const bool is_whole = from.rounding == ptx::Rounding::rni || from.rounding == ptx::Rounding::rzi ||
                          from.rounding == ptx::Rounding::rmi || from.rounding == ptx::Rounding::rpi;
    if (is_whole && (from.type == Type::s32 || from.type == Type::f32) && d == Width::w32) {
      if ((from.flags & ~(ptx::kFtz | ptx::kUniform)) != 0) return false;
      // A subnormal makes no difference where it is cut to zero.
      if (from.rounding != ptx::Rounding::rzi || from.type == Type::f32)
        item.subnormals = from.flags & ptx::kFtz ? Subnormals::flushed : Subnormals::kept;
      return true;
    }
    return (from.type == Type::f16 || from.type == Type::bf16) && d == Width::w16 && is_plain && is_nearest;
  }
  // Integers, by registers of the types' own widths.
  item.latency = 2;
  if (!is_plain) return false;
  const bool from_word = is_32(from.source_type) && a == Width::w32,
             from_wide = is_64(from.source_type) && a == Width::w64;
  if ((is_32(from.type) && d == Width::w32 && (from_word || from_wide)) ||
      (is_64(from.type) && d == Width::w64 && (from_word || from_wide)))
    return true;
  return describe_cut(item);
}

bool describe_move(Item& item) {
  const auto& from = *item.from;
  const auto& step = *item.step;
  const Form form = form_of(from.o[0].width);
  switch (from.op) {
    case Op::mov: return takes(item, form, 1);
    case Op::mov_pack:
      if (from.o[1].count != 2) return false;
      item.writes[0] = {step.d, form};
      item.reads[0] = {step.a, form_of(step.extra[0].width)}, item.reads[1] = {step.b, form_of(step.extra[0].width)};
      item.latency = 3;
      return (form == Form::wide && item.reads[0].form == Form::word) ||
             (form == Form::word && item.reads[0].form == Form::half);
    case Op::mov_unpack: {
      if (from.o[0].count != 2) return false;
      const Form part = form_of(step.extra[step.d == kNowhere ? 1 : 0].width), whole = form_of(from.o[1].width);
      item.writes[0] = {step.d, part}, item.writes[1] = {step.b, part};
      item.reads[0] = {step.a, whole};
      item.latency = 3;
      return (whole == Form::wide && part == Form::word) || (whole == Form::word && part == Form::half);
    }
    case Op::cvta:
    case Op::cvta_to:
      return from.o[0].width == Width::w64 && from.o[1].width == Width::w64 && takes(item, Form::wide, 1);
    case Op::mov_shared:
    case Op::mov_param:
    case Op::mov_variable: return (form == Form::word || form == Form::wide) && takes(item, form, 0);
    default: return false;
  }
}

/// What its handler carries out lane by lane, without a look at anything else: a call of it, in between.
bool describe_call(Item& item) {
  const auto& from = *item.from;
  switch (from.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mul_lo:
    case Op::mul_hi:
    case Op::mul_wide:
    case Op::mad_lo:
    case Op::mad_hi:
    case Op::mad_wide:
    case Op::mul24_lo:
    case Op::mul24_hi:
    case Op::mad24_lo:
    case Op::mad24_hi:
    case Op::sad:
    case Op::div:
    case Op::rem:
    case Op::abs:
    case Op::neg:
    case Op::min:
    case Op::max:
    case Op::fma:
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::sin:
    case Op::cos:
    case Op::lg2:
    case Op::ex2:
    case Op::tanh:
    case Op::copysign:
    case Op::popc:
    case Op::clz:
    case Op::bfind:
    case Op::brev:
    case Op::bfe:
    case Op::bfi:
    case Op::bmsk:
    case Op::szext:
    case Op::dp4a:
    case Op::dp2a_lo:
    case Op::dp2a_hi:
    case Op::cnot:
    case Op::shl:
    case Op::shr:
    case Op::prmt:
    case Op::slct:
    case Op::cvt: break;
    default: return false;
  }
  if (from.flags & (ptx::kCarryIn | ptx::kCarryOut)) return false;
  const auto& step = *item.step;
  const At places[] = {step.d, step.a, step.b, step.c, step.e};
  for (unsigned i = 0; i < 5; ++i) {
    if (places[i] == kNowhere || (places[i] & kInConstants)) continue;
    const Use use{places[i], form_of(from.o[i].width)};
    if (use.form == Form::none || use.at != exec::place_of(from.o[i])) return false;
    (i == 0 ? item.writes[0] : item.reads[i - 1]) = use;
  }
  item.is_whole = item.is_called = true;
  return item.writes[0].at != kNowhere;
}

bool describe_operation(const exec::Code& code, Item& item) {
  const auto& from = *item.from;
  if (is_half_arithmetic(from)) return describe_halves(item);
  switch (from.op) {
    case Op::add:
    case Op::sub: return takes_numbers(item, 2, true, 3);
    case Op::mul: return takes_reals(item, 2, 3);
    case Op::fma: return takes_reals(item, 3, 4);
    case Op::div: return is_32(from.type) ? takes_quotient(item) : takes_reals(item, 2, 11);
    case Op::rem: return is_32(from.type) && takes_quotient(item);
    case Op::rcp:
    case Op::sqrt: return takes_reals(item, 1, 11);
    case Op::rsqrt: return from.type == Type::f32 && takes_floats(item, 1, 40);
    case Op::ex2: return from.type == Type::f32 && takes_floats(item, 1, 50);
    case Op::abs:
      return takes_numbers(item, 1, false, 1) &&
             (from.type == Type::f32 || from.type == Type::f64 || from.type == Type::s32);
    case Op::neg: return takes_numbers(item, 1, true, 1);
    case Op::min:
    case Op::max:
      return from.o[3].kind == ptx::Operand::Kind::none && takes_numbers(item, 2, false, 6) &&
             (from.flags & ~ptx::kFtz) == 0;
    case Op::mul_lo: return takes_integers(item, 2) && (item.latency = 4);
    case Op::mad_lo: return takes_integers(item, 3, false) && (item.latency = 4);
    case Op::mul_hi: return takes_integers(item, 2, false) && (item.latency = 5);
    case Op::mul_wide: return describe_wide_product(item, false);
    case Op::mad_wide: return describe_wide_product(item, true);
    case Op::logic_and:
    case Op::logic_or:
    case Op::logic_xor: return describe_logic(item, 2);
    case Op::logic_not: return describe_logic(item, 1);
    case Op::shl:
    case Op::shr: return describe_shift(item);
    case Op::shf_l:
    case Op::shf_r: return takes(item, Form::word, 3, 3);
    case Op::lop3: return takes(item, Form::word, 3, 3);
    case Op::setp: return describe_compare(item);
    case Op::selp:
      if (!takes(item, form_of_bytes(ptx::bytes_of(from.type)), 2)) return false;
      item.reads[2] = {item.step->c, Form::mask};
      return true;
    case Op::cvt: return describe_convert(item);
    case Op::ld:
    case Op::st: return describe_memory(item);
    case Op::atom: return describe_sum_in_shared(item);
    case Op::shfl: return describe_shuffle(code, item);
    default: return describe_move(item);
  }
}

}  // namespace

int rounding_mode(ptx::Rounding rounding) {
  switch (rounding) {
    case ptx::Rounding::rn:
    case ptx::Rounding::rni: return 0;
    case ptx::Rounding::rm:
    case ptx::Rounding::rmi: return 1;
    case ptx::Rounding::rp:
    case ptx::Rounding::rpi: return 2;
    case ptx::Rounding::rz:
    case ptx::Rounding::rzi: return 3;
    default: return -1;
  }
}

bool is_half_arithmetic(const Instruction& from) {
  if (from.type != Type::f16 && from.type != Type::f16x2 && from.type != Type::bf16 && from.type != Type::bf16x2)
    return false;
  switch (from.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::fma:
    case Op::neg:
    case Op::abs: return true;
    default: return false;
  }
}

bool describe(const exec::Code& code, const Step& step, Item& item) {
  item.step = &step;
  item.from = step.source;
  if (step.source == nullptr) return false;
  const Item blank = item;
  if (!describe_operation(code, item)) {
    item = blank;
    if (!describe_call(item)) return false;
  }
  if (!item.is_whole && item.writes[0].at == kNowhere && item.writes[1].at == kNowhere) return false;
  // A guard must be read before the first result replaces it.
  if (item.writes[1].at != kNowhere && item.guard != kNowhere && (item.guard & ~kNegated) == item.writes[0].at)
    return false;
  for (const auto& use : item.reads) {
    if (use.at == kNowhere || !(use.at & kInConstants)) continue;
    std::uint64_t value = 0;
    if (use.form == Form::mask || !constant_of(code, use, value)) return false;
  }
  return true;
}

}  // namespace flexrack::sim::jit
