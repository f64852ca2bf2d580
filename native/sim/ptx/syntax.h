// A unit of PTX as it is written: declarations and statements with the names they use, before anything is resolved.
// Names are views into the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

struct Place {
  std::uint32_t at = 0;
  std::uint32_t line = 0;
};

/// The value of a constant expression.
struct Constant {
  bool is_real = false;
  bool is_unsigned = false;
  bool is_single = false;        ///< written as 0f...: single is exact
  std::uint32_t single = 0;
  std::uint64_t integer = 0;
  double real = 0;
};

/// An operand. Children lie in FunctionSyntax::items.
struct Item {
  enum class Form : std::uint8_t { name, number, address, vector, list, sink };
  Form form = Form::name;
  bool is_negated = false;          ///< !name
  std::uint32_t first = 0;          ///< of address, vector, list: the children
  std::uint32_t count = 0;
  std::uint32_t subscript = kNone;  ///< name[child]
  Place place;
  std::string_view name;
  std::string_view component;       ///< name.x
  std::string_view partner;         ///< name|partner
  Constant number;                  ///< of names: what is added, an integer
};

struct InstructionSyntax {
  std::string_view guard;           ///< empty: none
  bool is_guard_negated = false;
  std::string_view name;
  std::uint32_t first_word = 0, word_count = 0;   ///< into FunctionSyntax::words: what follows the dots
  std::uint32_t first_item = 0, item_count = 0;   ///< into FunctionSyntax::items
  Place place;
  std::uint32_t end = 0;                          ///< offset of the semicolon
};

struct RelocationSyntax {
  std::uint32_t offset = 0, bytes = 0, shift = 0;
  bool is_generic = false;
  std::string_view name;
  std::int64_t addend = 0;
  Place place;
};

struct VariableSyntax {
  std::string_view name;
  Place place;
  Space space = Space::generic;
  Linkage linkage = Linkage::internal;
  Type type = Type::none;
  std::uint8_t vector = 1;
  bool is_array = false;
  bool is_unsized = false;
  bool is_managed = false;
  std::uint32_t family = 0;          ///< %r<family>: so many registers; 0: one of just this name
  std::uint32_t align = 0;           ///< 0: natural
  std::uint64_t elements = 1;
  std::optional<Space> pointer_space;
  std::uint32_t pointer_align = 0;
  std::vector<std::byte> initial;
  std::vector<RelocationSyntax> relocations;
  std::vector<std::pair<std::string, std::string>> state;

  std::uint32_t element_bytes() const { return bytes_of(type) * vector; }
  std::uint64_t bytes() const { return element_bytes() * elements; }
  std::uint32_t alignment() const { return align ? align : element_bytes() ? element_bytes() : 1; }
};

struct PrototypeSyntax {
  std::vector<VariableSyntax> parameters, results;
  bool is_noreturn = false;
};

struct Statement {
  enum class Kind : std::uint8_t {
    instruction,
    label,
    open,
    close,
    variable,
    location,
    branch_targets,
    call_targets,
    prototype
  };
  Kind kind;
  std::uint32_t index = 0;   ///< into instructions, variables, names (label), name_lists, prototypes; location: file
  std::uint32_t line = 0;    ///< location
};

struct NameList {
  std::string_view label;
  std::vector<std::pair<std::string_view, Place>> names;
};

struct FunctionSyntax {
  std::string_view name;
  Place place;
  Linkage linkage = Linkage::internal;
  bool is_kernel = false;
  bool has_body = false;
  std::vector<VariableSyntax> parameters, results;
  Directives directives;
  std::vector<Statement> statements;
  std::vector<InstructionSyntax> instructions;
  std::vector<Item> items;
  std::vector<std::string_view> words;
  std::vector<VariableSyntax> variables;
  std::vector<std::pair<std::string_view, Place>> labels;
  std::vector<NameList> name_lists;
  std::vector<std::pair<std::string_view, PrototypeSyntax>> prototypes;
};

struct AliasSyntax {
  std::string_view name, target;
  Place place;
};

struct Unit {
  std::string name;
  std::string_view text;
  unsigned version_major = 0, version_minor = 0;
  std::string_view target;
  unsigned address_bits = 64;
  bool is_debug = false;
  std::vector<std::pair<std::uint32_t, std::string>> files;   ///< number, path
  std::vector<FunctionSyntax> functions;
  std::vector<VariableSyntax> variables;
  std::vector<AliasSyntax> aliases;
};

/// Throws ParseError.
Unit parse_unit(std::string name, std::string_view text);

}  // namespace flexrack::sim::ptx
