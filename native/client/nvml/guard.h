// What stands between an application's call and our functions: nothing may be thrown at the application.
#pragma once

#include <new>

#include "gen/nvml/nvml.h"

namespace flexrack::client::nvml {

template <class Body>
nvmlReturn_t guard(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) { return NVML_ERROR_MEMORY; } catch (...) {
    return NVML_ERROR_UNKNOWN;
  }
}

/// What a function that is refused answers.
nvmlReturn_t refused() noexcept;

}  // namespace flexrack::client::nvml
