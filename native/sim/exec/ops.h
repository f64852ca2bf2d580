// The families of handlers: each gives the one for an instruction, or nullptr where it is not one of its own. A Step is
// made with the operands in order (d, a, b, c, e), and may be changed.
#pragma once

#include "sim/exec/image.h"
#include "sim/exec/step.h"

namespace flexrack::sim::exec {

using ptx::Instruction;
using ptx::Op;
using ptx::Type;

/// What a family may need to know.
struct Making {
  Image& image;
  const ptx::Function& function;

  const ptx::Operand& listed(const ptx::Operand& list, unsigned at) const { return function.operands[list.at + at]; }
};

Handler integer_handler(const Instruction& from);
Handler bit_handler(const Instruction& from);
Handler carry_handler(const Instruction& from);
Handler float_handler(const Instruction& from);
Handler approximation_handler(const Instruction& from);
Handler half_handler(const Instruction& from);
Handler minmax_handler(const Instruction& from);
Handler convert_handler(const Instruction& from);
Handler compare_family_handler(const Instruction& from, Step& step);
Handler move_handler(const Making& making, const Instruction& from, Step& step);
Handler special_handler(const Instruction& from);
Handler address_handler(const Making& making, const Instruction& from, Step& step);
Handler load_handler(const Making& making, const Instruction& from, Step& step);
Handler store_handler(const Making& making, const Instruction& from, Step& step);
Handler atomic_handler(const Making& making, const Instruction& from, Step& step);
Handler copy_handler(const Making& making, const Instruction& from, Step& step);
Handler collective_handler(const Instruction& from, Step& step);
Handler barrier_handler(const Instruction& from);
Handler texture_handler(const Making& making, const Instruction& from, Step& step);
Handler matrix_handler(const Making& making, const Instruction& from, Step& step);

/// Where an operand's lanes are.
At place_of(const ptx::Operand& operand);

}  // namespace flexrack::sim::exec
