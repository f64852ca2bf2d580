// What an image takes of a device where it is loaded. A driver says so neither before nor after.
#pragma once

#include <cstdint>

#include "wire/codec.h"

namespace flexrack::backend::cuda {

struct ImageMemory {
  std::uint64_t bytes = 0;       ///< code, constants and variables
  bool uses_heap = false;        ///< kernels call malloc: a context has memory for that from the first such image on
};

/// Of a cubin: its sections that are loaded, each in whole pieces of 512 bytes. Of PTX: the variables that it declares,
/// and 64 bytes for each statement, four machine instructions (16 bytes each since Volta). Of a fatbin: the largest of
/// its entries. Nothing for what is no image: the driver refuses it.
ImageMemory image_memory(wire::View image);

}  // namespace flexrack::backend::cuda
