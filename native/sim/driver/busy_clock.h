// How long a device has been at work: while at least one kernel runs, however many they are.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace flexrack::sim {

/// Thread-safe.
class BusyClock {
 public:
  /// A kernel, from its first instruction to its last.
  class Span {
   public:
    explicit Span(BusyClock& clock) : clock_(clock) { clock_.change(1); }
    ~Span() { clock_.change(-1); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    BusyClock& clock_;
  };

  /// Nanoseconds since the beginning, what runs now included.
  std::uint64_t total() const {
    const std::lock_guard guard(lock_);
    const auto whole = running_ > 0 ? past_ + (Clock::now() - since_) : past_;
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(whole).count());
  }

 private:
  using Clock = std::chrono::steady_clock;

  void change(int by) {
    const std::lock_guard guard(lock_);
    const auto now = Clock::now();
    if (running_ > 0) past_ += now - since_;
    since_ = now;
    running_ += by;
  }

  mutable std::mutex lock_;
  int running_ = 0;
  Clock::duration past_{0};
  Clock::time_point since_{};
};

}  // namespace flexrack::sim
