// What devices say about themselves.
#pragma once

#include "backend/opencl/engine.h"
#include "backend/opencl/info_bytes.h"

namespace flexrack::backend::opencl {

/// Everything that clGetDeviceInfo answers, sizes of memory being those of the share; no pointers of this process.
void describe_device(const Device& device, InfoList& list);

}  // namespace flexrack::backend::opencl
