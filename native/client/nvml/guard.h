// A call of NVML in this application.
#pragma once

#include <utility>

#include "client/guard.h"
#include "gen/nvml/nvml.h"

namespace flexrack::client::nvml {

template <class Body>
nvmlReturn_t guard(Body&& body) noexcept {
  return guarded<NVML_ERROR_MEMORY, NVML_ERROR_UNKNOWN>(std::forward<Body>(body));
}

/// What a function that is refused answers.
nvmlReturn_t refused() noexcept;

}  // namespace flexrack::client::nvml
