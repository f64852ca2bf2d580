// How fast a GPU in software is: thread instructions a second, of kernels of several kinds.
#pragma once

#include <string>

namespace flexrack::bench {

/// Of libcuda.so.1 as the loader finds it, which has to be a GPU in software: it computes on the processors of this
/// process. Prints for each kernel of kernel_texts.h, or for the one called `only`: NAME_per_core (millions of PTX
/// instructions times threads for each second of processor time), NAME_per_second (the same by the clock on the wall,
/// all cores at work) and NAME_loop (how many times the processor time of a C++ loop that does the same). The best of
/// several rounds. Throws std::runtime_error where it fails or a kernel's result is wrong.
void measure_kernels(const std::string& only);

}  // namespace flexrack::bench
