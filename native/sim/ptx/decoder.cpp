#include "sim/ptx/decoder.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace flexrack::sim::ptx {

namespace {

using Table = std::unordered_map<std::string_view, Decode>;

const Table& table() {
  static const Table all = [] {
    Table out;
    for (const auto name :
         {"add",  "addc",     "sub",   "subc", "mul",  "mad",   "madc", "mul24", "mad24", "sad", "div",  "rem",
          "abs",  "neg",      "min",   "max",  "fma",  "rcp",   "sqrt", "rsqrt", "sin",   "cos", "lg2",  "ex2",
          "tanh", "copysign", "testp", "popc", "clz",  "bfind", "fns",  "brev",  "bfe",   "bfi", "bmsk", "szext",
          "and",  "or",       "xor",   "not",  "cnot", "shl",   "shr",  "shf",   "prmt",  "selp"}) {
      out[name] = decode_arithmetic;
    }
    for (const auto name : {"bra", "brx", "ret", "exit", "trap", "brkpt", "nanosleep"}) out[name] = decode_control;
    for (const auto name :
         {"prefetch", "prefetchu", "pmevent", "discard", "applypriority", "griddepcontrol", "setmaxnreg"})
      out[name] = decode_hint;
    for (const auto name : {"bar", "barrier"}) out[name] = decode_bar;
    for (const auto name : {"membar", "fence"}) out[name] = decode_fence;
    for (const auto name : {"tex", "tld4"}) out[name] = decode_texture;
    for (const auto name : {"txq", "suq"}) out[name] = decode_query;
    for (const auto name : {"suld", "sust", "sured"}) out[name] = decode_surface;
    for (const auto name : {"ld", "ldu"}) out[name] = decode_load;
    for (const auto name : {"atom", "red"}) out[name] = decode_atomic;
    for (const auto name : {"stacksave", "stackrestore"}) out[name] = decode_stack;
    for (const auto name : {"mma", "wmma"}) out[name] = decode_matrix;
    for (const auto name : {"ldmatrix", "stmatrix", "movmatrix"}) out[name] = decode_matrix_move;
    for (const auto name : {"dp4a", "dp2a"}) out[name] = decode_dot_product;
    out["lop3"] = decode_lop3, out["set"] = decode_set, out["setp"] = decode_setp, out["slct"] = decode_slct;
    out["mov"] = decode_mov, out["cvt"] = decode_cvt, out["cvta"] = decode_cvta, out["isspacep"] = decode_isspacep;
    out["mapa"] = decode_mapa, out["getctarank"] = decode_getctarank, out["alloca"] = decode_alloca;
    out["st"] = decode_store, out["createpolicy"] = decode_createpolicy, out["cp"] = decode_cp;
    out["shfl"] = decode_shfl, out["vote"] = decode_vote, out["match"] = decode_match,
    out["activemask"] = decode_activemask;
    out["redux"] = decode_redux, out["elect"] = decode_elect, out["mbarrier"] = decode_mbarrier,
    out["call"] = decode_call;
    return out;
  }();
  return all;
}

/// PTX has it, and nothing here carries it out.
bool is_unexecuted(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "clusterlaunchcontrol",
      "istypep",
      "multimem",
      "tcgen05",
      "tensormap",
      "vabsdiff",
      "vabsdiff2",
      "vabsdiff4",
      "vadd",
      "vadd2",
      "vadd4",
      "vavrg2",
      "vavrg4",
      "vmad",
      "vmax",
      "vmax2",
      "vmax4",
      "vmin",
      "vmin2",
      "vmin4",
      "vset",
      "vset2",
      "vset4",
      "vshl",
      "vshr",
      "vsub",
      "vsub2",
      "vsub4",
      "wgmma",
  };
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void unsupported(FunctionBuilder& to, const InstructionSyntax& syntax, const Instruction& guarded) {
  Instruction out;
  out.op = Op::unsupported;
  out.guard = guarded.guard;
  out.is_guard_negated = guarded.is_guard_negated;
  auto& texts = to.function().texts;
  out.index = static_cast<std::uint32_t>(texts.size());
  constexpr std::uint32_t kMaxShown = 400;
  texts.emplace_back(to.unit().text.substr(syntax.place.at, std::min(syntax.end - syntax.place.at, kMaxShown)));
  to.emit(out);
}

}  // namespace

void decode(FunctionBuilder& to, const InstructionSyntax& syntax) {
  Decoder decoder(to, syntax);
  const auto guarded = decoder.out;
  const auto mark = to.function().code.size();
  const auto found = table().find(syntax.name);
  bool is_known = found != table().end();
  if (!is_known && !is_unexecuted(syntax.name))
    to.fail(syntax.place, syntax.name, "Not a name of any known instruction: '" + std::string(syntax.name) + "'");
  try {
    is_known = is_known && found->second(decoder) && decoder.all_taken();
  } catch (const NotSupported&) { is_known = false; }
  if (is_known) return decoder.finish();
  to.drop_from(mark);
  unsupported(to, syntax, guarded);
}

