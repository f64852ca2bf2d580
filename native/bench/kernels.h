// How fast a GPU in software is: thread instructions a second, of kernels of several kinds.
#pragma once

#include <string>

namespace flexrack::bench {

/// Of libcuda.so.1 as the loader finds it, which has to be a GPU in software: it computes on the processors of this process. Prints for each of
/// integer, fma, streaming, matmul, histogram and shuffles: NAME_per_core (millions of PTX instructions times threads for each second of processor
/// time) and NAME_per_second (the same by the clock on the wall, all cores at work). Medians. Throws std::runtime_error where it fails or a kernel's
/// result is wrong.
void measure_kernels();

}  // namespace flexrack::bench
