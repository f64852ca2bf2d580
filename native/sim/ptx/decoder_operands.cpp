// Operands of an instruction: names to registers, constants and addresses.
#include <algorithm>

#include "sim/ptx/decoder.h"
#include "sim/ptx/float_bits.h"
#include "sim/ptx/special.h"

namespace flexrack::sim::ptx {

namespace {

bool is_memory(Symbol::Kind kind) {
  return kind == Symbol::Kind::local || kind == Symbol::Kind::parameter || kind == Symbol::Kind::shared ||
         kind == Symbol::Kind::variable || kind == Symbol::Kind::function;
}

bool is_register_kind(Symbol::Kind kind) {
  return kind == Symbol::Kind::reg || kind == Symbol::Kind::family || kind == Symbol::Kind::vector;
}

bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }
bool is_real(Type type) { return type == Type::f32 || type == Type::f64; }

}  // namespace

Width width_of(Type type) {
  if (type == Type::pred) return Width::w1;
  switch (bytes_of(type)) {
    case 1:
    case 2: return Width::w16;
    case 8: return Width::w64;
    case 16: return Width::w128;
    default: return Width::w32;
  }
}

Type wider(Type type) {
  switch (type) {
    case Type::u8: return Type::u16;
    case Type::s8: return Type::s16;
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return Type::none;
  }
}

const Item& Decoder::item(std::size_t at) const {
  if (at >= syntax_.item_count) mismatch();
  return to_.syntax().items[syntax_.first_item + at];
}

const Item& Decoder::child(const Item& parent, std::size_t at) const {
  if (at >= parent.count) mismatch();
  return to_.syntax().items[parent.first + at];
}

Operand Decoder::lanes(std::uint32_t reg) const {
  return {Operand::Kind::lanes, to_.width_of_register(reg), false, 0, reg};
}

Operand Decoder::temporary(Width width, Type type) { return lanes(to_.new_register(width, type)); }

Symbol Decoder::symbol_of(const Item& item, std::uint32_t& number) const {
  auto symbol = to_.resolve(item.name, number);
  if (symbol.kind == Symbol::Kind::none) fail(item, "Unknown symbol '" + std::string(item.name) + "'");
  return symbol;
}

std::uint32_t Decoder::register_for(const Item& item) {
  std::uint32_t number = 0;
  const auto symbol = symbol_of(item, number);
  if (!is_register_kind(symbol.kind)) mismatch();
  if (symbol.kind == Symbol::Kind::vector) {
    if (item.component.size() != 1) mismatch();
    static constexpr std::string_view kNames[] = {"xr", "yg", "zb", "wa"};
    for (number = 0; number < symbol.count; ++number) {
      if (number < 4 && kNames[number].find(item.component[0]) != std::string_view::npos)
        return to_.register_of(symbol, number);
    }
    mismatch();
  }
  // Parts of registers (.b0, .h1) belong to video instructions.
  if (!item.component.empty()) throw NotSupported();
  return to_.register_of(symbol, number);
}

void Decoder::check_fit(std::uint32_t reg, Type type, bool is_loose) const {
  const auto has = to_.width_of_register(reg), wants = width_of(type);
  if (is_loose && type != Type::pred ? has < wants : has != wants) mismatch();
  const auto declared = to_.declared_type(reg);
  if ((is_real(declared) && is_integer(type)) || (is_integer(declared) && is_real(type))) mismatch();
}

Operand Decoder::written(const Item& item, Type type, bool is_loose) {
  if (item.form == Item::Form::sink)
    fail(item, "Result discard mode is not allowed for instruction '" + std::string(name()) + "'");
  if (item.form != Item::Form::name || item.is_negated || item.number.integer || item.subscript != kNone) mismatch();
  const auto reg = register_for(item);
  check_fit(reg, type, is_loose);
  return lanes(reg);
}

Operand Decoder::destination(const Item& item, Type type) { return written(item, type, false); }

Operand Decoder::loose_destination(const Item& item, Type type) { return written(item, type, true); }

