// One function from its syntax to its decoded form: scopes, registers, constants and labels. What each instruction
// becomes is in decoder.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/ptx/parse.h"
#include "sim/ptx/symbols.h"
#include "sim/ptx/syntax.h"

namespace flexrack::sim::ptx {

/// A name in an error message.
inline std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

/// Up to the next multiple of `align`.
inline std::uint64_t aligned(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

/// A .shared variable of the whole module; where it lies depends on the kernel.
struct SharedVariable {
  std::string_view name;
  std::uint64_t bytes = 0;
  std::uint32_t align = 1;
  bool is_dynamic = false;   ///< extern: begins where the static ones end
};

/// Names of module scope, as one unit sees them, and what its functions add.
class ModuleScope {
 public:
  virtual ~ModuleScope() = default;
  /// Kind::none: nothing has the name.
  virtual Symbol find(std::string_view name) = 0;
  virtual const Function& function(std::uint32_t index) const = 0;
  virtual const Variable& variable(std::uint32_t index) const = 0;
  virtual const SharedVariable& shared(std::uint32_t index) const = 0;
  virtual std::uint32_t add_shared(const SharedVariable& variable) = 0;
  /// A .global or .const declared in a function.
  virtual std::uint32_t add_variable(const VariableSyntax& syntax) = 0;
  /// Module::files' index of a unit's file number.
  virtual std::uint32_t file(std::uint32_t number) const = 0;
};

/// An instruction whose displacement waits for a shared variable's place.
struct SharedUse {
  std::uint32_t instruction;
  std::uint32_t variable;
};

class FunctionBuilder {
 public:
  FunctionBuilder(ModuleScope& module, const Unit& unit, const FunctionSyntax& syntax, Function& out);
  /// Parameters and results only: for those who call it.
  void signature();
  void run();

  std::vector<SharedUse> shared_uses;
  std::vector<std::uint32_t> callees;            ///< called by name
  std::vector<std::uint32_t> functions_taken;    ///< whose addresses are taken
  std::size_t listed_targets = 0;                ///< of .calltargets, in all calls

  // For the decoder.
  const FunctionSyntax& syntax() const { return syntax_; }
  const Unit& unit() const { return unit_; }
  ModuleScope& module() { return module_; }
  Function& function() { return out_; }
  Symbol resolve(std::string_view name, std::uint32_t& number);
  Instruction& emit(const Instruction& instruction);
  /// Takes instructions back.
  void drop_from(std::size_t mark);
  std::uint32_t new_register(Width width, Type type);
  /// The register that a symbol (reg, family, vector) and a number mean.
  std::uint32_t register_of(const Symbol& symbol, std::uint32_t number);
  Type declared_type(std::uint32_t reg) const { return register_types_[reg]; }
  Width width_of_register(std::uint32_t reg) const { return widths_[reg]; }
  Operand constant(std::uint64_t bits, Width width);
  std::uint32_t carry();
  void branch_to(std::string_view label, Place where);
  /// Function::branch_tables' index of a list of labels; its branches share it.
  std::uint32_t branch_table(std::string_view label, Place where);
  const NameList* call_targets(const Symbol& symbol) const;
  const PrototypeSyntax& prototype(const Symbol& symbol) const;
  /// Bytes in the local frame that last until the block closes.
  std::uint32_t reserve_local(std::uint64_t bytes, std::uint32_t align, Place where);
  [[noreturn]] void fail(Place where, std::string_view found, std::string said,
                         ParseError::Kind kind = ParseError::Kind::syntax) const;

 private:
  struct PendingLabel {
    std::uint32_t instruction;   ///< whose target it is; or of a table
    std::uint32_t table;         ///< kNone: of the instruction
    std::uint32_t block;
    std::string_view name;
    Place where;
  };
  struct BranchList {
    std::uint32_t list;
    std::uint32_t table = kNone;
  };
  struct LabelKey {
    std::uint32_t block;
    std::string_view name;
    bool operator==(const LabelKey&) const = default;
  };
  struct LabelHash {
    std::size_t operator()(const LabelKey& key) const {
      return std::hash<std::string_view>()(key.name) ^ (key.block * std::size_t{0x9e3779b97f4a7c15});
    }
  };

  void formal(const VariableSyntax& variable, Parameter& out, std::uint32_t& block_bytes);
  void declare(const VariableSyntax& variable);
  void declare_register(const VariableSyntax& variable);
  void declare_name(std::string_view name, const Symbol& symbol, Place where);
  void statement(const Statement& statement);
  void open_block();
  void close_block();
  void add_label(std::uint32_t index);
  std::uint32_t label_at(const PendingLabel& pending) const;
  void resolve_labels();
  void finish();

  ModuleScope& module_;
  const Unit& unit_;
  const FunctionSyntax& syntax_;
  Function& out_;
  Scopes scopes_;
  std::vector<Width> widths_;
  std::vector<Type> register_types_;
  std::unordered_map<std::uint64_t, std::uint32_t> family_members_;
  std::uint32_t family_count_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> constants_[5];
  std::uint32_t carry_ = kNone;
  std::uint32_t local_top_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks_;   ///< open ones: id, local top before
  std::vector<std::uint32_t> block_parents_;
  std::unordered_map<LabelKey, std::uint32_t, LabelHash> labels_;
  std::vector<PendingLabel> pending_;
  std::unordered_map<std::string_view, BranchList> branch_lists_;
  Line line_;
  bool has_location_ = false;
};

}  // namespace flexrack::sim::ptx
