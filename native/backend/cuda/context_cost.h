// What a context takes of a device before anything is in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/cuda/driver_library.h"

namespace flexrack::backend::cuda {

/// Makes one, in this process, which should have nothing else there, and asks what that took: the driver in software,
/// or NVML of this process, or NVML of the device before and after. `uuid`: as the daemon names devices. Nothing where
/// none can be made, or nobody tells. Some tenths of a second on a GPU.
std::optional<std::uint64_t> measure_context(const DriverLibrary& driver, CUdevice device, const std::string& uuid);

}  // namespace flexrack::backend::cuda
