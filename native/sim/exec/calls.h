// What goes to a function and comes back, and the functions that the executor has itself: vprintf, malloc, free,
// __assertfail, cudaGraphSetConditional.
#pragma once

#include <cstdint>

#include "sim/exec/step.h"

namespace flexrack::sim::exec {

struct Warp;
struct Frame;

/// From the warp's frame, at a call, to the callee's, for the lanes of the warp's mask.
void pass_arguments(Warp& warp, const Step* call, const Frame& callee);
/// And back, at the callee's end: the warp's frame still is the callee's.
void pass_results(Warp& warp, const Frame& callee);

/// The handler of a call to one of the executor's own functions.
Handler builtin_handler(ptx::Builtin builtin);

}  // namespace flexrack::sim::exec
