// Addresses: `[register + 8]`, `[name + 8]`, `[0x100]`, `name[3]`.
#include "sim/ptx/decoder.h"

namespace flexrack::sim::ptx {

namespace {

bool fits(Space requested, Space has) {
  if (requested == Space::generic || requested == has) return true;
  return requested == Space::shared_cluster && has == Space::shared;
}

}  // namespace

Operand Decoder::symbol_address(const Symbol& symbol, const Item& base, Space& space) {
  out.displacement = displacement_of(symbol, base);
  const auto in = [&](Space has) {
    if (!fits(space, has))
      fail(base, "State space mismatch between instruction and address in instruction '" + std::string(name()) + "'");
    if (space == Space::generic) space = has;
  };
  switch (symbol.kind) {
    case Symbol::Kind::local:
      // The .param variables of calls and functions lie in the local frame.
      if (space == Space::param) space = Space::local;
      in(Space::local);
      out.displacement = moved(out.displacement, symbol.at);
      return {Operand::Kind::address_absolute, Width::w64};
    case Symbol::Kind::parameter:
      in(Space::param);
      out.displacement = moved(out.displacement, symbol.at);
      return {Operand::Kind::address_absolute, Width::w64};
    case Symbol::Kind::shared:
      in(Space::shared);
      shared_ = symbol.at;
      return {Operand::Kind::address_absolute, Width::w64};
    case Symbol::Kind::variable:
      in(to_.module().variable(symbol.at).space);
      return {Operand::Kind::address_variable, Width::w64, false, 0, symbol.at};
    default: mismatch();
  }
}

Operand Decoder::address(const Item& item, Space space) {
  const bool is_bracketed = item.form == Item::Form::address;
  if (!is_bracketed && (item.form != Item::Form::name || item.subscript == kNone)) mismatch();
  if (is_bracketed && item.count != 1) mismatch();
  const auto& base = is_bracketed ? child(item, 0) : item;
  if (base.is_negated || !base.partner.empty()) mismatch();
  out.space = space;
  if (base.form == Item::Form::number) {
    out.displacement = static_cast<std::int64_t>(immediate(base));
    return {Operand::Kind::address_absolute, Width::w64};
  }
  if (base.form != Item::Form::name) mismatch();
  if (!is_register(base)) {
    std::uint32_t number = 0;
    return symbol_address(symbol_of(base, number), base, out.space);
  }
  if (base.subscript != kNone) mismatch();
  auto made = lanes(register_for(base));
  if (made.width != Width::w32 && made.width != Width::w64) mismatch();
  made.kind = Operand::Kind::address_register;
  out.displacement = static_cast<std::int64_t>(base.number.integer);
  // In a device function what .param addresses are is local.
  if (space == Space::param && !to_.function().is_kernel) out.space = Space::local;
  return made;
}

Operand Decoder::address_value(const Item& item, Width width) {
  if (item.form != Item::Form::address || item.count != 1) mismatch();
  const auto& base = child(item, 0);
  if (base.form == Item::Form::number) return to_.constant(immediate(base), width);
  if (base.form != Item::Form::name || base.is_negated) mismatch();
  std::uint32_t number = 0;
  if (!is_register(base)) return address_in_register(symbol_of(base, number), base, width);
  const auto reg = lanes(register_for(base));
  if (reg.width != Width::w32 && reg.width != Width::w64) mismatch();
  if (base.number.integer == 0) return reg;
  Instruction made;
  made.op = Op::add;
  made.type = reg.width == Width::w64 ? Type::u64 : Type::u32;
  made.o[0] = temporary(reg.width, made.type);
  made.o[1] = reg;
  made.o[2] = to_.constant(base.number.integer, reg.width);
  emit(made);
  return made.o[0];
}

}  // namespace flexrack::sim::ptx
