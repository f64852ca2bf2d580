// Where registers lie in a warp's frame: those that never live at once share a place, so that frames stay small enough
// for the cache.
#pragma once

#include <vector>

#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

/// Replaces the numbers of registers in the code by offsets into the frame, and sets frame_bytes and register_count.
/// `widths`: by number. False: it would be bigger than any machine's.
bool assign_places(Function& function, const std::vector<Width>& widths);

}  // namespace flexrack::sim::ptx
