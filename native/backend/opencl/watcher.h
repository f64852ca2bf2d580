// Learns that native events are over, without a thread that waits for them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "gen/opencl/cl.h"

namespace flexrack::backend::opencl {

/// Thread-safe.
class Watcher {
 public:
  /// Called once with the final status, on a thread of the driver or of the watcher, or at once on the caller's.
  using Over = std::function<void(cl_int status)>;

  Watcher();
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// The event is held until it is over. A driver that buffers commands needs a clFlush of its queue for this to come.
  void await(cl_event event, Over over);
  /// An event was made to fail. Drivers differ in whether they call back for what depended on it: looks at everything
  /// awaited.
  void look();
  /// Something has failed at some time: wait lists are worth checking.
  bool has_seen_failure() const { return has_seen_failure_.load(std::memory_order_relaxed); }
  /// Waits until nothing is awaited any more; false when that takes longer.
  bool settle(std::chrono::milliseconds within);

 private:
  struct Awaited;
  static void CL_CALLBACK on_complete(cl_event event, cl_int status, void* data);
  void fire(Awaited* awaited, cl_int status);
  void sweep();
  void run();

  std::mutex lock_;
  std::condition_variable changed_;
  Awaited* first_ = nullptr;
  bool is_requested_ = false, is_closed_ = false;
  std::atomic<bool> has_seen_failure_{false};
  std::thread sweeper_;
};

/// CL_COMPLETE, an error, or how far it is; an error of its own where the driver does not answer.
cl_int event_status(cl_event event);

}  // namespace flexrack::backend::opencl
