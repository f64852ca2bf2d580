// A kernel to be run: what the driver knows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/exec/dim3.h"
#include "sim/ptx/program.h"

namespace flexrack::sim::exec {

class Conditions;
class Heap;

struct Launch {
  const ptx::Function* kernel = nullptr;    ///< of the image's module
  Dim3 grid, block;
  Dim3 cluster;                             ///< blocks of a cluster; the grid is a multiple of it
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte>
      parameters;    ///< the parameter block, by Function::parameters' offsets; valid until the run is over
  bool is_cooperative = false;              ///< all blocks are under way at once
  std::uint32_t stack_bytes = 1024;         ///< a thread, for calls (CU_LIMIT_STACK_SIZE)
  Heap* heap = nullptr;                     ///< for malloc in kernels; nullptr: malloc returns 0
  Conditions* conditions = nullptr;         ///< of the graph that it is launched by; nullptr: there are none
  std::uint64_t grid_id = 0;                ///< %gridid
  std::uint32_t sm_count = 1;               ///< %nsmid
};

}  // namespace flexrack::sim::exec
