// The application's functions run on one thread of ours: never on one that reads a link, so that they may take their
// time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace flexrack::client {

/// Never destroyed: its thread, which the first action starts, runs until the process is gone.
class CallbackThread {
 public:
  /// Runs it behind all that were given before.
  void run(std::function<void()> action);

 private:
  void work();

  std::mutex lock_;
  std::condition_variable comes_;
  std::deque<std::function<void()>> actions_;
  bool is_running_ = false;
};

}  // namespace flexrack::client
