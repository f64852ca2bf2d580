// Which registers an instruction reads and writes.
#pragma once

#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

/// A bit for each of Instruction::o that is written.
unsigned written_operands(const Instruction& instruction);

/// Calls visit(Operand&, is_written) for every register operand, those in lists, calls and textures too; the guard is
/// not among them. A partly written one is visited twice.
template <class Visit>
void for_each_register(Function& function, Instruction& instruction, Visit&& visit) {
  const auto one = [&](Operand& operand, bool is_written) {
    if (operand.kind == Operand::Kind::lanes) visit(operand, is_written);
    else if (operand.kind == Operand::Kind::address_register) visit(operand, false);
    if (operand.kind != Operand::Kind::list) return;
    for (unsigned at = 0; at < operand.count; ++at) {
      auto& part = function.operands[operand.at + at];
      if (part.kind == Operand::Kind::lanes) visit(part, is_written);
    }
  };
  const auto written = written_operands(instruction);
  for (unsigned at = 0; at < instruction.o.size(); ++at) {
    // The carry is read and written.
    if (at == 4 && (instruction.flags & kCarryIn) && (instruction.flags & kCarryOut)) visit(instruction.o[4], false);
    one(instruction.o[at], written >> at & 1);
  }
  if (instruction.op == Op::call) {
    auto& call = function.calls[instruction.index];
    for (auto& each : call.arguments) one(each.value, false);
    for (auto& each : call.results) one(each.value, true);
  }
  const bool has_texture = instruction.op == Op::tex || instruction.op == Op::tld4 || instruction.op == Op::suld ||
                           instruction.op == Op::sust || instruction.op == Op::sured;
  if (!has_texture) return;
  auto& texture = function.textures[instruction.index];
  for (auto* each : {&texture.sampler, &texture.level, &texture.dpdx, &texture.dpdy, &texture.offset, &texture.compare})
    one(*each, false);
}

}  // namespace flexrack::sim::ptx
