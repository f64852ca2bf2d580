// Handlers of what changes the way: branches, calls, ends; and those that are no instruction's.
#pragma once

#include "sim/exec/ops.h"

namespace flexrack::sim::exec {

/// A branch to step.target; conditional where it has a guard. Backward ones look at the slice's budget.
Handler branch_handler(bool is_conditional, bool is_backward);
Handler control_handler(const Making& making, const Instruction& from);

/// Carries out the step after it for the lanes whose guard holds.
const Step* guards(Warp& warp, const Step* step);
/// Where lanes may meet.
const Step* meets(Warp& warp, const Step* step);
/// The end of a device function, after its meets().
const Step* leaves(Warp& warp, const Step* step);
/// What nothing here can carry out: a fault with the reason.
const Step* refuses(Warp& warp, const Step* step);

}  // namespace flexrack::sim::exec
