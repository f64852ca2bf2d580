// How long time-sliced launches took, by their events: one thread for all of a session, however many there are.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "backend/cuda/host_side.h"

namespace flexrack::backend::cuda {

/// A launch behind its latch, between two events.
struct TimedLaunch {
  Latch latch;
  CUevent start = nullptr, end = nullptr;
  std::shared_ptr<HostSide> host{};   ///< whose events these are
  std::shared_ptr<void> use{};        ///< of the context, which stays as long
};

/// Thread-safe. Asks (cuEventQuery) only about launches whose latch is open, of each stream the first that is not over;
/// the thread is there from the first launch on.
class LaunchClock {
 public:
  /// So many launches are over on the device, and took so long by their events, all together; the longest of them so
  /// long. 0: no event said it.
  using Finished =
      std::function<void(std::uint32_t device, std::uint64_t nanoseconds, std::uint32_t count, std::uint64_t longest)>;
  LaunchClock(const cu::DriverTable& driver, Finished finished) : driver_(driver), finished_(std::move(finished)) {}
  ~LaunchClock() { close(std::chrono::milliseconds(0)); }
  LaunchClock(const LaunchClock&) = delete;

  /// Those of one stream in the order they were put on it.
  void add(std::uint32_t device, CUcontext context, CUstream stream, TimedLaunch launch);
  /// Whether there is room for one more that a client asks for.
  bool has_room();
  /// Lets a launch go; whoever holds this may do so when the clock is no more.
  std::function<void()> opener(const Latch& latch) const;

  /// Waits that long for what is under way, and asks no more. False: something still is, and is left as it is.
  bool close(std::chrono::milliseconds patience);

 private:
  using Clock = std::chrono::steady_clock;
  struct Lane {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    std::uint32_t device = 0;
    auto operator<=>(const Lane&) const = default;
  };
  struct Shared {
    std::mutex lock;
    std::condition_variable changed, fewer;
    std::map<Lane, std::deque<TimedLaunch>> lanes;   ///< none is empty
    std::size_t launches = 0;
    bool is_resting = false, is_closed = false;      ///< is_resting: the thread waits to be told
  };

  void run();
  bool look(std::unique_lock<std::mutex>& guard);
  std::uint64_t time_of(const TimedLaunch& launch) const;

  const cu::DriverTable& driver_;
  const Finished finished_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::chrono::nanoseconds usual_{0};                ///< what a launch took lately
  std::thread thread_;
};

}  // namespace flexrack::backend::cuda
