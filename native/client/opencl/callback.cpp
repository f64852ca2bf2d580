// The application's callbacks.
#include "client/callback_thread.h"
#include "client/opencl/driver.h"
#include "client/opencl/event.h"

namespace flexrack::client::opencl {

void run_callback(std::function<void()> action) {
  static auto& thread = *new CallbackThread;
  thread.run([action = std::move(action)] {
    if (may_call_back()) action();
  });
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
