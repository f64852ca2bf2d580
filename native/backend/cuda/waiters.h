// Threads for what the driver blocks in, so that no message waits for another's stream. As many as there are waits at
// one time, up to a number; idle ones are kept.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace flexrack::backend::cuda {

class Waiters {
 public:
  Waiters() = default;
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  /// Runs it on a thread of its own, soon; where there are too many threads, after one of the others.
  void run(std::function<void()> work);

  /// The same for what waits for something that can be asked for: where there are too many threads it is run when
  /// `is_over` says so, which one thread asks for all of them. What it waits for may itself wait for another such.
  void run_when(std::function<bool()> is_over, std::function<void()> work);

  /// Whether all threads have something to wait for: run_when() is what goes on all the same.
  bool is_full() const;

  /// Whether there is room for one more that a client asks for: each holds memory, and some of them for ever.
  bool has_room() const { return pending_->load(std::memory_order_relaxed) < kMostPending; }

  /// Whether anything that was asked for is not over.
  bool any() const { return pending_->load(std::memory_order_acquire) != 0; }

  /// Takes no more; waits that long for what is under way. False: something still is, and keeps its thread.
  bool close(std::chrono::milliseconds patience);

 private:
  static constexpr std::size_t kMost = 256, kMostPending = 1 << 16;

  struct Shared {
    std::mutex lock;
    std::condition_variable more, fewer;
    std::deque<std::function<void()>> work;
    struct Asked {
      std::function<bool()> is_over;
      std::function<void()> work;
    };
    std::vector<Asked> asked;
    std::size_t threads = 0, idle = 0;
    bool is_asking = false;
    bool is_closed = false, is_given_up = false;
  };
  static void serve(const std::shared_ptr<Shared>& shared);
  static void ask(const std::shared_ptr<Shared>& shared);
  std::function<void()> counted(std::function<void()> work);
  /// One thread more that does it. False where there is none to be had: the lock is held then, else it is open.
  bool start(std::unique_lock<std::mutex>& guard, void (*what)(const std::shared_ptr<Shared>&));
  /// To a thread; under the lock, which may be open afterwards.
  void give(std::unique_lock<std::mutex>& guard, std::function<void()> work);

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::shared_ptr<std::atomic<std::size_t>> pending_ =
      std::make_shared<std::atomic<std::size_t>>(0);   ///< asked for and not over
};

}  // namespace flexrack::backend::cuda
