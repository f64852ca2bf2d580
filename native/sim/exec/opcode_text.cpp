#include "sim/exec/opcode_text.h"

#include <string_view>

#include "sim/ptx/text.h"

namespace flexrack::sim::exec {
namespace {

using ptx::Op;

void add(std::string& text, std::string_view name) {
  if (!name.empty()) text += "." + std::string(name);
}

void add(std::string& text, ptx::Type type) {
  if (type != ptx::Type::other) add(text, ptx::name_of(type));
}

void add(std::string& text, ptx::Space space) {
  if (space != ptx::Space::reg && space != ptx::Space::special) add(text, ptx::name_of(space));
}

bool has_space(Op op) {
  return op == Op::ld || op == Op::st || op == Op::atom || op == Op::cvta || op == Op::cvta_to || op == Op::isspacep;
}

}  // namespace

std::string opcode_text(const ptx::Instruction& instruction) {
  std::string text(ptx::name_of(instruction.op));
  if (has_space(instruction.op)) add(text, instruction.space);
  if (instruction.count > 1 && (instruction.op == Op::ld || instruction.op == Op::st))
    text += ".v" + std::to_string(instruction.count);
  add(text, ptx::name_of(instruction.rounding));
  add(text, instruction.type);
  if (instruction.op == Op::cvt || instruction.op == Op::set) add(text, instruction.source_type);
  return text;
}

}  // namespace flexrack::sim::exec
