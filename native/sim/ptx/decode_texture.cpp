// Textures and surfaces. Facts: PTX ISA 9.0, 9.7.10, 9.7.11.
#include "sim/ptx/decoder.h"

namespace flexrack::sim::ptx {

namespace {

bool take_geometry(Decoder& in, Texture& texture) {
  static constexpr std::pair<std::string_view, Geometry> kNames[] = {
      {"1d", Geometry::d1},       {"2d", Geometry::d2},     {"3d", Geometry::d3},
      {"a1d", Geometry::a1},      {"a2d", Geometry::a2},    {"cube", Geometry::cube},
      {"acube", Geometry::acube}, {"2dms", Geometry::dms2}, {"a2dms", Geometry::adms2},
  };
  for (const auto& [text, geometry] : kNames) {
    if (!in.take(text)) continue;
    texture.geometry = geometry;
    return true;
  }
  return false;
}

/// The first coordinate of these is a layer or a sample: an integer.
unsigned leading_integers(Geometry geometry) {
  switch (geometry) {
    case Geometry::a1:
    case Geometry::a2:
    case Geometry::acube:
    case Geometry::dms2: return 1;
    case Geometry::adms2: return 2;
    default: return 0;
  }
}

Operand coordinates(Decoder& in, const Item& item, const Texture& texture) {
  std::vector<Operand> made;
  const auto integers = leading_integers(texture.geometry);
  if (item.form != Item::Form::vector)
    return in.list(item, integers ? Type::b32 : texture.coordinate, Decoder::Use::read);
  for (std::size_t at = 0; at < item.count; ++at) {
    const auto& each = in.child(item, at);
    // What only fills the vector up may be anything.
    made.push_back(each.form == Item::Form::sink ? in.builder().constant(0, Width::w32)
                                                 : in.source(each, at < integers ? Type::b32 : texture.coordinate));
  }
  return in.list_of(made);
}

Operand object(Decoder& in, const Item& item) {
  if (item.form != Item::Form::name || item.number.integer) in.mismatch();
  std::uint32_t number = 0;
  const auto symbol = in.symbol_of(item, number);
  if (symbol.kind == Symbol::Kind::parameter) throw NotSupported();
  if (symbol.kind == Symbol::Kind::variable) return {Operand::Kind::symbol, Width::w64, false, 0, symbol.at};
  return in.source(item, Type::b64);
}

bool is_texel(Type type) { return bytes_of(type) > 0 && bytes_of(type) <= 8; }

void keep(Decoder& in, Texture texture) {
  auto& textures = in.builder().function().textures;
  in.out.index = static_cast<std::uint32_t>(textures.size());
  textures.push_back(texture);
}

/// `[texture, coordinates]` or `[texture, sampler, coordinates]`.
void place(Decoder& in, const Item& item, Texture& texture) {
  if (item.form != Item::Form::address || (item.count != 2 && item.count != 3)) in.mismatch();
  in.out.o[1] = object(in, in.child(item, 0));
  if (item.count == 3) texture.sampler = object(in, in.child(item, 1));
  in.out.o[2] = coordinates(in, in.child(item, item.count - 1u), texture);
}

/// Offsets and a depth to compare with, each if there.
void extras(Decoder& in, std::size_t at, Texture& texture) {
  const bool is_line = texture.geometry == Geometry::d1 || texture.geometry == Geometry::a1;
  for (; at < in.item_count(); ++at) {
    const auto& each = in.item(at);
    // On a line an offset is a scalar; a depth comes after it.
    const bool is_offset = each.form == Item::Form::vector || (is_line && texture.offset.kind == Operand::Kind::none);
    auto& to = is_offset ? texture.offset : texture.compare;
    if (to.kind != Operand::Kind::none) in.mismatch();
    to = is_offset ? in.list(each, Type::s32, Decoder::Use::read) : in.source(each, Type::f32);
  }
}

}  // namespace

bool decode_texture(Decoder& in) {
  Texture texture;
  const bool is_gather = in.name() == "tld4";
  in.out.op = is_gather ? Op::tld4 : Op::tex;
  bool is_level = false, is_gradient = false;
  if (is_gather) {
    static constexpr std::string_view kComponents[] = {"r", "g", "b", "a"};
    unsigned at = 0;
    while (at < 4 && !in.take(kComponents[at])) ++at;
    if (at == 4) return false;
    in.out.detail = static_cast<std::uint8_t>(at);
  } else {
    texture.is_base = in.take("base");
    is_level = in.take("level");
    is_gradient = in.take("grad");
  }
  if (!take_geometry(in, texture)) return false;
  in.take_vector();
  in.out.type = in.take_type();
  texture.coordinate = in.take_type();
  if (!is_texel(in.out.type) || (texture.coordinate != Type::s32 && texture.coordinate != Type::f32)) return false;
  if (!in.item(0).partner.empty()) return false;
  in.out.source_type = texture.coordinate;
  in.out.o[0] = in.list(in.item(0), in.out.type, Decoder::Use::write);
  place(in, in.item(1), texture);
  std::size_t next = 2;
  if (is_level) texture.level = in.source(in.item(next++), texture.coordinate);
  if (is_gradient) {
    texture.dpdx = in.list(in.item(next), Type::f32, Decoder::Use::read);
    texture.dpdy = in.list(in.item(next + 1), Type::f32, Decoder::Use::read);
    next += 2;
  }
  extras(in, next, texture);
  keep(in, texture);
  return true;
}

bool decode_query(Decoder& in) {
  static constexpr std::pair<std::string_view, QueryField> kFields[] = {
      {"width", QueryField::width},
      {"height", QueryField::height},
      {"depth", QueryField::depth},
      {"channel_data_type", QueryField::channel_data_type},
      {"channel_order", QueryField::channel_order},
      {"normalized_coords", QueryField::normalized_coords},
      {"array_size", QueryField::array_size},
      {"num_mipmap_levels", QueryField::num_mipmap_levels},
      {"num_samples", QueryField::num_samples},
      {"memory_layout", QueryField::memory_layout},
      {"filter_mode", QueryField::filter_mode},
      {"addr_mode_0", QueryField::addr_mode_0},
      {"addr_mode_1", QueryField::addr_mode_1},
      {"addr_mode_2", QueryField::addr_mode_2},
      {"force_unnormalized_coords", QueryField::force_unnormalized_coords},
  };
  in.out.op = in.name() == "txq" ? Op::txq : Op::suq;
  const bool is_level = in.take("level");
  bool is_known = false;
  for (const auto& [text, field] : kFields) {
    if (is_known || !in.take(text)) continue;
    is_known = true;
    in.out.detail = static_cast<std::uint8_t>(field);
  }
  in.out.type = in.take_type();
  if (!is_known || in.out.type != Type::b32 || in.item_count() != (is_level ? 3u : 2u)) return false;
  in.out.o[0] = in.destination(in.item(0), Type::b32);
  const auto& place_item = in.item(1);
  if (place_item.form != Item::Form::address || place_item.count != 1) in.mismatch();
  in.out.o[1] = object(in, in.child(place_item, 0));
  if (is_level) in.out.o[2] = in.source(in.item(2), Type::b32);
  return true;
}

namespace {

AtomicOp take_reduction(Decoder& in) {
  static constexpr std::pair<std::string_view, AtomicOp> kOps[] = {{"add", AtomicOp::add},
                                                                   {"min", AtomicOp::min},
                                                                   {"max", AtomicOp::max},
                                                                   {"and", AtomicOp::logic_and},
                                                                   {"or", AtomicOp::logic_or}};
  for (const auto& [text, op] : kOps) {
    if (in.take(text)) return op;
  }
  return AtomicOp::none;
}

Clamp take_clamp(Decoder& in) {
  if (in.take("trap")) return Clamp::trap;
  if (in.take("clamp")) return Clamp::clamp;
  return in.take("zero") ? Clamp::zero : Clamp::trap;
}

}  // namespace

bool decode_surface(Decoder& in) {
  Texture texture;
  const bool is_load = in.name() == "suld";
  in.out.op = is_load ? Op::suld : in.name() == "sust" ? Op::sust : Op::sured;
  texture.is_formatted = in.take("p");
  if (!texture.is_formatted && !in.take("b")) return false;
  if (in.out.op == Op::sured) in.out.atomic = take_reduction(in);
  if (!take_geometry(in, texture) || (in.out.op == Op::sured && in.out.atomic == AtomicOp::none)) return false;
  in.take_cache();
  in.take_vector();
  in.out.type = in.take_type();
  texture.clamp = take_clamp(in);
  if (!is_texel(in.out.type) || in.item_count() != 2) return false;
  const auto& place_item = in.item(is_load ? 1 : 0);
  const auto& value = in.item(is_load ? 0 : 1);
  if (place_item.form != Item::Form::address || place_item.count != 2) in.mismatch();
  const auto where = object(in, in.child(place_item, 0));
  const auto at = coordinates(in, in.child(place_item, 1), texture);
  const auto values = in.list(value, in.out.type, is_load ? Decoder::Use::write : Decoder::Use::read, true);
  if (values.count != in.out.count) in.mismatch();
  if (is_load) in.out.o = {values, where, at};
  else in.out.o = {where, at, values};
  keep(in, texture);
  return true;
}

}  // namespace flexrack::sim::ptx
