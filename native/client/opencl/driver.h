// This process as a user of leased devices: opened by the first call that asks for platforms, closed when the process
// ends.
#pragma once

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// The platform of all leased devices, opening the sessions on the first call. Null where there is no lease or no
/// server can be reached, and in a child after fork(): sessions are not inherited.
cl_platform_id platform();

/// False from the time on when the process is ending: the application's own code may not be called any more.
bool may_call_back();

}  // namespace flexrack::client::opencl
