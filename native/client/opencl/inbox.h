// What one server says unasked, and whom it concerns here: events, contexts, the program's standard output.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "client/opencl/objects.h"
#include "gen/opencl/requests.h"

namespace flexrack::client::opencl {

class Inbox final : public client::Notices, private cl::Notices {
 public:
  void on_notice(Session& session, const wire::Header& header, wire::View body) override;
  void on_lost(Session& session, std::string_view why) override;

  /// Holds the event until its notice is here. False where it was expected already, or the session is lost (the event
  /// is over then).
  bool expect(cl_event event);
  /// The event is over by other means: nothing more is expected.
  void forget(cl_event event);

  void enter(cl_context context, std::uint64_t handle);
  void leave(std::uint64_t handle);

  /// What the device refused of that queue after the command had been accepted, where no event tells; once. The first
  /// of them, where there are several.
  cl_int take_failure(std::uint64_t queue) {
    return has_failures_.load(std::memory_order_relaxed) ? find_failure(queue) : CL_SUCCESS;
  }
  /// The queue is no more: nobody asks for its failure.
  void forget_queue(std::uint64_t queue);

 private:
  void on(const cl::Completed& message) override;
  void on(const cl::Reached& message) override;
  void on(const cl::Printed& message) override;
  void on(const cl::ContextError& message) override;
  void on(const cl::Failed& message) override;
  /// Held for the caller; null where nobody expects it. With `is_last` it is expected no more.
  cl_event find(std::uint64_t handle, bool is_last);
  void note_failure(std::uint64_t queue, cl_int status);
  cl_int find_failure(std::uint64_t queue);

  std::mutex lock_;
  bool is_lost_ = false;
  std::unordered_map<std::uint64_t, cl_event> expected_;      ///< held
  std::unordered_map<std::uint64_t, cl_context> contexts_;    ///< not held: they leave before they go
  std::unordered_map<std::uint64_t, cl_int> failures_;        ///< by queue; 0: of no queue, for whichever asks first
  std::atomic<bool> has_failures_{false};                     ///< there are some
};

}  // namespace flexrack::client::opencl
