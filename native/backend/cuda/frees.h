// Frees that are under way at the driver: what asks for memory comes behind them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace flexrack::backend::cuda {

/// Thread-safe.
class Frees {
 public:
  void begin() {
    const std::lock_guard guard(lock_);
    ++count_;
  }
  void end() {
    const std::lock_guard guard(lock_);
    if (--count_ == 0) over_.notify_all();
  }
  bool any() {
    const std::lock_guard guard(lock_);
    return count_ > 0;
  }
  void wait() {
    std::unique_lock guard(lock_);
    over_.wait(guard, [this] { return count_ == 0; });
  }

 private:
  std::mutex lock_;
  std::condition_variable over_;
  std::size_t count_ = 0;
};

}  // namespace flexrack::backend::cuda
