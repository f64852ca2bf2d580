// Straight-line arithmetic of a function as machine code of this processor: each segment (segment.h) is one call for
// all lanes instead of one for each instruction.
//
// A segment's code is the handler of its first step: it works for all of its steps and returns the one behind. The
// steps stay as they are, so the executor may also go through them one by one, and does wherever there is no
// translation. What can fault, wait, part the lanes or look at other lanes is never in a segment.
#pragma once

#include "sim/exec/step.h"

namespace flexrack::sim::jit {

/// Where the processor has what it takes (AVX2, FMA, F16C) and the system allows it; else nothing is changed. Steps are
/// final: branches know their targets.
void translate(exec::Code& code);

/// For tests: whether what is made ready from now on is translated; and how much has been.
void use_translations(bool use);
std::uint64_t translated_segments();
/// Loops whose registers lie evenly (lines.h), of these.
std::uint64_t loops_in_lines();

}  // namespace flexrack::sim::jit
