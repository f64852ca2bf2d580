// Launches, and what a share that is not the whole device pays for them.
#pragma once

#include <chrono>
#include <functional>

#include "backend/cuda/core.h"
#include "backend/cuda/launch_clock.h"

namespace flexrack::backend::cuda {

class CallContext;

class Launches : public virtual cu::Requests {
 public:
  explicit Launches(Core& core) : core_(core) {}

  /// The stream stops at a latch until it is this share's turn; the time between two events is what the launch took.
  void launch_time_sliced(CallContext& call, std::uint32_t device, CUstream stream,
                          const std::function<bool()>& launch);
  /// Waits that long for what is under way. False: something still is.
  bool close(std::chrono::milliseconds patience) { return clock_.close(patience); }

 private:
  void on(const cu::Launch& m) override;

  Core& core_;
  LaunchClock clock_{
      core_.table, [this](std::uint32_t device, std::uint64_t nanoseconds, std::uint32_t count, std::uint64_t longest) {
        if (longest > 0) core_.grant.took(device, longest);
        core_.grant.finished(device, nanoseconds, count);
      }};
};

}  // namespace flexrack::backend::cuda
