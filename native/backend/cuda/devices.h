// What names a CUDA device to the daemon, and the list of them.
#pragma once

#include <string>

#include "backend/cuda/driver_library.h"

namespace flexrack::backend::cuda {

/// The device's uuid as CUDA_VISIBLE_DEVICES takes it: "GPU-" and 8-4-4-4-12 hex digits; "MIG-" for a part of a divided
/// GPU. It is the same in every process, whatever is visible there. Throws std::runtime_error with the driver's reason.
/// cuInit has to be over.
std::string uuid_text(const DriverLibrary& driver, CUdevice device);

}  // namespace flexrack::backend::cuda
