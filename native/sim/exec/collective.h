// What lanes do together: shuffles, votes, matches, reductions, the warp's barrier.
#pragma once

#include <cstdint>

#include "sim/ptx/op.h"

namespace flexrack::sim::exec {

struct Warp;

/// Carries out what strands wait for if all the lanes that they name have come, by whichever way. False: nothing could
/// be.
bool complete_meetings(Warp& warp);

/// The lane that a shuffle reads, of its second and third source; `is_within` where it lies in the segment.
unsigned source_lane(ptx::ShuffleMode mode, unsigned lane, std::uint32_t b, std::uint32_t c, bool& is_within);

}  // namespace flexrack::sim::exec
