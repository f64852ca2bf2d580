#include "sim/ptx/function_builder.h"

#include <algorithm>
#include <cstring>

#include "sim/ptx/decoder.h"
#include "sim/ptx/flow.h"
#include "sim/ptx/lexer.h"
#include "sim/ptx/places.h"

namespace flexrack::sim::ptx {

namespace {

constexpr std::uint32_t kMaxLocal = 512 << 10;  ///< of one thread: CUDA programming guide, technical specifications
constexpr std::uint32_t kMaxParameters = 32764;  ///< PTX ISA 8.1 and later
constexpr std::uint32_t kLocalAlign = 16;

}  // namespace

FunctionBuilder::FunctionBuilder(ModuleScope& module, const Unit& unit, const FunctionSyntax& syntax, Function& out)
    : module_(module), unit_(unit), syntax_(syntax), out_(out) {
  block_parents_.push_back(kNone);
  blocks_.emplace_back(0, 0);
}

void FunctionBuilder::fail(Place where, std::string_view found, std::string said, ParseError::Kind kind) const {
  throw ParseError(kind, unit_.name, where.line, column_of(unit_.text, where.at), std::string(found.substr(0, 60)),
                   std::move(said));
}

void FunctionBuilder::run() {
  signature();
  if (!syntax_.has_body) return;
  out_.code.reserve(syntax_.instructions.size() + 1);
  for (const auto& each : syntax_.statements) statement(each);
  finish();
}

void FunctionBuilder::finish() {
  resolve_labels();
  close_flow(out_);
  out_.local_bytes = static_cast<std::uint32_t>(aligned(out_.local_bytes, out_.local_align));
  if (!assign_places(out_, widths_))
    fail(syntax_.place, syntax_.name, "Function " + quoted(syntax_.name) + " uses too many registers",
         ParseError::Kind::too_big);
}

void FunctionBuilder::declare_name(std::string_view name, const Symbol& symbol, Place where) {
  if (name != "_" && !scopes_.declare(name, symbol))
    fail(where, name, "Duplicate definition of variable " + quoted(name));
}

void FunctionBuilder::formal(const VariableSyntax& variable, Parameter& out, std::uint32_t& block_bytes) {
  out.name = variable.name;
  out.type = variable.type;
  out.align = variable.alignment();
  out.pointer_space = variable.pointer_space;
  out.pointer_align = variable.pointer_align;
  const auto bytes = variable.is_unsized ? 0 : variable.bytes();
  if (bytes > kMaxParameters)
    fail(variable.place, variable.name, "Parameter " + quoted(variable.name) + " is too big",
         ParseError::Kind::too_big);
  out.bytes = static_cast<std::uint32_t>(bytes);
  Symbol symbol;
  symbol.type = variable.type;
  symbol.bytes = bytes;
  symbol.step = std::max(1u, variable.element_bytes());
  if (variable.space == Space::reg) {
    out.is_register = true;
    symbol.kind = Symbol::Kind::reg;
    symbol.at = new_register(width_of(variable.type), variable.type);
    out.place = {Operand::Kind::lanes, width_of(variable.type), false, 0, symbol.at};
    if (variable.vector > 1 || variable.family) fail(variable.place, variable.name, "A parameter is one register");
  } else if (out_.is_kernel) {
    symbol.kind = Symbol::Kind::parameter;
    out.offset = symbol.at = static_cast<std::uint32_t>(aligned(block_bytes, out.align));
    block_bytes = out.offset + out.bytes;
    if (block_bytes > kMaxParameters)
      fail(variable.place, variable.name, "Formal parameter space overflowed in function " + quoted(out_.name),
           ParseError::Kind::too_big);
  } else {
    symbol.kind = Symbol::Kind::local;
    out.offset = symbol.at = reserve_local(out.bytes, out.align, variable.place);
  }
  declare_name(variable.name, symbol, variable.place);
}

void FunctionBuilder::signature() {
  std::uint32_t block_bytes = 0;
  out_.results.clear();
  out_.parameters.clear();
  for (const auto& each : syntax_.results) formal(each, out_.results.emplace_back(), block_bytes);
  for (const auto& each : syntax_.parameters) formal(each, out_.parameters.emplace_back(), block_bytes);
  if (out_.is_kernel) out_.parameter_bytes = block_bytes;
}

std::uint32_t FunctionBuilder::reserve_local(std::uint64_t bytes, std::uint32_t align, Place where) {
  const auto offset = aligned(local_top_, align);
  if (bytes > kMaxLocal || offset + bytes > kMaxLocal) {
    fail(where, "",
         "Function " + quoted(out_.name) + " uses too much local data (" + std::to_string(offset + bytes) + " bytes, " +
             std::to_string(kMaxLocal) + " max)",
         ParseError::Kind::too_big);
  }
  local_top_ = static_cast<std::uint32_t>(offset + bytes);
  out_.local_bytes = std::max(out_.local_bytes, local_top_);
  out_.local_align = std::max({out_.local_align, align, kLocalAlign});
  return static_cast<std::uint32_t>(offset);
}

void FunctionBuilder::declare_register(const VariableSyntax& variable) {
  Symbol symbol;
  symbol.type = variable.type;
  if (variable.family) {
    symbol.kind = Symbol::Kind::family;
    symbol.at = family_count_++;
    symbol.size = variable.family == kNone ? 0 : variable.family;
    if (variable.vector > 1) fail(variable.place, variable.name, "Vector registers have no families");
  } else {
    symbol.kind = variable.vector > 1 ? Symbol::Kind::vector : Symbol::Kind::reg;
    symbol.count = variable.vector;
    symbol.at = new_register(width_of(variable.type), variable.type);
    for (unsigned at = 1; at < variable.vector; ++at) new_register(width_of(variable.type), variable.type);
  }
  declare_name(variable.name, symbol, variable.place);
}

void FunctionBuilder::declare(const VariableSyntax& variable) {
  if (variable.space == Space::reg) return declare_register(variable);
  Symbol symbol;
  symbol.type = variable.type;
  symbol.bytes = variable.bytes();
  symbol.step = std::max(1u, variable.element_bytes());
  switch (variable.space) {
    case Space::local:
    case Space::param:
      symbol.kind = Symbol::Kind::local;
      symbol.at = reserve_local(symbol.bytes, variable.alignment(), variable.place);
      break;
    case Space::shared:
      symbol.kind = Symbol::Kind::shared;
      symbol.at = module_.add_shared(
          {variable.name, symbol.bytes, variable.alignment(), variable.linkage == Linkage::external});
      break;
    case Space::global:
    case Space::constant:
      symbol.kind = Symbol::Kind::variable;
      symbol.at = module_.add_variable(variable);
      break;
    default: fail(variable.place, variable.name, "This state space has no variables");
  }
  declare_name(variable.name, symbol, variable.place);
}

void FunctionBuilder::open_block() {
  scopes_.open();
  blocks_.emplace_back(static_cast<std::uint32_t>(block_parents_.size()), local_top_);
  block_parents_.push_back(blocks_[blocks_.size() - 2].first);
}

void FunctionBuilder::close_block() {
  scopes_.close();
  local_top_ = blocks_.back().second;
  blocks_.pop_back();
}

void FunctionBuilder::statement(const Statement& statement) {
  Symbol symbol;
  symbol.at = statement.index;
  switch (statement.kind) {
    case Statement::Kind::open: return open_block();
    case Statement::Kind::close: return close_block();
    case Statement::Kind::variable: return declare(syntax_.variables[statement.index]);
    case Statement::Kind::label: return add_label(statement.index);
    case Statement::Kind::location:
      line_ = {module_.file(statement.index), statement.line};
      has_location_ = true;
      return;
    case Statement::Kind::branch_targets: symbol.kind = Symbol::Kind::branch_targets; break;
    case Statement::Kind::call_targets: symbol.kind = Symbol::Kind::call_targets; break;
    case Statement::Kind::prototype:
      symbol.kind = Symbol::Kind::prototype;
      return declare_name(syntax_.prototypes[statement.index].first, symbol, {});
    case Statement::Kind::instruction: {
      const auto& instruction = syntax_.instructions[statement.index];
      if (!has_location_) line_ = {0, instruction.place.line};
      return decode(*this, instruction);
    }
  }
  declare_name(syntax_.name_lists[statement.index].label, symbol,
               syntax_.name_lists[statement.index].names.front().second);
}

Symbol FunctionBuilder::resolve(std::string_view name, std::uint32_t& number) {
  if (const auto* found = scopes_.find(name, number)) return *found;
  return module_.find(name);
}

Instruction& FunctionBuilder::emit(const Instruction& instruction) {
  out_.code.push_back(instruction);
  out_.lines.push_back(line_);
  return out_.code.back();
}

void FunctionBuilder::drop_from(std::size_t mark) {
  out_.code.resize(mark);
  out_.lines.resize(mark);
  while (!shared_uses.empty() && shared_uses.back().instruction >= mark) shared_uses.pop_back();
  while (!pending_.empty() && pending_.back().table == kNone && pending_.back().instruction >= mark)
    pending_.pop_back();
}

std::uint32_t FunctionBuilder::new_register(Width width, Type type) {
  widths_.push_back(width);
  register_types_.push_back(type);
  return static_cast<std::uint32_t>(widths_.size() - 1);
}

std::uint32_t FunctionBuilder::register_of(const Symbol& symbol, std::uint32_t number) {
  if (symbol.kind != Symbol::Kind::family) return symbol.at + number;
  const auto [found, is_new] = family_members_.try_emplace(std::uint64_t{symbol.at} << 32 | number, 0);
  if (is_new) found->second = new_register(width_of(symbol.type), symbol.type);
  return found->second;
}

std::uint32_t FunctionBuilder::carry() {
  if (carry_ == kNone) carry_ = new_register(Width::w1, Type::pred);
  return carry_;
}

Operand FunctionBuilder::constant(std::uint64_t bits, Width width) {
  Operand out{Operand::Kind::constant, width, false, 0, 0};
  const auto [found, is_new] =
      constants_[static_cast<unsigned>(width)].try_emplace(bits, static_cast<std::uint32_t>(out_.constants.size()));
  out.at = found->second;
  if (!is_new) return out;
  const auto bytes = lane_bytes(width);
  constexpr std::size_t kMaxConstants = std::size_t{1} << 30;
  if (out_.constants.size() > kMaxConstants)
    fail(syntax_.place, syntax_.name, "Function " + quoted(syntax_.name) + " has too many constants",
         ParseError::Kind::too_big);
  out_.constants.resize(out_.constants.size() + aligned(bytes, 64));
  auto* to = out_.constants.data() + out.at;
  if (width == Width::w1) {
    const std::uint32_t mask = bits & 1 ? 0xffffffffu : 0;
    std::memcpy(to, &mask, sizeof mask);
    return out;
  }
  const auto step = bytes / kLanes;
  for (unsigned lane = 0; lane < kLanes; ++lane) std::memcpy(to + lane * step, &bits, std::min(step, 8u));
  return out;
}

const NameList* FunctionBuilder::call_targets(const Symbol& symbol) const {
  return symbol.kind == Symbol::Kind::call_targets ? &syntax_.name_lists[symbol.at] : nullptr;
}

const PrototypeSyntax& FunctionBuilder::prototype(const Symbol& symbol) const {
  return syntax_.prototypes[symbol.at].second;
}

void FunctionBuilder::add_label(std::uint32_t index) {
  const auto& [name, where] = syntax_.labels[index];
  if (!labels_.try_emplace({blocks_.back().first, name}, static_cast<std::uint32_t>(out_.code.size())).second) {
    fail(where, name, "Duplicate definition of label " + quoted(name));
  }
}

void FunctionBuilder::branch_to(std::string_view label, Place where) {
  pending_.push_back({static_cast<std::uint32_t>(out_.code.size()), kNone, blocks_.back().first, label, where});
}

std::uint32_t FunctionBuilder::branch_table(std::string_view label, Place where) {
  // The list may follow the branch.
  if (branch_lists_.empty()) {
    for (std::uint32_t at = 0; at < syntax_.name_lists.size(); ++at)
      branch_lists_.try_emplace(syntax_.name_lists[at].label, BranchList{at});
  }
  const auto found = branch_lists_.find(label);
  if (found == branch_lists_.end()) fail(where, label, "Unknown symbol " + quoted(label));
  auto& [list, table] = found->second;
  if (table != kNone) return table;
  table = static_cast<std::uint32_t>(out_.branch_tables.size());
  const auto& names = syntax_.name_lists[list].names;
  out_.branch_tables.emplace_back().targets.resize(names.size());
  for (std::uint32_t at = 0; at < names.size(); ++at)
    pending_.push_back({at, table, blocks_.back().first, names[at].first, names[at].second});
  return table;
}

std::uint32_t FunctionBuilder::label_at(const PendingLabel& pending) const {
  for (auto block = pending.block; block != kNone; block = block_parents_[block]) {
    const auto found = labels_.find({block, pending.name});
    if (found != labels_.end()) return found->second;
  }
  fail(pending.where, pending.name, "Unknown symbol " + quoted(pending.name));
}

void FunctionBuilder::resolve_labels() {
  for (const auto& each : pending_) {
    const auto target = label_at(each);
    if (each.table != kNone) out_.branch_tables[each.table].targets[each.instruction] = target;
    else out_.code[each.instruction].ways = {target, kNone};
  }
}

}  // namespace flexrack::sim::ptx
