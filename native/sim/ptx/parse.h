// From text to the decoded form: one text, or several that are linked.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

/// What is wrong in a text, and where: lines and columns count from 1; line 0: of no one place (a symbol that no unit
/// defines).
struct ParseError : std::runtime_error {
  enum class Kind : unsigned char { syntax, unsupported_version, unresolved, duplicate, too_big };
  ParseError(Kind is, std::string unit_name, unsigned at_line, unsigned at_column, std::string found, std::string said);
  Kind kind;
  std::string unit;      ///< the name given with the text
  unsigned line, column;
  std::string text;      ///< the offending token
  std::string message;   ///< what is wrong, or what was expected

  /// One line, as a JIT's error log has it: `ptxas <unit>, line 12; error   : ...`.
  std::string log() const;
};

/// The newest `.version` that is read from now on, 9.0 unless it is said; what comes with a newer one is refused, as a
/// driver does that does not know it. Instructions that this reader does not have are errors whatever the version.
void set_newest_version(unsigned major, unsigned minor);

struct Source {
  std::string name;       ///< for messages
  std::string_view text;  ///< a trailing NUL is left out
};

/// Throws ParseError, never anything else but std::bad_alloc. Functions and variables that stay undefined are errors,
/// but for those the executor has itself (Builtin).
std::unique_ptr<Module> parse(std::string_view text, std::string name = "");

}  // namespace flexrack::sim::ptx
