// Work that waits for other work: streams, events and graphs are all made of these.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "sim/driver/object.h"

namespace flexrack::sim {

class Context;
class Worker;

/// One thing to do, when what it depends on is over. Thread-safe.
class Command {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// What it does: `work` on a thread of `worker`. Without a worker: at once, on the thread that ended the last of what
  /// it waited for; such work must be short and not wait. Where the context has failed it is not done, but for what
  /// always has to be (callbacks).
  static Ref<Command> make(Ref<Context> context, Worker* worker, std::function<void()> work,
                           bool is_always_done = false);
  /// Nothing but a place in the order, with a time when it was passed.
  static Ref<Command> marker(Ref<Context> context);
  /// It is over when `is_over` says so, which is asked until then; `worker` is one that asks (try_run).
  static Ref<Command> awaited(Ref<Context> context, Worker* worker, std::function<bool()> is_over);
  /// Done by the thread that waits for it: no other thread has to be woken for what its caller waits for anyway.
  static Ref<Command> for_caller(Ref<Context> context, std::function<void()> work);

  int priority = 0;   ///< of the stream: lower goes first

  /// To be called once. `before`: what has to be over; null ones and those that are over are left out.
  void submit(std::span<const Ref<Command>> before);
  bool is_over() const { return state_.load(std::memory_order_acquire) == State::over; }
  /// Returns when it is over.
  void wait();
  /// When it was over.
  Time time() const { return time_; }

  /// For workers. `try_run`: false where it is not over yet, and to be tried again.
  void run();
  bool try_run();

  // For Ref.
  static ObjectHead* head_of(Command* command) { return &command->head_; }
  static void destroy(Command* command);

 private:
  enum class State : std::uint32_t { waiting, ready, running, over };
  Command();
  ~Command();
  void prerequisite_over();
  void dispatch();
  void finish();

  ObjectHead head_;
  Ref<Context> context_;
  Worker* worker_ = nullptr;
  std::function<void()> work_;
  std::function<bool()> awaited_;
  bool is_always_done_ = false, is_for_caller_ = false;
  std::atomic<State> state_{State::waiting};
  std::atomic<std::uint32_t> pending_{1};
  std::mutex lock_;   ///< of dependents_, against finish()
  std::vector<Ref<Command>> dependents_;
  Time time_{};
};

}  // namespace flexrack::sim
