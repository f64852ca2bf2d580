#include "sim/ptx/parse.h"

namespace flexrack::sim::ptx {

namespace {

std::string where(const std::string& unit, unsigned line) {
  const std::string name = "ptxas " + (unit.empty() ? std::string("application ptx input") : unit);
  return line ? name + ", line " + std::to_string(line) + "; " : name + "; ";
}

}  // namespace

ParseError::ParseError(Kind is, std::string unit_name, unsigned at_line, unsigned at_column, std::string found,
                       std::string said)
    : std::runtime_error((at_line ? "line " + std::to_string(at_line) + ", column " + std::to_string(at_column) + ": "
                                  : std::string()) +
                         said),
      kind(is),
      unit(std::move(unit_name)),
      line(at_line),
      column(at_column),
      text(std::move(found)),
      message(std::move(said)) {}

std::string ParseError::log() const {
  const bool is_fatal = kind == Kind::unresolved || kind == Kind::unsupported_version;
  return where(unit, line) + (is_fatal ? "fatal   : " : "error   : ") + message +
         "\nptxas fatal   : Ptx assembly aborted due to errors\n";
}

}  // namespace flexrack::sim::ptx
