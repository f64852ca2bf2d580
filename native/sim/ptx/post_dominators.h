// For every block, the first block that all its lanes come to that do not end before.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ptx/flow.h"

namespace flexrack::sim::ptx {

/// By node of the flow; kNone: nowhere before the function's end.
/// A function may end in several places. Ways that end elsewhere than at its last end are left out of account: lanes
/// that are gone are not waited for. Blocks that only reach another end (or none) are looked at by themselves.
std::vector<std::uint32_t> post_dominators(const Flow& flow, const Function& function);

}  // namespace flexrack::sim::ptx
