// What stands between an application's call and our functions: nothing may be thrown at the application.
#pragma once

#include <new>

#include "client/cuda/thread.h"

namespace flexrack::client::cuda {

template <class Body>
CUresult guard(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace flexrack::client::cuda
