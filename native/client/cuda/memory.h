// Device memory for whoever needs some.
#pragma once

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"

namespace flexrack::client::cuda {

/// Asks the context's server for wish.size bytes; `wish` is what they are known as here from now on, with its base
/// filled in.
CUresult allocate_memory(Call& call, CUcontext context, Allocation& wish);

}  // namespace flexrack::client::cuda
