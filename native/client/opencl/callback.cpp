// The application's callbacks run on one thread of ours: never on one that reads a link, so that they may take their
// time.
#include <condition_variable>
#include <deque>
#include <system_error>
#include <thread>

#include "client/opencl/driver.h"
#include "client/opencl/event.h"

namespace flexrack::client::opencl {
namespace {

/// Never destroyed: the thread runs until the process is gone.
struct Line {
  std::mutex lock;
  std::condition_variable comes;
  std::deque<std::function<void()>> actions;
  bool is_running = false;
};

Line& line() {
  static auto& the_line = *new Line;
  return the_line;
}

void run_all() {
  auto& waiting = line();
  std::unique_lock guard(waiting.lock);
  for (;;) {
    waiting.comes.wait(guard, [&] { return !waiting.actions.empty(); });
    const auto action = std::move(waiting.actions.front());
    waiting.actions.pop_front();
    guard.unlock();
    if (may_call_back()) action();
    guard.lock();
  }
}

void start(Line& waiting) {
  try {
    std::thread(run_all).detach();
    waiting.is_running = true;
  } catch (const std::system_error&) {  // no thread to be had: the next callback tries again
  }
}

}  // namespace

void run_callback(std::function<void()> action) {
  auto& waiting = line();
  {
    const std::lock_guard guard(waiting.lock);
    waiting.actions.push_back(std::move(action));
    if (!waiting.is_running) start(waiting);
  }
  waiting.comes.notify_one();
}

cl_int clSetEventCallback(cl_event event, cl_int command_exec_callback_type, cl_event_callback pfn_notify,
                          void* user_data) {
  if (!is_live(event)) return CL_INVALID_EVENT;
  const auto stage = command_exec_callback_type;
  if (!pfn_notify || stage < CL_COMPLETE || stage > CL_SUBMITTED) return CL_INVALID_VALUE;
  const auto action = [event, pfn_notify, user_data](cl_int status) {
    pfn_notify(event, status, user_data);
    drop(event);
  };
  hold(event);
  bool is_due = false;
  {
    const std::lock_guard guard(event->lock);
    is_due = event->status.load() <= stage;
    if (!is_due) event->more().callbacks.emplace_back(stage, action);
  }
  if (is_due) {
    const auto status = event->status.load();
    run_callback([at = status < 0 ? status : stage, action] { action(at); });
    return CL_SUCCESS;
  }
  if (!event->queue) return CL_SUCCESS;
  auto& session = *session_of(event);
  watch_event(event);
  if (stage != CL_COMPLETE) {
    cl::WatchStage message;
    message.event = event->handle;
    message.stage = stage;
    session.send(message);
  }
  session.link().flush();
  return CL_SUCCESS;
}

}  // namespace flexrack::client::opencl
