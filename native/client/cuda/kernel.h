// Kernels as servers have them.
#pragma once

#include "client/cuda/objects.h"

namespace flexrack::client::cuda {

/// What a server says about a kernel.
std::unique_ptr<KernelAt> take_kernel(const cu::Kernel& reported);

/// A library's kernel as that device's server has it; its library is loaded there, and it is looked up, where that was
/// not so before. `context`: one of that server's that is used for it, or null.
CUresult kernel_at(CUkernel kernel, const Device& device, CUcontext context, const KernelAt*& found);

inline bool has_attribute(const KernelAt& kernel, CUfunction_attribute which) {
  return (kernel.known >> which & 1) != 0;
}

}  // namespace flexrack::client::cuda
