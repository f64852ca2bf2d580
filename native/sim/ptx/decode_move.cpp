// Moves, conversions and addresses. Facts: PTX ISA 9.0, 9.7.9.
#include "sim/ptx/decoder.h"
#include "sim/ptx/special.h"

namespace flexrack::sim::ptx {

namespace {

Type untyped(unsigned bytes) {
  switch (bytes) {
    case 1: return Type::b8;
    case 2: return Type::b16;
    case 4: return Type::b32;
    case 8: return Type::b64;
    default: return Type::none;
  }
}

/// `mov.b64 %rd, {%r1, %r2}` and back. The parts' type follows from their number.
bool pack_or_unpack(Decoder& in) {
  const auto& to = in.item(0);
  const auto& from = in.item(1);
  const bool is_unpack = to.form == Item::Form::vector;
  const auto& parts = is_unpack ? to : from;
  if (parts.count == 0) in.mismatch();
  const auto part = untyped(bytes_of(in.out.type) / parts.count);
  if (part == Type::none || bytes_of(part) * parts.count != bytes_of(in.out.type)) in.mismatch();
  in.out.op = is_unpack ? Op::mov_unpack : Op::mov_pack;
  in.out.source_type = part;
  in.out.count = static_cast<std::uint8_t>(parts.count);
  if (is_unpack) {
    in.out.o[0] = in.list(to, part, Decoder::Use::write);
    in.out.o[1] = in.source(from, in.out.type);
  } else {
    in.out.o[0] = in.destination(to, in.out.type);
    in.out.o[1] = in.list(from, part, Decoder::Use::read);
  }
  return true;
}

bool is_address(const Symbol& symbol) {
  switch (symbol.kind) {
    case Symbol::Kind::local:
    case Symbol::Kind::parameter:
    case Symbol::Kind::shared:
    case Symbol::Kind::variable:
    case Symbol::Kind::function: return true;
    default: return false;
  }
}

bool move_address(Decoder& in, const Item& from) {
  if (from.form != Item::Form::name) return false;
  std::uint32_t number = 0;
  const auto symbol = in.builder().resolve(from.name, number);
  if (!is_address(symbol)) return false;
  in.make_address(symbol, from, in.destination(in.item(0), in.out.type));
  return true;
}

/// `mov.v4.u32 {...}, %tid`: element by element.
bool move_vector(Decoder& in) {
  static constexpr std::string_view kElements[] = {"x", "y", "z", "w"};
  const auto& to = in.item(0);
  auto from = in.item(1);
  if (in.out.count != 4 || to.form != Item::Form::vector || to.count != 4 || from.form != Item::Form::name ||
      !from.component.empty() || !special_register(from.name, "x"))
    return false;
  const auto made = in.out;
  for (std::size_t at = 0; at < 4; ++at) {
    in.out = made;
    in.out.count = 1;
    from.component = kElements[at];
    if (!in.make_special(from, made.type)) return false;
    in.out.o[0] = in.destination(in.child(to, at), made.type);
    // The last is emitted by whoever asked.
    if (at < 3) in.emit(in.out);
  }
  return true;
}

}  // namespace

bool decode_mov(Decoder& in) {
  in.take_vector();
  in.out.type = in.take_type();
  if (in.out.type == Type::none) return false;
  if (in.item_count() != 2) in.mismatch();
  if (in.out.count != 1) return move_vector(in);
  const auto& from = in.item(1);
  if (in.item(0).form == Item::Form::vector || from.form == Item::Form::vector) return pack_or_unpack(in);
  if (move_address(in, from)) return true;
  in.out.op = Op::mov;
  if (from.form == Item::Form::name && from.name.front() == '%' && in.make_special(from, in.out.type)) {
    in.out.o[0] = in.destination(in.item(0), in.out.type);
    return true;
  }
  in.operands("Da");
  return true;
}

namespace {

bool is_packed(Type type) {
  switch (type) {
    case Type::f16x2:
    case Type::bf16x2:
    case Type::e4m3x2:
    case Type::e5m2x2:
    case Type::e2m3x2:
    case Type::e3m2x2:
    case Type::e2m1x2:
    case Type::ue8m0x2: return true;
    default: return false;
  }
}

bool convert_pack(Decoder& in) {
  in.take_flags(kSaturate);
  in.out.op = Op::cvt_pack;
  in.out.type = in.take_type();
  in.out.source_type = in.take_type();
  const bool has_third = in.take_type() == Type::b32;
  if (in.out.source_type != Type::s32 || in.item_count() != (has_third ? 4u : 3u)) return false;
  in.out.detail = has_third;
  in.out.o[0] = in.destination(in.item(0), Type::b32);
  for (std::size_t at = 1; at < in.item_count(); ++at) in.out.o[at] = in.source(in.item(at), Type::b32);
  return true;
}

}  // namespace

bool decode_cvt(Decoder& in) {
  if (in.take("pack")) return convert_pack(in);
  in.take_rounding();
  in.take_flags(kFtz | kSaturate | kSatFinite | kRelu);
  in.out.op = Op::cvt;
  in.out.type = in.take_type();
  in.out.source_type = in.take_type();
  if (in.out.source_type == Type::none || in.out.type == Type::pred || in.out.source_type == Type::pred) return false;
  const bool is_pair = is_packed(in.out.type) && !is_packed(in.out.source_type);
  const std::size_t count = is_pair                           ? (in.out.rounding == Rounding::rs ? 4 : 3)
                            : in.out.rounding == Rounding::rs ? 3
                                                              : 2;
  if (in.item_count() != count) in.mismatch();
  in.out.o[0] = in.loose_destination(in.item(0), in.out.type);
  for (std::size_t at = 1; at < count; ++at)
    in.out.o[at] = in.loose_source(in.item(at),
                                   in.out.rounding == Rounding::rs && at + 1 == count ? Type::b32 : in.out.source_type);
  return true;
}

bool decode_cvta(Decoder& in) {
  in.out.op = in.take("to") ? Op::cvta_to : Op::cvta;
  in.out.space = in.take_space(Space::generic);
  in.out.type = in.take_type();
  if (in.out.space == Space::generic || (in.out.type != Type::u64 && in.out.type != Type::u32)) return false;
  in.operands("Da");
  // What .param addresses in a device function is local.
  if (in.out.space == Space::param && !in.builder().function().is_kernel) in.out.space = Space::local;
  return true;
}

bool decode_isspacep(Decoder& in) {
  in.out.op = Op::isspacep;
  in.out.space = in.take_space(Space::generic);
  if (in.out.space == Space::generic) return false;
  in.out.type = Type::u64;
  if (in.item_count() == 2 && in.register_width(in.item(1)) == Width::w32) in.out.type = Type::u32;
  in.operands("Pa");
  return true;
}

bool decode_mapa(Decoder& in) {
  in.out.op = Op::mapa;
  in.out.space = in.take_space(Space::generic);
  in.out.type = in.take_type();
  if (in.out.type != Type::u32 && in.out.type != Type::u64) return false;
  in.operands("Dai");
  return true;
}

bool decode_getctarank(Decoder& in) {
  in.out.op = Op::getctarank;
  in.out.space = in.take_space(Space::generic);
  in.out.type = in.take_type();
  if (in.out.type != Type::u32 && in.out.type != Type::u64) return false;
  in.operands("Ia");
  return true;
}

bool decode_alloca(Decoder& in) {
  in.out.op = Op::alloca_;
  in.out.type = in.take_type();
  if (in.out.type != Type::u32 && in.out.type != Type::u64) return false;
  if (in.item_count() != 2 && in.item_count() != 3) in.mismatch();
  in.out.o[0] = in.destination(in.item(0), in.out.type);
  in.out.o[1] = in.source(in.item(1), in.out.type);
  const auto align = in.item_count() == 3 ? in.immediate(in.item(2)) : 8;
  if (align == 0 || (align & (align - 1)) || align > 4096) in.mismatch();
  in.out.detail = static_cast<std::uint8_t>(__builtin_ctzll(align));
  in.builder().function().uses_dynamic_stack = true;
  return true;
}

bool decode_stack(Decoder& in) {
  const bool is_save = in.name() == "stacksave";
  in.out.op = is_save ? Op::stacksave : Op::stackrestore;
  in.out.type = in.take_type();
  if (in.out.type != Type::u32 && in.out.type != Type::u64) return false;
  in.operands(is_save ? "D" : "a");
  in.builder().function().uses_dynamic_stack = true;
  return true;
}

}  // namespace flexrack::sim::ptx
