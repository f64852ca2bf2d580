// How many blocks of a kernel a multiprocessor has room for.
#pragma once

#include "sim/driver/module.h"

namespace flexrack::sim {

/// By threads, blocks, registers and shared memory ("CUDA C++ Programming Guide", technical specifications); 0: a block
/// does not fit at all.
int resident_blocks(const KernelFacts& facts, std::uint64_t threads, std::uint64_t dynamic_shared);

}  // namespace flexrack::sim
