// Functions, names and the order of work. Variables are in module_variables.cpp.
#include "sim/ptx/module_builder.h"

#include <algorithm>
#include <utility>

#include "sim/ptx/lexer.h"
#include "sim/ptx/link.h"
#include "sim/ptx/module_scope.h"

namespace flexrack::sim::ptx {

namespace {

/// What the executor carries out itself: the functions that device code of CUDA calls without defining them.
Builtin builtin_of(std::string_view name) {
  if (name == "vprintf") return Builtin::vprintf;
  if (name == "malloc") return Builtin::malloc;
  if (name == "free") return Builtin::free;
  if (name == "cudaGraphSetConditional") return Builtin::set_condition;
  return name == "__assertfail" ? Builtin::assertfail : Builtin::none;
}

}  // namespace

ModuleBuilder::ModuleBuilder(std::vector<Unit> units, bool may_be_unresolved)
    : units_(std::move(units)),
      may_be_unresolved_(may_be_unresolved),
      module_(std::make_unique<Module>()),
      unit_names_(units_.size()),
      files_(units_.size()) {}

ModuleBuilder::~ModuleBuilder() = default;

void ModuleBuilder::fail(std::size_t unit, Place where, std::string_view name, std::string said,
                         ParseError::Kind kind) const {
  throw ParseError(kind, units_[unit].name, where.line, where.line ? column_of(units_[unit].text, where.at) : 0,
                   std::string(name.substr(0, 60)), std::move(said));
}

std::unique_ptr<Module> ModuleBuilder::run() {
  header();
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    file_numbers(unit);
    declare_functions(unit);
    declare_variables(unit);
  }
  for (std::size_t unit = 0; unit < units_.size(); ++unit) declare_aliases(unit);
  is_used_.assign(module_->functions.size(), false);
  uses_.resize(module_->functions.size());
  signatures();
  bodies();
  relocate();
  check_resolved();
  return std::move(module_);
}

void ModuleBuilder::header() {
  if (units_.empty()) throw ParseError(ParseError::Kind::syntax, "", 0, 0, "", "nothing to link");
  const auto& first = units_.front();
  module_->version_major = first.version_major;
  module_->version_minor = first.version_minor;
  module_->target_name = first.target;
  for (const char c : first.target.substr(first.target.find('_') + 1)) {
    if (c < '0' || c > '9' || module_->target > 9999) break;
    module_->target = module_->target * 10 + static_cast<unsigned>(c - '0');
  }
  module_->address_bits = first.address_bits;
  for (const auto& each : units_) module_->is_debug |= each.is_debug;
}

void ModuleBuilder::file_numbers(std::size_t unit) {
  for (const auto& [number, path] : units_[unit].files) {
    if (!files_[unit].try_emplace(number, static_cast<std::uint32_t>(module_->files.size())).second) continue;
    module_->files.push_back(path);
  }
}

void ModuleBuilder::declare_functions(std::size_t unit) {
  // A prototype may say less than the definition does.
  std::unordered_map<std::string_view, Linkage> linkages;
  for (const auto& each : units_[unit].functions) {
    auto& to = linkages[each.name];
    if (to == Linkage::internal || to == Linkage::external) to = each.linkage == Linkage::internal ? to : each.linkage;
  }
  for (const auto& each : units_[unit].functions) declare_function(unit, each, linkages[each.name]);
}

void ModuleBuilder::declare_function(std::size_t unit, const FunctionSyntax& syntax, Linkage linkage) {
  auto& names = unit_names_[unit];
  // Kernels are seen from outside in any case.
  if (syntax.is_kernel && linkage == Linkage::internal) linkage = Linkage::visible;
  Symbol symbol;
  symbol.kind = Symbol::Kind::function;
  symbol.at = static_cast<std::uint32_t>(module_->functions.size());
  const auto known = names.find(syntax.name);
  const auto outside = linkage == Linkage::internal ? global_names_.end() : global_names_.find(syntax.name);
  if (known != names.end()) symbol = known->second;
  else if (outside != global_names_.end()) symbol = outside->second;
  if (symbol.kind != Symbol::Kind::function)
    fail(unit, syntax.place, syntax.name, "Duplicate definition of " + quoted(syntax.name));
  if (symbol.at == module_->functions.size()) {
    auto made = std::make_unique<Function>();
    made->name = syntax.name;
    made->index = symbol.at;
    made->is_kernel = syntax.is_kernel;
    made->builtin = builtin_of(syntax.name);
    module_->functions.push_back(std::move(made));
    entities_.push_back({&units_[unit], unit, &syntax, linkage});
    if (linkage != Linkage::internal) global_names_[syntax.name] = symbol;
  }
  names[syntax.name] = symbol;
  if (module_->functions[symbol.at]->is_kernel != syntax.is_kernel)
    fail(unit, syntax.place, syntax.name, "Duplicate definition of function " + quoted(syntax.name));
  if (syntax.has_body) define(symbol.at, unit, syntax);
  auto& entity = entities_[symbol.at];
  if (entity.linkage == Linkage::external) entity.linkage = linkage;
}

