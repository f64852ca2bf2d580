#pragma once

#include "client/opencl/program_objects.h"

namespace flexrack::client::opencl {

/// A program that is nowhere yet, with one reference.
cl_program new_program(cl_context context, std::vector<cl_device_id> devices);

}  // namespace flexrack::client::opencl
