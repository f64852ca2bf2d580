// The broker's one thread: waits for descriptors, timers and what other threads hand over.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "server/descriptor.h"

namespace flexrack::server {

/// Everything but post() and stop() is for the thread that runs it.
class Loop {
 public:
  using Clock = std::chrono::steady_clock;
  using Ready = std::function<void(std::uint32_t events)>;  ///< events as epoll gives them

  Loop();

  /// Level-triggered. One watch a descriptor; a second replaces it. The descriptor stays the caller's.
  void watch(int fd, std::uint32_t events, Ready ready);
  void forget(int fd);

  /// Calls once, then. Returns a number for cancel(); cancelling one that has run is harmless.
  std::uint64_t at(Clock::time_point when, std::function<void()> action);
  std::uint64_t after(Clock::duration delay, std::function<void()> action) {
    return at(Clock::now() + delay, std::move(action));
  }
  void cancel(std::uint64_t timer);

  /// Any thread: runs it on the loop's thread soon.
  void post(std::function<void()> action);
  /// Any thread; also before run().
  void stop();
  void run();

 private:
  struct Watch {
    int fd;
    Ready ready;
  };
  int until_next_timer() const;
  void run_timers();
  void run_posted();

  Descriptor epoll_, wake_;
  std::uint64_t next_ = 1;
  std::unordered_map<std::uint64_t, std::shared_ptr<Watch>>
      watches_;  // by a number never used twice: a descriptor's may be
  std::unordered_map<int, std::uint64_t> by_fd_;
  std::map<std::pair<Clock::time_point, std::uint64_t>, std::function<void()>> timers_;
  std::unordered_map<std::uint64_t, Clock::time_point> timer_times_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  bool stopped_ = false;
};

}  // namespace flexrack::server
