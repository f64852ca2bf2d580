// What code may be handed to a driver: it reads on from where it is pointed to, as far as the code itself says.
#pragma once

#include "gen/cuda/cuda.h"
#include "wire/frame.h"

namespace flexrack::backend::cuda {

/// CUDA_SUCCESS for an ELF file for CUDA, PTX text, and fatbins, if all that they say of their lengths is inside of the
/// bytes. A fatbin's wrapper, which holds pointers, is CUDA_ERROR_INVALID_IMAGE like anything else.
CUresult check_image(wire::View image);

/// The same for what is linked, by its CUjitInputType: code is of that kind, objects and libraries of the host begin as
/// such do; nothing else is linked.
CUresult check_input(std::uint32_t kind, wire::View data);

}  // namespace flexrack::backend::cuda
