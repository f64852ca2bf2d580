// What is interpreted and what is machine code, by operation: FLEXRACK_SIM_COUNT=1 has it printed on stderr when the
// process ends. It tells why a kernel is slow.
#pragma once

#include <cstdint>

#include "sim/exec/step.h"

namespace flexrack::sim::exec {

/// Instructions of warps: one for all lanes that carry it out together.
struct Counts {
  std::uint64_t in_segments = 0;     ///< that translated segments were entered for
  std::uint64_t called = 0;          ///< of these, carried out by their handler
};
Counts& all_counts();

/// Before a function is translated: notes what each step is carried out by. Nothing where nobody counts.
void begin_counting(Code& code);
/// Behind it: what is still interpreted counts itself.
void finish_counting(Code& code);
/// What such a step is carried out by: adds one to its operation's count and does it.
const Step* counts(Warp& warp, const Step* step);

}  // namespace flexrack::sim::exec
