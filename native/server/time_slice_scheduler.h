// One device's scheduler as a worker uses it: launches go through at once, or wait on a thread that lets them go when
// it is their turn.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "server/scheduler_state.h"
#include "server/shared_file.h"

namespace flexrack::server {

/// The file that all workers on a device and the broker map.
class SchedulerFile {
 public:
  /// Takes the one that is there if it is whole and of this boot, else makes one. Throws std::system_error.
  static SchedulerFile open_or_create(const std::string& path);
  /// Throws std::runtime_error when there is none.
  static SchedulerFile open(const std::string& path);

  /// Runs on the state under its lock, and wakes who may go on when the device changes hands.
  template <class Action>
  auto locked(Action action) {
    auto& file = at();
    const SharedLock lock(file.lock, [this] { remove_dead(); });
    const auto before = file.state.holder;
    auto result = action(file.state);
    if (file.state.holder != before) wake_holder();
    return result;
  }

  /// Places of processes that are gone are given back; returns how many there were.
  std::size_t clear_dead();

  std::uint32_t turn() const { return at().turn.load(); }
  void wake_member(std::uint32_t member);
  /// Until somebody wakes this member, the turn is another one already, or the time is over.
  void sleep(std::uint32_t member, std::uint32_t turn, std::uint64_t nanoseconds) const;

 private:
  struct File {
    std::uint64_t magic, boot;
    pthread_mutex_t lock;
    std::atomic<std::uint32_t> turn;  ///< changes with every waking; what futexes wait on
    SchedulerState state;
  };
  explicit SchedulerFile(SharedFile file) : file_(std::move(file)) {}
  File& at() const { return *static_cast<File*>(file_.data()); }
  bool is_sound() const;
  std::size_t remove_dead();
  void wake_holder();
  void wake(std::uint32_t bits);

  SharedFile file_;
};

/// A worker's place at one scheduler. Thread-safe.
class TimeSliceScheduler {
 public:
  /// Throws std::runtime_error when all places are taken.
  TimeSliceScheduler(const std::string& path, const Id& lease, std::uint32_t weight, bool capped);
  /// What still waits is dropped, not called.
  ~TimeSliceScheduler();

  /// Calls `admitted` here and now if the device is this lease's, else later on a thread of the scheduler, in the order
  /// they came.
  void admit(std::function<void()> admitted);
  /// One that was admitted has ended, or so many have, having taken so long together.
  void finished(std::uint64_t nanoseconds, std::uint32_t count = 1);

 private:
  void run();
  std::uint64_t let_go(std::deque<std::function<void()>>& going);

  SchedulerFile file_;
  std::uint32_t member_ = SchedulerState::kNone;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> waiting_;
  std::atomic<std::uint32_t> wake_at_ =
      0;  ///< the thread sleeps and wants to be woken when no more than these are on the device
  bool is_letting_go_ = false;  ///< some have left the queue and are not called yet: nobody may overtake them
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace flexrack::server
