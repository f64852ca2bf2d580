// Work that may take long, done in order on a thread of its own so that the messages behind it go on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace flexrack::backend {

class WorkerThread {
 public:
  WorkerThread() = default;
  ~WorkerThread() { close(); }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  void add(std::function<void()> work) {
    {
      const std::lock_guard guard(lock_);
      if (is_closed_) return;
      work_.push_back(std::move(work));
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });  // many sessions never have any
    }
    changed_.notify_one();
  }

  /// Lets what is being done end; drops the rest.
  void close() {
    std::deque<std::function<void()>> dropped;
    {
      const std::lock_guard guard(lock_);
      is_closed_ = true;
      dropped.swap(work_);
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    std::unique_lock guard(lock_);
    for (;;) {
      changed_.wait(guard, [this] { return is_closed_ || !work_.empty(); });
      if (is_closed_) return;
      auto work = std::move(work_.front());
      work_.pop_front();
      guard.unlock();
      work();
      work = nullptr;
      guard.lock();
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace flexrack::backend
