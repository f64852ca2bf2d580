// An image that has nothing this device can run: machine code, or PTX of newer devices only.
#pragma once

#include "cuda/fatbin.h"
#include "sim/driver/jit_options.h"

namespace flexrack::sim {

/// Says on stderr which kernels these are, once each image, and in the options' log what the image has. Where
/// FLEXRACK_SIM_STRICT is set the thread's context fails, or all where it has none: programs that do not look at what a
/// launch answers learn of it at the next call. Throws CUDA_ERROR_NO_BINARY_FOR_GPU.
[[noreturn]] void refuse_without_ptx(const cuda::Image& image, JitOptions& options);

}  // namespace flexrack::sim
