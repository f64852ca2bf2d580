#include "client/opencl/inbox.h"

#include <string>

#include "client/opencl/enqueue.h"
#include "client/opencl/event.h"
#include "client/notice.h"
#include "client/standard_output.h"
#include "client/trace.h"

namespace flexrack::client::opencl {
namespace {

constexpr std::size_t kMostFailures = 4096;

}  // namespace

void Inbox::on_notice(Session& session, const wire::Header& header, wire::View body) {
  take_notice(session, [&] { return cl::dispatch(static_cast<cl::Notices&>(*this), header, body); });
}

void Inbox::on_lost(Session&, std::string_view) {
  std::unordered_map<std::uint64_t, cl_event> events;
  {
    const std::lock_guard guard(lock_);
    is_lost_ = true;
    events.swap(expected_);
  }
  for (const auto& [handle, event] : events) {
    finish_event(event, kLost);
    drop(event);
  }
}

bool Inbox::expect(cl_event event) {
  {
    const std::lock_guard guard(lock_);
    if (!is_lost_) {
      if (!expected_.emplace(event->handle, event).second) return false;
      hold(event);
      return true;
    }
  }
  finish_event(event, kLost);
  return false;
}

void Inbox::forget(cl_event event) {
  if (find(event->handle, true)) drop(event);
}

void Inbox::enter(cl_context context, std::uint64_t handle) {
  const std::lock_guard guard(lock_);
  contexts_[handle] = context;
}

void Inbox::leave(std::uint64_t handle) {
  const std::lock_guard guard(lock_);
  contexts_.erase(handle);
}

void Inbox::on(const cl::Completed& message) {
  for (const auto& completion : message.events) {
    // A payload completes its event itself: the notice has the times, and errors.
    const bool is_last = completion.status <= CL_COMPLETE;
    const auto event = find(completion.event, false);
    if (!event) continue;
    take_completion(event, completion);
    if (is_last && event->is_final()) forget(event);
    drop(event);
  }
}

void Inbox::on(const cl::Reached& message) {
  const auto event = find(message.event, false);
  if (!event) return;
  if (message.stage > CL_COMPLETE) settle_event(event, message.stage);
  drop(event);
}

void Inbox::on(const cl::Printed& message) { write_standard_output(message.text); }

void Inbox::on(const cl::ContextError& message) {
  const std::lock_guard guard(lock_);
  const auto found = contexts_.find(message.context);
  if (found == contexts_.end() || !found->second->notify) return;
  run_callback([notify = found->second->notify, data = found->second->notify_data, text = std::string(message.text),
                info = wire::Bytes(message.private_info.begin(), message.private_info.end())] {
    notify(text.c_str(), info.empty() ? nullptr : info.data(), info.size(), data);
  });
}

void Inbox::on(const cl::Failed& message) {
  if (is_traced())
    trace("the device refused command " + std::to_string(message.op) + " with " + std::to_string(message.status));
  if (message.status >= CL_SUCCESS) return;
  const auto event = message.event == 0 ? nullptr : find(message.event, false);
  if (!event) {
    if (message.event == 0) note_failure(message.queue, message.status);
    return;
  }
  cl::Completion completion;
  completion.event = message.event;
  completion.status = message.status;
  take_completion(event, completion);
  drop(event);
}

void Inbox::note_failure(std::uint64_t queue, cl_int status) {
  const std::lock_guard guard(lock_);
  if (failures_.size() >= kMostFailures) return;  // of queues that this process never had
  failures_.try_emplace(queue, status);
  has_failures_.store(true, std::memory_order_relaxed);
}

cl_int Inbox::find_failure(std::uint64_t queue) {
  const std::lock_guard guard(lock_);
  auto found = failures_.find(queue);
  if (found == failures_.end()) found = failures_.find(0);
  if (found == failures_.end()) return CL_SUCCESS;
  const auto status = found->second;
  failures_.erase(found);
  has_failures_.store(!failures_.empty(), std::memory_order_relaxed);
  return status;
}

void Inbox::forget_queue(std::uint64_t queue) {
  const std::lock_guard guard(lock_);
  failures_.erase(queue);
  has_failures_.store(!failures_.empty(), std::memory_order_relaxed);
}

cl_event Inbox::find(std::uint64_t handle, bool is_last) {
  const std::lock_guard guard(lock_);
  const auto found = expected_.find(handle);
  if (found == expected_.end()) return nullptr;
  const auto event = found->second;
  if (is_last) {
    expected_.erase(found);
  } else {
    hold(event);
  }
  return event;
}

}  // namespace flexrack::client::opencl
