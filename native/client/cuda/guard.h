// A call of CUDA in this application.
#pragma once

#include <utility>

#include "client/cuda/thread.h"
#include "client/guard.h"

namespace flexrack::client::cuda {

template <class Body>
CUresult guard(Body&& body) noexcept {
  return guarded<CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN>(std::forward<Body>(body));
}

}  // namespace flexrack::client::cuda
