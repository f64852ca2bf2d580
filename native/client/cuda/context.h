// Contexts: at their server from creation to destruction; a primary one is there from its first retain.
#pragma once

#include "client/cuda/driver.h"

namespace flexrack::client::cuda {

/// Asks the server for it; the context is alive then. The caller has process()->lock where it is a primary one.
CUresult activate(CUcontext context, unsigned flags);

/// Nothing of it is left, here and there.
void deactivate(CUcontext context, bool is_reset);

}  // namespace flexrack::client::cuda
