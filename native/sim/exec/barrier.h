// What bar.red gives to those who waited.
#pragma once

namespace flexrack::sim::exec {

struct Barrier;
struct Strand;

/// Writes the result of a barrier with reduction into the registers of a strand that waits at its step; others have
/// none.
void write_barrier_result(const Strand& strand, const Barrier& over);

}  // namespace flexrack::sim::exec
