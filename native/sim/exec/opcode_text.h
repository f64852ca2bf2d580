// An instruction's name, for messages: ld.global.f32.
#pragma once

#include <string>

#include "sim/ptx/program.h"

namespace flexrack::sim::exec {

std::string opcode_text(const ptx::Instruction& instruction);

}  // namespace flexrack::sim::exec
