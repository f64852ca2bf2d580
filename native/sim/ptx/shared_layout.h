// Where .shared variables lie, and what else follows from who calls whom.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ptx/function_builder.h"
#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

/// What a function uses.
struct FunctionUse {
  std::vector<SharedUse> shared;
  std::vector<std::uint32_t> callees;
};

/// Sets shared_bytes, dynamic_shared_offset, barriers and uses_dynamic_stack of the functions, and the displacements
/// that waited for a variable's place. Variables that device functions use have one place for all kernels, at the
/// beginning; the rest is laid out for each kernel by itself. `taken`: functions whose addresses are taken, which any
/// indirect call may reach. Returns the index of a kernel that needs more static memory than there is, kNone: none.
std::uint32_t lay_out_shared(Module& module, const std::vector<FunctionUse>& uses,
                             const std::vector<SharedVariable>& variables, const std::vector<std::uint32_t>& taken);

}  // namespace flexrack::sim::ptx