void ModuleBuilder::define(std::uint32_t function, std::size_t unit, const FunctionSyntax& syntax) {
  auto& entity = entities_[function];
  if (entity.syntax->has_body && entity.syntax != &syntax) {
    // Another's: the one that is not weak counts, or the first.
    const bool is_same_unit = entity.unit_index == unit;
    if (!is_same_unit && is_replaceable(syntax.linkage)) return;
    if (is_same_unit || !is_replaceable(entity.linkage))
      fail(unit, syntax.place, syntax.name, "Duplicate definition of function " + quoted(syntax.name));
  }
  const auto linkage =
      syntax.linkage == Linkage::internal && entity.unit_index == unit && entity.linkage != Linkage::external
          ? entity.linkage
          : syntax.linkage;
  entity = {&units_[unit], unit, &syntax, linkage};
  module_->functions[function]->is_defined = true;
}

void ModuleBuilder::declare_aliases(std::size_t unit) {
  for (const auto& each : units_[unit].aliases) {
    const auto name = unit_names_[unit].find(each.name), target = unit_names_[unit].find(each.target);
    const auto is_function = [&](auto found) {
      return found != unit_names_[unit].end() && found->second.kind == Symbol::Kind::function;
    };
    if (!is_function(name))
      fail(unit, each.place, each.name, "Unknown symbol " + quoted(each.name), ParseError::Kind::syntax);
    if (!is_function(target))
      fail(unit, each.place, each.target, "Unknown symbol " + quoted(each.target), ParseError::Kind::syntax);
    auto& function = *module_->functions[name->second.at];
    if (function.is_defined || name->second.at == target->second.at ||
        !module_->functions[target->second.at]->is_defined) {
      fail(unit, each.place, each.name, "An alias needs a function without body, and one with body",
           ParseError::Kind::syntax);
    }
    function.alias_of = target->second.at;
  }
}

Symbol ModuleBuilder::find(std::size_t unit, std::string_view name) {
  const auto found = unit_names_[unit].find(name);
  if (found == unit_names_[unit].end()) return {};
  auto symbol = found->second;
  if (symbol.kind == Symbol::Kind::function) {
    const auto alias = module_->functions[symbol.at]->alias_of;
    if (alias != kNone) symbol.at = alias;
    is_used_[symbol.at] = true;
  }
  if (symbol.kind == Symbol::Kind::variable) is_variable_used_[symbol.at] = true;
  return symbol;
}

void ModuleBuilder::signatures() {
  for (std::uint32_t at = 0; at < entities_.size(); ++at) {
    const auto& entity = entities_[at];
    auto& function = *module_->functions[at];
    function.linkage = entity.linkage;
    function.directives = entity.syntax->directives;
    ModuleScopeOf scope(*this, entity.unit_index);
    FunctionBuilder(scope, *entity.unit, *entity.syntax, function).signature();
    function.local_bytes = 0;
  }
}

void ModuleBuilder::bodies() {
  std::vector<std::uint32_t> taken;
  for (std::uint32_t at = 0; at < entities_.size(); ++at) {
    const auto& entity = entities_[at];
    if (!entity.syntax->has_body) continue;
    ModuleScopeOf scope(*this, entity.unit_index);
    FunctionBuilder builder(scope, *entity.unit, *entity.syntax, *module_->functions[at]);
    builder.run();
    uses_[at] = {std::move(builder.shared_uses), std::move(builder.callees)};
    taken.insert(taken.end(), builder.functions_taken.begin(), builder.functions_taken.end());
  }
  for (const auto& each : relocations_) {
    const auto symbol = find(each.unit_index, each.syntax->name);
    if (symbol.kind == Symbol::Kind::function) taken.push_back(symbol.at);
  }
  std::sort(taken.begin(), taken.end());
  taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
  const auto too_big = lay_out_shared(*module_, uses_, shared_, taken);
  if (too_big == kNone) return;
  const auto& entity = entities_[too_big];
  fail(entity.unit_index, entity.syntax->place, entity.syntax->name,
       "Entry function " + quoted(entity.syntax->name) + " uses too much shared data (0xc000 bytes max)",
       ParseError::Kind::too_big);
}

void ModuleBuilder::check_resolved() {
  if (may_be_unresolved_) return;
  for (std::uint32_t at = 0; at < entities_.size(); ++at) {
    const auto& function = *module_->functions[at];
    if (!is_used_[at] || function.is_defined || function.builtin != Builtin::none) continue;
    fail(entities_[at].unit_index, {}, function.name, "Unresolved extern function " + quoted(function.name),
         ParseError::Kind::unresolved);
  }
  for (std::uint32_t at = 0; at < module_->variables.size(); ++at) {
    const auto& variable = module_->variables[at];
    if (!is_variable_used_[at] || variable.linkage != Linkage::external) continue;
    throw ParseError(ParseError::Kind::unresolved, units_.front().name, 0, 0, variable.name,
                     "Unresolved extern variable " + quoted(variable.name));
  }
}

std::unique_ptr<Module> parse(std::string_view text, std::string name) {
  const Source source{std::move(name), text};
  return link({&source, 1});
}

std::unique_ptr<Module> link(std::span<const Source> sources) {
  std::vector<Unit> units;
  for (const auto& each : sources) units.push_back(parse_unit(each.name, each.text));
  return ModuleBuilder(std::move(units), false).run();
}

void check(const Source& source) {
  std::vector<Unit> units;
  units.push_back(parse_unit(source.name, source.text));
  ModuleBuilder(std::move(units), true).run();
}

}  // namespace flexrack::sim::ptx
