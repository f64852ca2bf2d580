// What is known of PoCL alone.
#pragma once

#include "gen/opencl/cl.h"

namespace flexrack::backend::opencl {

bool is_pocl(cl_platform_id platform);
/// The same of the platform that an event belongs to.
bool is_pocl(cl_event event);

}  // namespace flexrack::backend::opencl
