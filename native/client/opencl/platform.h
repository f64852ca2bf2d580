// Devices by type, for clGetDeviceIDs and clCreateContextFromType.
#pragma once

#include <vector>

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// In the order of the platform; none for a type that is none.
std::vector<cl_device_id> devices_of_type(cl_platform_id platform, cl_device_type type);

}  // namespace flexrack::client::opencl
