// From which instruction to which a register's value is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ptx/flow.h"

namespace flexrack::sim::ptx {

/// First and last instruction, both included; first > last: never used.
struct Interval {
  std::uint32_t first = kNone;
  std::uint32_t last = 0;
};

/// By register number, of code whose operands are still numbered. Registers of parameters and results live throughout.
/// Where a function is too big to look at closely, all do.
std::vector<Interval> live_intervals(Function& function, const Flow& flow, std::size_t registers);

}  // namespace flexrack::sim::ptx
