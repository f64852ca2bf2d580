// Memory of this process that the devices of a context reach: what is staged for it, and the latches of its streams.
// The pages are ours and lie there as long as anybody has a piece of them, though their registration at the driver ends
// with the context: what still lands for it lands in memory that is there.
#pragma once

#include <initializer_list>

#include "backend/cuda/latches.h"
#include "backend/cuda/staging.h"
#include "backend/cuda/window.h"

namespace flexrack::backend::cuda {

/// One a context.
class HostSide {
 public:
  explicit HostSide(const cu::DriverTable& driver)
      : pages_(driver), staging_(pages_), latches_(driver, pages_), create_event_(driver.cuEventCreate) {}

  /// Null where the driver has no more, or half of the machine's memory is in use. With a current context.
  static StagingPool::Held take(const std::shared_ptr<HostSide>& side, std::size_t size) {
    return side ? StagingPool::take(side->staging_, size, side) : nullptr;
  }
  /// Of a copy on that stream, in the window of what it has staged. Null as above, or where too many copies wait.
  static std::shared_ptr<Windows::Use> take(const std::shared_ptr<HostSide>& side, CUstream stream, std::size_t size) {
    return side ? side->windows_.take(stream, size, side) : nullptr;
  }
  /// A closed one; null where the driver has no memory for more, or there are a million. With a current context.
  static Latch latch(const std::shared_ptr<HostSide>& side) { return side ? side->latches_.make(side) : Latch{}; }

  /// An event that tells the time; null where the driver has none. With a current context, with which it ends.
  static CUevent event(const std::shared_ptr<HostSide>& side);
  static void give_back(HostSide& side, std::initializer_list<CUevent> events);

 private:
  Pages pages_;
  StagingPool staging_;
  Windows windows_{staging_};
  Latches latches_;
  decltype(&::cuEventCreate) const create_event_;
  std::mutex events_lock_;
  std::vector<CUevent> events_;  ///< made, and of no use at the moment
};

inline CUevent HostSide::event(const std::shared_ptr<HostSide>& side) {
  CUevent made = nullptr;
  if (!side) return made;
  {
    const std::lock_guard guard(side->events_lock_);
    if (!side->events_.empty()) {
      made = side->events_.back();
      side->events_.pop_back();
      return made;
    }
  }
  return side->create_event_ && side->create_event_(&made, CU_EVENT_DEFAULT) == CUDA_SUCCESS ? made : nullptr;
}

inline void HostSide::give_back(HostSide& side, std::initializer_list<CUevent> events) {
  const std::lock_guard guard(side.events_lock_);
  for (auto* const one : events)
    if (one) side.events_.push_back(one);
}

}  // namespace flexrack::backend::cuda
