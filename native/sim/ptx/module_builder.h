// Units to one module: names of one unit and of all, variables with their initial values, functions, and the layout of
// shared memory.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/ptx/function_builder.h"
#include "sim/ptx/parse.h"
#include "sim/ptx/shared_layout.h"
#include "sim/ptx/syntax.h"

namespace flexrack::sim::ptx {

class ModuleBuilder {
 public:
  ModuleBuilder(std::vector<Unit> units, bool may_be_unresolved);
  ~ModuleBuilder();
  std::unique_ptr<Module> run();

 private:
  friend class ModuleScopeOf;
  /// A function and the unit that has the text that counts.
  struct Entity {
    const Unit* unit = nullptr;
    std::size_t unit_index = 0;
    const FunctionSyntax* syntax = nullptr;
    Linkage linkage = Linkage::internal;
  };
  /// Who wants a relocation resolved.
  struct PendingRelocation {
    std::uint32_t variable;
    std::size_t unit_index;
    const RelocationSyntax* syntax;
  };
  using Names = std::unordered_map<std::string_view, Symbol>;

  void header();
  void declare_functions(std::size_t unit);
  void declare_function(std::size_t unit, const FunctionSyntax& syntax, Linkage linkage);
  void define(std::uint32_t function, std::size_t unit, const FunctionSyntax& syntax);
  void declare_aliases(std::size_t unit);
  void declare_variables(std::size_t unit);
  void declare_variable(std::size_t unit, const VariableSyntax& syntax);
  void declare_shared(std::size_t unit, const VariableSyntax& syntax);
  std::uint32_t add_shared(const SharedVariable& variable);
  std::uint32_t new_variable(std::size_t unit, const VariableSyntax& syntax);
  void fill_variable(std::uint32_t index, std::size_t unit, const VariableSyntax& syntax);
  void signatures();
  void bodies();
  void relocate();
  Symbol find(std::size_t unit, std::string_view name);
  void check_resolved();
  void file_numbers(std::size_t unit);
  [[noreturn]] void fail(std::size_t unit, Place where, std::string_view name, std::string said,
                         ParseError::Kind kind = ParseError::Kind::duplicate) const;

  std::vector<Unit> units_;
  bool may_be_unresolved_;
  std::unique_ptr<Module> module_;
  Names global_names_;
  std::vector<Names> unit_names_;
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> files_;
  std::vector<Entity> entities_;             ///< by function
  std::vector<bool> is_used_, is_variable_used_;
  std::vector<FunctionUse> uses_;            ///< by function
  std::vector<SharedVariable> shared_;
  std::vector<PendingRelocation> relocations_;
};

}  // namespace flexrack::sim::ptx
