// What goes to the driver as it came, but for its handles, addresses and devices.
#pragma once

#include "backend/cuda/core.h"

namespace flexrack::backend::cuda {

class Forwards : public virtual cu::Requests {
 public:
  explicit Forwards(Core& core) : core_(core) {}

 private:
#include "gen/cuda/server_overrides.inc"

  Core& core_;
};

}  // namespace flexrack::backend::cuda
