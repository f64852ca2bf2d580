#include "sim/ptx/words.h"

#include <unordered_map>

namespace flexrack::sim::ptx {

namespace {

using Words = std::unordered_map<std::string_view, Word>;

void add_types(Words& table) {
  const auto add = [&](std::string_view text, Type type) {
    table[text] = {Word::Kind::type, static_cast<std::uint16_t>(type)};
  };
  add("pred", Type::pred);
  add("b8", Type::b8), add("b16", Type::b16), add("b32", Type::b32), add("b64", Type::b64), add("b128", Type::b128);
  add("u8", Type::u8), add("u16", Type::u16), add("u32", Type::u32), add("u64", Type::u64);
  add("s8", Type::s8), add("s16", Type::s16), add("s32", Type::s32), add("s64", Type::s64);
  add("f16", Type::f16), add("f16x2", Type::f16x2), add("bf16", Type::bf16), add("bf16x2", Type::bf16x2),
      add("tf32", Type::tf32);
  add("f32", Type::f32), add("f32x2", Type::f32x2), add("f64", Type::f64), add("u16x2", Type::u16x2),
      add("s16x2", Type::s16x2);
  add("e4m3", Type::e4m3), add("e5m2", Type::e5m2), add("e4m3x2", Type::e4m3x2), add("e5m2x2", Type::e5m2x2),
      add("e2m3x2", Type::e2m3x2);
  add("e3m2x2", Type::e3m2x2), add("e2m1x2", Type::e2m1x2), add("ue8m0x2", Type::ue8m0x2);
  add("texref", Type::texref), add("samplerref", Type::samplerref), add("surfref", Type::surfref);
}

void add_spaces(Words& table) {
  const auto add = [&](std::string_view text, Space space) {
    table[text] = {Word::Kind::space, static_cast<std::uint16_t>(space)};
  };
  add("global", Space::global), add("const", Space::constant), add("local", Space::local), add("reg", Space::reg),
      add("sreg", Space::special);
  add("shared", Space::shared), add("shared::cta", Space::shared), add("shared::cluster", Space::shared_cluster);
  add("param", Space::param), add("param::entry", Space::param), add("param::func", Space::param);
}

void add_arithmetic(Words& table) {
  const auto rounding = [&](std::string_view text, Rounding value) {
    table[text] = {Word::Kind::rounding, static_cast<std::uint16_t>(value)};
  };
  rounding("rn", Rounding::rn), rounding("rz", Rounding::rz), rounding("rm", Rounding::rm),
      rounding("rp", Rounding::rp), rounding("rna", Rounding::rna);
  rounding("rs", Rounding::rs), rounding("rni", Rounding::rni), rounding("rzi", Rounding::rzi),
      rounding("rmi", Rounding::rmi), rounding("rpi", Rounding::rpi);
  const auto compare = [&](std::string_view text, Compare value) {
    table[text] = {Word::Kind::compare, static_cast<std::uint16_t>(value)};
  };
  compare("eq", Compare::eq), compare("ne", Compare::ne), compare("lt", Compare::lt), compare("le", Compare::le),
      compare("gt", Compare::gt);
  compare("ge", Compare::ge), compare("ls", Compare::le), compare("hs", Compare::ge), compare("num", Compare::num),
      compare("nan", Compare::nan);
  compare("equ", Compare::equ), compare("neu", Compare::neu), compare("ltu", Compare::ltu),
      compare("leu", Compare::leu), compare("gtu", Compare::gtu);
  compare("geu", Compare::geu);
  const auto flag = [&](std::string_view text, Flag value) {
    table[text] = {Word::Kind::flag, static_cast<std::uint16_t>(value)};
  };
  flag("ftz", kFtz), flag("noftz", kNoFtz), flag("sat", kSaturate), flag("satfinite", kSatFinite),
      flag("approx", kApprox), flag("full", kApprox);
  flag("relu", kRelu), flag("NaN", kNan), flag("xorsign", kXorSign), flag("oob", kOob), flag("cc", kCarryOut),
      flag("uni", kUniform);
}

void add_memory(Words& table) {
  const auto vector = [&](std::string_view text, unsigned count) {
    table[text] = {Word::Kind::vector, static_cast<std::uint16_t>(count)};
  };
  vector("v2", 2), vector("v4", 4), vector("v8", 8);
  const auto scope = [&](std::string_view text, Scope value) {
    table[text] = {Word::Kind::scope, static_cast<std::uint16_t>(value)};
  };
  scope("cta", Scope::cta), scope("cluster", Scope::cluster), scope("gpu", Scope::gpu), scope("gl", Scope::gpu),
      scope("sys", Scope::sys);
  const auto order = [&](std::string_view text, Order value) {
    table[text] = {Word::Kind::order, static_cast<std::uint16_t>(value)};
  };
  order("weak", Order::weak), order("relaxed", Order::relaxed), order("acquire", Order::acquire),
      order("release", Order::release);
  order("acq_rel", Order::acq_rel), order("sc", Order::seq_cst), order("volatile", Order::volatile_),
      order("mmio", Order::mmio);
  for (const auto text : {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"}) table[text] = {Word::Kind::cache, 0};
}

Words make_table() {
  Words table;
  add_types(table);
  add_spaces(table);
  add_arithmetic(table);
  add_memory(table);
  return table;
}

}  // namespace

Word word_of(std::string_view text) {
  static const Words table = make_table();
  const auto found = table.find(text);
  if (found != table.end()) return found->second;
  if (text.starts_with("L1::") || text.starts_with("L2::") || text.starts_with("level::"))
    return {Word::Kind::cache, 0};
  return {Word::Kind::plain, 0};
}

std::optional<Type> type_of(std::string_view text) {
  const auto word = word_of(text);
  if (word.kind != Word::Kind::type) return std::nullopt;
  return static_cast<Type>(word.value);
}

}  // namespace flexrack::sim::ptx
