#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

namespace {

/// The first that fits.
template <class Each, class Get, class Fits>
auto find(const Each& all, Get get, Fits fits) -> decltype(get(all.front())) {
  for (const auto& each : all) {
    if (const auto* one = get(each); fits(*one)) return one;
  }
  return nullptr;
}

}  // namespace

const Function* Module::function(std::string_view wanted) const {
  const auto get = [](const std::unique_ptr<Function>& each) { return static_cast<const Function*>(each.get()); };
  return find(functions, get, [&](const Function& each) { return each.name == wanted; });
}

const Function* Module::kernel(std::string_view wanted) const {
  const auto get = [](const std::unique_ptr<Function>& each) { return static_cast<const Function*>(each.get()); };
  return find(functions, get,
              [&](const Function& each) { return each.is_kernel && each.is_defined && each.name == wanted; });
}

const Variable* Module::variable(std::string_view wanted) const {
  const auto get = [](const Variable& each) { return &each; };
  return find(variables, get,
              [&](const Variable& each) { return each.linkage != Linkage::external && each.name == wanted; });
}

}  // namespace flexrack::sim::ptx
