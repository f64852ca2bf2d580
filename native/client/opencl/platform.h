// Devices by type, for clGetDeviceIDs and clCreateContextFromType.
#pragma once

#include <vector>

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// True for types that an application may ask for.
bool is_device_type(cl_device_type type);
std::vector<cl_device_id> devices_of_type(cl_platform_id platform, cl_device_type type);

}  // namespace flexrack::client::opencl
