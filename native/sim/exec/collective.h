// What lanes do together: shuffles, votes, matches, reductions, the warp's barrier.
#pragma once

namespace flexrack::sim::exec {

struct Warp;

/// Carries out what strands wait for if all the lanes that they name have come, by whichever way. False: nothing could be.
bool complete_meetings(Warp& warp);

}  // namespace flexrack::sim::exec
