// Module scope as one unit sees it: the way from a function's builder to the module's.
#pragma once

#include "sim/ptx/module_builder.h"

namespace flexrack::sim::ptx {

class ModuleScopeOf : public ModuleScope {
 public:
  ModuleScopeOf(ModuleBuilder& module, std::size_t unit) : module_(module), unit_(unit) {}
  Symbol find(std::string_view name) override { return module_.find(unit_, name); }
  const Function& function(std::uint32_t index) const override { return *module_.module_->functions[index]; }
  const Variable& variable(std::uint32_t index) const override { return module_.module_->variables[index]; }
  const SharedVariable& shared(std::uint32_t index) const override { return module_.shared_[index]; }
  std::uint32_t add_shared(const SharedVariable& variable) override { return module_.add_shared(variable); }
  std::uint32_t add_variable(const VariableSyntax& syntax) override {
    const auto index = module_.new_variable(unit_, syntax);
    module_.fill_variable(index, unit_, syntax);
    return index;
  }
  std::uint32_t file(std::uint32_t number) const override {
    const auto found = module_.files_[unit_].find(number);
    return found == module_.files_[unit_].end() ? 0 : found->second;
  }

 private:
  ModuleBuilder& module_;
  std::size_t unit_;
};

}  // namespace flexrack::sim::ptx
