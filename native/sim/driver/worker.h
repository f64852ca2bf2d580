// Threads that carry out commands: one Worker for each thing a device does at the same time as others.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "sim/driver/command.h"

namespace flexrack::sim {

/// A queue with threads, started when there is work and all are busy; they live as long as the process. Thread-safe.
class Worker {
 public:
  Worker(const char* name, unsigned most_threads) : name_(name), most_threads_(most_threads) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  virtual ~Worker() = default;

  /// Those of higher priority (a lower number) first, else in the order they come.
  virtual void post(Ref<Command> command);

 private:
  void run();
  bool start();

  const char* name_;
  const unsigned most_threads_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Ref<Command>> queue_;
  unsigned threads_ = 0, idle_ = 0;
};

/// A thread that the application's signals do not reach; false where the system gives none.
bool start_thread(const char* name, std::function<void()> body);

}  // namespace flexrack::sim