Operand Decoder::destination_or_sink(const Item& item, Type type, bool is_loose) {
  if (item.form == Item::Form::sink) return {Operand::Kind::sink, width_of(type)};
  return written(item, type, is_loose);
}

Operand Decoder::partner(const Item& item, Type type) {
  if (item.partner.empty()) return {};
  Item alone;
  alone.name = item.partner;
  alone.place = item.place;
  if (alone.name == "_") alone.form = Item::Form::sink;
  return destination_or_sink(alone, type);
}

Operand Decoder::source(const Item& item, Type type) {
  if (item.form == Item::Form::number) return to_.constant(bits_of(item.number, type), width_of(type));
  if (item.form != Item::Form::name || !item.partner.empty()) mismatch();
  return named_source(item, type, false);
}

Operand Decoder::loose_source(const Item& item, Type type) {
  if (item.form == Item::Form::number) return to_.constant(bits_of(item.number, type), width_of(type));
  if (item.form != Item::Form::name || !item.partner.empty()) mismatch();
  return named_source(item, type, true);
}

bool Decoder::make_special(const Item& item, Type type) {
  std::uint32_t number = 0;
  if (to_.resolve(item.name, number).kind != Symbol::Kind::none) return false;
  // The fourth element of the vectors is always zero.
  const bool is_zero = item.component == "w" && special_register(item.name, "x");
  const auto found = special_register(item.name, is_zero ? "x" : item.component);
  if (!found) fail(item, "Unknown symbol '" + std::string(item.name) + "'");
  out.op = is_zero ? Op::mov : Op::mov_special;
  out.type = type;
  if (is_zero) out.o[1] = to_.constant(0, width_of(type));
  else out.detail = static_cast<std::uint8_t>(*found);
  return true;
}

Operand Decoder::special(const Item& item, Type type) {
  // Made as an instruction of its own before the one under way.
  const auto kept = out;
  out = Instruction();
  make_special(item, type);
  const auto to = out.o[0] = temporary(width_of(type), type);
  emit(out);
  out = kept;
  return to;
}

std::optional<Width> Decoder::register_width(const Item& item) {
  if (!is_register(item)) return std::nullopt;
  return to_.width_of_register(register_for(item));
}

Operand Decoder::named_source(const Item& item, Type type, bool is_loose) {
  std::uint32_t number = 0;
  const auto symbol = to_.resolve(item.name, number);
  if (symbol.kind == Symbol::Kind::none && item.name.front() == '%') return special(item, type);
  if (symbol.kind == Symbol::Kind::none) fail(item, "Unknown symbol '" + std::string(item.name) + "'");
  if (is_memory(symbol.kind)) return address_in_register(symbol, item, width_of(type));
  if (item.number.integer) mismatch();
  auto out_operand = lanes(register_for(item));
  check_fit(out_operand.at, type, is_loose);
  if (item.is_negated && type != Type::pred) mismatch();
  out_operand.is_negated = item.is_negated;
  return out_operand;
}

std::uint64_t Decoder::immediate(const Item& item) const {
  if (item.form != Item::Form::number || item.number.is_real) mismatch();
  return item.number.integer;
}

bool Decoder::is_register(const Item& item) const {
  if (item.form != Item::Form::name) return false;
  std::uint32_t number = 0;
  return is_register_kind(to_.resolve(item.name, number).kind);
}

std::int64_t Decoder::displacement_of(const Symbol& symbol, const Item& item) const {
  const auto bytes = static_cast<std::int64_t>(item.number.integer);
  if (item.subscript == kNone) return bytes;
  const auto& inside = to_.syntax().items[item.subscript];
  if (inside.count != 1) mismatch();
  const auto& index = child(inside, 0);
  if (index.form != Item::Form::number) throw NotSupported();
  return moved(bytes, index.number.integer * symbol.step);
}

