// Branches, calls and ends. Facts: PTX ISA 9.0, 9.7.12, 9.7.19.
#include "sim/ptx/decoder.h"

namespace flexrack::sim::ptx {

namespace {

bool branch(Decoder& in) {
  in.take_flags(kUniform);
  in.out.op = Op::bra;
  if (in.item_count() != 1 || in.item(0).form != Item::Form::name) in.mismatch();
  in.builder().branch_to(in.item(0).name, in.item(0).place);
  return true;
}

bool indexed_branch(Decoder& in) {
  in.take_flags(kUniform);
  if (!in.take("idx")) return false;
  if (in.item_count() != 2 || in.item(1).form != Item::Form::name) in.mismatch();
  in.out.op = Op::brx;
  in.out.o[0] = in.source(in.item(0), Type::b32);
  in.out.index = in.builder().branch_table(in.item(1).name, in.item(1).place);
  in.out.ways = {kNone, kNone};
  return true;
}

}  // namespace

bool decode_control(Decoder& in) {
  const auto name = in.name();
  if (name == "bra") return branch(in);
  if (name == "brx") return indexed_branch(in);
  if (name == "nanosleep") {
    in.out.op = Op::nanosleep;
    in.out.type = in.take_type();
    if (in.out.type != Type::u32) return false;
    in.operands("a");
    return true;
  }
  if (in.item_count() != 0) in.mismatch();
  in.take_flags(kUniform);
  if (name == "trap") in.out.op = Op::trap;
  else if (name == "brkpt") in.out.op = Op::brkpt;
  else in.out.op = name == "exit" || in.builder().function().is_kernel ? Op::exit : Op::ret;
  return true;
}

namespace {

/// A formal parameter as a call sees it.
struct Formal {
  Type type = Type::none;
  std::uint32_t bytes = 0;
  bool is_open = false;   ///< an array of any size
};

std::vector<Formal> formals_of(const std::vector<Parameter>& parameters) {
  std::vector<Formal> out;
  for (const auto& each : parameters) out.push_back({each.type, each.bytes, each.bytes == 0});
  return out;
}

std::vector<Formal> formals_of(const std::vector<VariableSyntax>& parameters) {
  std::vector<Formal> out;
  for (const auto& each : parameters) {
    const auto bytes = each.is_unsized ? 0 : each.bytes();
    if (bytes > 32764) throw NotSupported();
    out.push_back({each.type, static_cast<std::uint32_t>(bytes), bytes == 0});
  }
  return out;
}

Argument argument(Decoder& in, const Item& item, const Formal& formal, bool is_result) {
  Argument made;
  made.bytes = formal.bytes;
  if (item.form == Item::Form::name && item.name != "_") {
    std::uint32_t number = 0;
    const auto symbol = in.builder().resolve(item.name, number);
    if (symbol.kind == Symbol::Kind::parameter || formal.is_open) throw NotSupported();
    if (symbol.kind == Symbol::Kind::local) {
      if (symbol.bytes != formal.bytes || item.number.integer) in.mismatch();
      made.is_memory = true;
      made.offset = symbol.at;
      return made;
    }
  }
  if (formal.is_open) throw NotSupported();
  if (bytes_of(formal.type) != formal.bytes && item.form != Item::Form::sink) in.mismatch();
  // Of a byte no register is just as wide.
  const bool is_byte = formal.bytes == 1;
  if (is_result) made.value = in.destination_or_sink(item, formal.type, is_byte);
  else made.value = is_byte ? in.loose_source(item, formal.type) : in.source(item, formal.type);
  return made;
}

std::vector<Argument> arguments(Decoder& in, const Item* list, const std::vector<Formal>& formals, bool is_result) {
  const std::size_t count = list ? list->count : 0;
  // Results may be left out.
  if (count != formals.size() && !(is_result && count == 0)) in.mismatch();
  std::vector<Argument> out;
  for (std::size_t at = 0; at < count; ++at) out.push_back(argument(in, in.child(*list, at), formals[at], is_result));
  return out;
}

/// `(results), target, (arguments), prototype`, of which only the target must be.
struct CallItems {
  const Item* results = nullptr;
  const Item* target = nullptr;
  const Item* arguments = nullptr;
  const Item* prototype = nullptr;
};

CallItems call_items(Decoder& in) {
  CallItems out;
  std::size_t at = 0;
  const auto count = in.item_count();
  if (at < count && in.item(at).form == Item::Form::list) out.results = &in.item(at++);
  if (at >= count || in.item(at).form != Item::Form::name) in.mismatch();
  out.target = &in.item(at++);
  if (at < count && in.item(at).form == Item::Form::list) out.arguments = &in.item(at++);
  if (at < count && in.item(at).form == Item::Form::name) out.prototype = &in.item(at++);
  if (at != count) in.mismatch();
  return out;
}

constexpr std::size_t kMaxTargets = 1 << 20;

void call_targets(Decoder& in, const NameList& list, Call& call, std::size_t& total) {
  total += list.names.size();
  if (total > kMaxTargets) throw NotSupported();
  for (const auto& [name, where] : list.names) {
    std::uint32_t number = 0;
    const auto symbol = in.builder().resolve(name, number);
    if (symbol.kind != Symbol::Kind::function)
      in.builder().fail(where, name, "Unknown symbol '" + std::string(name) + "'");
    call.targets.push_back(symbol.at);
  }
}

void indirect_call(Decoder& in, const CallItems& items, Call& call) {
  const auto width = in.register_width(*items.target);
  if (!width || (*width != Width::w64 && *width != Width::w32) || !items.prototype) in.mismatch();
  in.out.o[0] = in.source(*items.target, *width == Width::w64 ? Type::b64 : Type::b32);
  std::uint32_t number = 0;
  const auto symbol = in.symbol_of(*items.prototype, number);
  in.builder().function().has_indirect_calls = true;
  std::vector<Formal> parameters, results;
  if (symbol.kind == Symbol::Kind::prototype) {
    parameters = formals_of(in.builder().prototype(symbol).parameters);
    results = formals_of(in.builder().prototype(symbol).results);
  } else if (const auto* list = in.builder().call_targets(symbol)) {
    call_targets(in, *list, call, in.builder().listed_targets);
    const auto& first = in.builder().module().function(call.targets.front());
    parameters = formals_of(first.parameters);
    results = formals_of(first.results);
  } else {
    in.mismatch();
  }
  call.results = arguments(in, items.results, results, true);
  call.arguments = arguments(in, items.arguments, parameters, false);
}

}  // namespace

bool decode_call(Decoder& in) {
  in.take_flags(kUniform);
  const auto items = call_items(in);
  Call call;
  std::uint32_t number = 0;
  const auto symbol = in.symbol_of(*items.target, number);
  if (symbol.kind == Symbol::Kind::function) {
    const auto& callee = in.builder().module().function(symbol.at);
    call.callee = symbol.at;
    call.is_checked = true;
    call.results = arguments(in, items.results, formals_of(callee.results), true);
    call.arguments = arguments(in, items.arguments, formals_of(callee.parameters), false);
    in.builder().callees.push_back(symbol.at);
  } else {
    indirect_call(in, items, call);
  }
  in.out.op = Op::call;
  auto& calls = in.builder().function().calls;
  in.out.index = static_cast<std::uint32_t>(calls.size());
  calls.push_back(std::move(call));
  return true;
}

}  // namespace flexrack::sim::ptx
