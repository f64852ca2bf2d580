// What names mean inside a function: scopes nest, the innermost declaration wins.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

struct Symbol {
  enum class Kind : std::uint8_t {
    none,
    reg,
    vector,
    family,
    local,
    parameter,
    shared,
    variable,
    function,
    branch_targets,
    call_targets,
    prototype
  };
  Kind kind = Kind::none;
  Type type = Type::none;
  std::uint8_t count = 1;       ///< vector: elements
  std::uint32_t at =
      0;         ///< register, family, offset in the local frame or parameter block, index of what the kind says
  std::uint32_t size = 0;       ///< family: so many registers
  std::uint32_t step = 1;       ///< bytes of an element, for name[index]
  std::uint64_t bytes = 0;
};

class Scopes {
 public:
  Scopes() { open(); }
  void open() { marks_.push_back(bindings_.size()); }
  void close();
  /// False: the name is taken in this scope.
  bool declare(std::string_view name, const Symbol& symbol);
  /// nullptr: none. A member of a family is found by its prefix; `number` is which.
  const Symbol* find(std::string_view name, std::uint32_t& number) const;
  bool is_outermost() const { return marks_.size() == 1; }

 private:
  struct Binding {
    std::string_view name;
    Symbol symbol;
    std::uint32_t depth;
    std::uint32_t previous;
  };
  const Binding* innermost(std::string_view name) const;

  std::unordered_map<std::string_view, std::uint32_t> heads_;
  std::vector<Binding> bindings_;
  std::vector<std::size_t> marks_;
};

}  // namespace flexrack::sim::ptx