Decoder::Decoder(FunctionBuilder& to, const InstructionSyntax& syntax) : to_(to), syntax_(syntax) {
  words_.reserve(syntax.word_count);
  for (std::uint32_t at = 0; at < syntax.word_count; ++at) {
    const auto text = to.syntax().words[syntax.first_word + at];
    words_.push_back({text, word_of(text)});
  }
  if (syntax.guard.empty()) return;
  Item guard;
  guard.name = syntax.guard;
  guard.place = syntax.place;
  out.guard = source(guard, Type::pred).at;
  out.is_guard_negated = syntax.is_guard_negated;
}

void Decoder::finish() {
  if (shared_ != kNone) to_.shared_uses.push_back({static_cast<std::uint32_t>(to_.function().code.size()), shared_});
  to_.emit(out);
}

void Decoder::mismatch() const {
  to_.fail(syntax_.place, syntax_.name, "Arguments mismatch for instruction '" + std::string(syntax_.name) + "'");
}

void Decoder::fail(const Item& item, std::string said) const { to_.fail(item.place, item.name, std::move(said)); }

Decoder::Taken* Decoder::find(Word::Kind kind) {
  for (auto& each : words_) {
    if (!each.is_taken && each.word.kind == kind) return &each;
  }
  return nullptr;
}

bool Decoder::take(std::string_view text) {
  for (auto& each : words_) {
    if (each.is_taken || each.text != text) continue;
    each.is_taken = true;
    return true;
  }
  return false;
}

bool Decoder::has(std::string_view text) const {
  return std::any_of(words_.begin(), words_.end(),
                     [&](const Taken& each) { return !each.is_taken && each.text == text; });
}

bool Decoder::take_all_starting(std::string_view prefix) {
  bool is_any = false;
  for (auto& each : words_) {
    if (each.is_taken || !each.text.starts_with(prefix)) continue;
    each.is_taken = is_any = true;
  }
  return is_any;
}

std::string_view Decoder::take_either(std::string_view one, std::string_view other) {
  for (auto& each : words_) {
    if (each.is_taken || (each.text != one && each.text != other)) continue;
    each.is_taken = true;
    return each.text;
  }
  return {};
}

std::string_view Decoder::take_starting(std::string_view prefix) {
  for (auto& each : words_) {
    if (each.is_taken || !each.text.starts_with(prefix)) continue;
    each.is_taken = true;
    return each.text;
  }
  return {};
}

Type Decoder::take_type() {
  auto* found = find(Word::Kind::type);
  if (!found) return Type::none;
  found->is_taken = true;
  return static_cast<Type>(found->word.value);
}

bool Decoder::has_space() const {
  return std::any_of(words_.begin(), words_.end(),
                     [](const Taken& each) { return !each.is_taken && each.word.kind == Word::Kind::space; });
}

Space Decoder::take_space(Space otherwise) {
  auto* found = find(Word::Kind::space);
  if (!found) return otherwise;
  found->is_taken = true;
  return static_cast<Space>(found->word.value);
}

void Decoder::take_flags(std::uint16_t allowed) {
  for (auto& each : words_) {
    if (each.is_taken || each.word.kind != Word::Kind::flag || !(each.word.value & allowed)) continue;
    each.is_taken = true;
    out.flags |= each.word.value;
  }
}

void Decoder::take_rounding() {
  auto* found = find(Word::Kind::rounding);
  if (!found) return;
  found->is_taken = true;
  out.rounding = static_cast<Rounding>(found->word.value);
}

void Decoder::take_compare() {
  for (auto& each : words_) {
    if (each.is_taken || (each.word.kind != Word::Kind::compare && each.text != "lo" && each.text != "hi")) continue;
    each.is_taken = true;
    // lo and hi are halves of products elsewhere.
    if (each.text == "lo") out.compare = Compare::lt;
    else if (each.text == "hi") out.compare = Compare::gt;
    else out.compare = static_cast<Compare>(each.word.value);
    return;
  }
}

void Decoder::take_combine() {
  if (take("and")) out.combine = Combine::logic_and;
  else if (take("or")) out.combine = Combine::logic_or;
  else if (take("xor")) out.combine = Combine::logic_xor;
}

void Decoder::take_vector() {
  auto* found = find(Word::Kind::vector);
  if (!found) return;
  found->is_taken = true;
  out.count = static_cast<std::uint8_t>(found->word.value);
}

void Decoder::take_cache() {
  while (auto* found = find(Word::Kind::cache)) found->is_taken = true;
}

void Decoder::take_order_and_scope() {
  while (auto* found = find(Word::Kind::order)) {
    found->is_taken = true;
    out.order = static_cast<Order>(found->word.value);
  }
  if (auto* found = find(Word::Kind::scope)) {
    found->is_taken = true;
    out.scope = static_cast<Scope>(found->word.value);
  }
}

bool Decoder::all_taken() const {
  return std::all_of(words_.begin(), words_.end(), [](const Taken& each) { return each.is_taken; });
}

}  // namespace flexrack::sim::ptx
