// Looks again and again at how long whole devices were at work: none of their launches is timed, and `gpu smi` and NVML
// show it all the same.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace flexrack::backend::cuda {

/// Has a thread while there is a device to look at, and from then on. Thread-safe.
class Meter {
 public:
  /// Adds up what the device did since it was looked at last, `past` ago. One at a time.
  using Look = std::function<void(std::uint32_t device, std::chrono::nanoseconds past)>;
  explicit Meter(Look look) : look_(std::move(look)) {}
  ~Meter() { close(); }

  void start(std::uint32_t device);
  /// Looks a last time.
  void stop(std::uint32_t device);
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  void look_at(std::uint32_t device, Clock::time_point& last) const;

  const Look look_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::map<std::uint32_t, Clock::time_point> watched_;  ///< when it was looked at last
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace flexrack::backend::cuda
