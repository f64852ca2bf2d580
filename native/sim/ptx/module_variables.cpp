// Variables of module scope: declared, found in other units, filled with initial values.
#include <algorithm>

#include "sim/ptx/link.h"
#include "sim/ptx/module_builder.h"

namespace flexrack::sim::ptx {

namespace {

constexpr std::uint64_t kMaxShared = std::uint64_t{1} << 30;

bool is_object(Type type) { return type == Type::texref || type == Type::samplerref || type == Type::surfref; }

}  // namespace

std::uint32_t ModuleBuilder::add_shared(const SharedVariable& variable) {
  if (variable.bytes > kMaxShared)
    throw ParseError(ParseError::Kind::too_big, "", 0, 0, std::string(variable.name),
                     "Variable " + quoted(variable.name) + " is too big");
  shared_.push_back(variable);
  return static_cast<std::uint32_t>(shared_.size() - 1);
}

void ModuleBuilder::declare_variables(std::size_t unit) {
  for (const auto& each : units_[unit].variables) {
    switch (each.space) {
      case Space::global:
      case Space::constant: declare_variable(unit, each); break;
      case Space::shared: declare_shared(unit, each); break;
      case Space::local:
        fail(unit, each.place, each.name,
             ".local variables of module scope are not supported: they need calls without ABI",
             ParseError::Kind::syntax);
      default:
        fail(unit, each.place, each.name, "This state space has no variables of module scope",
             ParseError::Kind::syntax);
    }
  }
}

void ModuleBuilder::declare_shared(std::size_t unit, const VariableSyntax& syntax) {
  auto& names = unit_names_[unit];
  const auto outside = syntax.linkage == Linkage::internal ? global_names_.end() : global_names_.find(syntax.name);
  Symbol symbol;
  symbol.kind = Symbol::Kind::shared;
  symbol.type = syntax.type;
  symbol.step = std::max(1u, syntax.element_bytes());
  symbol.bytes = syntax.bytes();
  const bool is_external = syntax.linkage == Linkage::external;
  if (names.contains(syntax.name)) {
    // Declared again, as headers do.
    if (!is_external) fail(unit, syntax.place, syntax.name, "Duplicate definition of variable " + quoted(syntax.name));
    return;
  }
  if (outside != global_names_.end() && outside->second.kind == Symbol::Kind::shared) {
    auto& other = shared_[outside->second.at];
    if (!is_external && !other.is_dynamic && !is_replaceable(syntax.linkage))
      fail(unit, syntax.place, syntax.name, "Duplicate definition of variable " + quoted(syntax.name));
    // Defined here what another unit only declared: both mean this one.
    if (!is_external && other.is_dynamic) other = {syntax.name, symbol.bytes, syntax.alignment(), false};
    names[syntax.name] = outside->second;
    return;
  }
  symbol.at = add_shared({syntax.name, symbol.bytes, syntax.alignment(), is_external});
  names[syntax.name] = symbol;
  if (syntax.linkage != Linkage::internal) global_names_[syntax.name] = symbol;
}

std::uint32_t ModuleBuilder::new_variable(std::size_t, const VariableSyntax& syntax) {
  Variable made;
  made.name = syntax.name;
  made.space = syntax.space;
  made.linkage = syntax.linkage;
  made.type = syntax.type;
  made.bytes = is_object(syntax.type) ? 8 * syntax.elements : syntax.bytes();
  made.align = syntax.alignment();
  made.is_managed = syntax.is_managed;
  module_->variables.push_back(std::move(made));
  is_variable_used_.push_back(false);
  return static_cast<std::uint32_t>(module_->variables.size() - 1);
}

void ModuleBuilder::fill_variable(std::uint32_t index, std::size_t unit, const VariableSyntax& syntax) {
  auto& to = module_->variables[index];
  to.initial = syntax.initial;
  to.state = syntax.state;
  if (to.initial.size() > to.bytes)
    fail(unit, syntax.place, syntax.name, "Too many initial values for " + quoted(syntax.name),
         ParseError::Kind::syntax);
  for (const auto& each : syntax.relocations) relocations_.push_back({index, unit, &each});
}

void ModuleBuilder::declare_variable(std::size_t unit, const VariableSyntax& syntax) {
  auto& names = unit_names_[unit];
  const auto known = names.find(syntax.name);
  const auto outside = syntax.linkage == Linkage::internal ? global_names_.end() : global_names_.find(syntax.name);
  const bool is_external = syntax.linkage == Linkage::external;
  Symbol symbol;
  symbol.kind = Symbol::Kind::variable;
  symbol.type = syntax.type;
  symbol.step = std::max(1u, syntax.element_bytes());
  symbol.bytes = syntax.bytes();
  const bool is_known = known != names.end() || outside != global_names_.end();
  if (!is_known) {
    symbol.at = new_variable(unit, syntax);
    fill_variable(symbol.at, unit, syntax);
    names[syntax.name] = symbol;
    if (syntax.linkage != Linkage::internal) global_names_[syntax.name] = symbol;
    return;
  }
  const auto before = known != names.end() ? known->second : outside->second;
  if (before.kind != Symbol::Kind::variable)
    fail(unit, syntax.place, syntax.name, "Duplicate definition of " + quoted(syntax.name));
  names[syntax.name] = before;
  if (is_external) return;
  auto& there = module_->variables[before.at];
  const bool replaces =
      there.linkage == Linkage::external || (is_replaceable(there.linkage) && !is_replaceable(syntax.linkage));
  if (!replaces && !is_replaceable(syntax.linkage))
    fail(unit, syntax.place, syntax.name, "Duplicate definition of variable " + quoted(syntax.name));
  // Of common ones the biggest counts.
  if (!replaces &&
      !(syntax.linkage == Linkage::common && there.linkage == Linkage::common && syntax.bytes() > there.bytes))
    return;
  std::erase_if(relocations_, [&](const PendingRelocation& each) { return each.variable == before.at; });
  new_variable(unit, syntax);
  std::swap(module_->variables[before.at], module_->variables.back());
  module_->variables.pop_back();
  is_variable_used_.pop_back();
  fill_variable(before.at, unit, syntax);
}

void ModuleBuilder::relocate() {
  for (const auto& each : relocations_) {
    const auto& syntax = *each.syntax;
    const auto symbol = find(each.unit_index, syntax.name);
    if (symbol.kind != Symbol::Kind::function && symbol.kind != Symbol::Kind::variable) {
      fail(each.unit_index, syntax.place, syntax.name, "Unknown symbol " + quoted(syntax.name),
           ParseError::Kind::syntax);
    }
    if (syntax.bytes != 8 && syntax.bytes != 4 && syntax.bytes != 1)
      fail(each.unit_index, syntax.place, syntax.name, "An address does not fit", ParseError::Kind::syntax);
    Relocation made;
    made.offset = syntax.offset;
    made.bytes = syntax.bytes;
    made.shift = syntax.shift;
    made.is_function = symbol.kind == Symbol::Kind::function;
    made.target = symbol.at;
    made.is_generic = syntax.is_generic;
    made.addend = syntax.addend;
    module_->variables[each.variable].relocations.push_back(made);
  }
}

}  // namespace flexrack::sim::ptx
