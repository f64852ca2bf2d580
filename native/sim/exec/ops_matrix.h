// Of matrices, by whole tiles.
#pragma once

#include "sim/exec/ops.h"

namespace flexrack::sim::exec {

/// nullptr: of another kind than tiles are made for.
Handler tile_handler(const Making& making, const Instruction& from);

}  // namespace flexrack::sim::exec
