// From the decoded form to steps.
#pragma once

#include <cstdint>

#include "sim/exec/image.h"
#include "sim/exec/step.h"

namespace flexrack::sim::exec {

/// Fills in a function's steps.
void make_ready(Code& code, Image& image);

/// Bytes of local memory for what a kernel may call: as deep as it goes, or for recursion and calls through pointers by
/// the stack's limit.
std::uint32_t stack_of(const ptx::Module& module, const ptx::Function& kernel, std::uint32_t limit);

}  // namespace flexrack::sim::exec