void Decoder::make_address(const Symbol& symbol, const Item& item, Operand to) {
  out.o[0] = to;
  out.type = to.width == Width::w64 ? Type::u64 : Type::u32;
  out.displacement = displacement_of(symbol, item);
  if (to.width != Width::w64 && to.width != Width::w32) mismatch();
  if (!item.component.empty() || item.is_negated) mismatch();
  switch (symbol.kind) {
    case Symbol::Kind::local: out.op = Op::mov_local; break;
    case Symbol::Kind::parameter: out.op = Op::mov_param; break;
    case Symbol::Kind::shared: out.op = Op::mov_shared; break;
    case Symbol::Kind::variable: out.op = Op::mov_variable; break;
    case Symbol::Kind::function: out.op = Op::mov_function; break;
    default: mismatch();
  }
  if (symbol.kind == Symbol::Kind::local || symbol.kind == Symbol::Kind::parameter)
    out.displacement = moved(out.displacement, symbol.at);
  if (symbol.kind == Symbol::Kind::variable || symbol.kind == Symbol::Kind::function)
    out.o[1] = {Operand::Kind::symbol, Width::w64, false, 0, symbol.at};
  if (symbol.kind == Symbol::Kind::shared) shared_ = symbol.at;
  if (symbol.kind == Symbol::Kind::function) to_.functions_taken.push_back(symbol.at);
}

Operand Decoder::address_in_register(const Symbol& symbol, const Item& item, Width width) {
  const auto to = temporary(width, width == Width::w64 ? Type::u64 : Type::u32);
  // Made as an instruction of its own before the one under way.
  const auto kept = out;
  const auto kept_shared = shared_;
  out = Instruction();
  shared_ = kNone;
  make_address(symbol, item, to);
  finish();
  out = kept;
  shared_ = kept_shared;
  return to;
}

Operand Decoder::list_of(const std::vector<Operand>& operands) {
  if (operands.size() > 255) throw NotSupported();
  auto& pool = to_.function().operands;
  Operand made{Operand::Kind::list, Width::w32, false, static_cast<std::uint8_t>(operands.size()),
               static_cast<std::uint32_t>(pool.size())};
  pool.insert(pool.end(), operands.begin(), operands.end());
  return made;
}

Operand Decoder::list(const Item& item, Type type, Use use, bool is_loose) {
  std::vector<Operand> made;
  const auto add = [&](const Item& part) {
    if (use == Use::write) made.push_back(destination_or_sink(part, type, is_loose));
    else made.push_back(is_loose ? loose_source(part, type) : source(part, type));
  };
  if (item.form == Item::Form::vector) {
    for (std::size_t at = 0; at < item.count; ++at) add(child(item, at));
    return list_of(made);
  }
  std::uint32_t number = 0;
  const auto symbol = item.form == Item::Form::name ? to_.resolve(item.name, number) : Symbol();
  if (symbol.kind != Symbol::Kind::vector || !item.component.empty()) {
    add(item);
    return list_of(made);
  }
  for (unsigned at = 0; at < symbol.count; ++at) {
    made.push_back(lanes(to_.register_of(symbol, at)));
    check_fit(made.back().at, type, is_loose);
  }
  return list_of(made);
}

void Decoder::operands(std::string_view signature, std::size_t first, std::size_t from) {
  bool is_optional = false;
  for (const char letter : signature) {
    if (letter == '?') {
      is_optional = true;
      continue;
    }
    if (is_optional && from >= item_count()) break;
    const auto& each = item(from++);
    auto& to = out.o.at(first++);
    switch (letter) {
      case 'D': to = destination(each, out.type); break;
      case 'W': to = destination(each, wider(out.type)); break;
      case 'I': to = destination(each, Type::b32); break;
      case 'P': to = destination(each, Type::pred); break;
      case 'a': to = source(each, out.type); break;
      case 'w': to = source(each, wider(out.type)); break;
      case 'i': to = source(each, Type::b32); break;
      case 'p': to = source(each, Type::pred); break;
      case 's': to = source(each, out.source_type); break;
      default: mismatch();
    }
    if (!each.partner.empty()) mismatch();
  }
  if (from != item_count()) mismatch();
}

}  // namespace flexrack::sim::ptx
