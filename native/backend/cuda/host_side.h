// Memory of this process that the devices of a context reach: what is staged for it, and the gates of its streams. The pages are ours and lie there as long as
// anybody has a piece of them, though their registration at the driver ends with the context: what still lands for it lands in memory that is there.
#pragma once

#include "backend/cuda/gates.h"
#include "backend/cuda/staging.h"
#include "backend/cuda/window.h"

namespace flexrack::backend::cuda {

/// One a context.
class HostSide {
 public:
  explicit HostSide(const cu::DriverTable& driver) : pages_(driver), staging_(pages_), gates_(driver, pages_) {}

  /// Null where the driver has no more, or half of the machine's memory is in use. With a current context.
  static StagingPool::Held take(const std::shared_ptr<HostSide>& side, std::size_t size) { return side ? StagingPool::take(side->staging_, size, side) : nullptr; }
  /// Of a copy on that stream, in the window of what it has staged. Null as above, or where too many copies wait.
  static std::shared_ptr<Windows::Use> take(const std::shared_ptr<HostSide>& side, CUstream stream, std::size_t size) {
    return side ? side->windows_.take(stream, size, side) : nullptr;
  }
  /// A closed one; null where the driver has no memory for more, or there are a million. With a current context.
  static Gate gate(const std::shared_ptr<HostSide>& side) { return side ? side->gates_.make(side) : Gate{}; }

 private:
  Pages pages_;
  StagingPool staging_;
  Windows windows_{staging_};
  Gates gates_;
};

}  // namespace flexrack::backend::cuda
