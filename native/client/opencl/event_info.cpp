// What applications ask about events, and user events.
#include <algorithm>
#include <chrono>
#include <thread>

#include "client/opencl/event.h"
#include "client/opencl/info.h"

namespace flexrack::client::opencl {
namespace {

/// Between two questions for times that are not there yet.
constexpr std::chrono::microseconds kFirstPause{20}, kLongestPause{1000};

/// The server's present word. The answer has to be exact: what happened before, by whatever wait, must show.
cl_int ask_status(cl_event event) {
  cl::EventStatus message;
  message.event = event->handle;
  cl_int status = kLost;
  const bool is_answered = session_of(event)->call(message, [&](const cl::EventStatusReply& reply) {
    status = reply.status;
    cl::Completion completion;
    completion.event = event->handle;
    completion.status = reply.status;
    completion.queued = reply.queued;
    completion.submitted = reply.submitted;
    completion.started = reply.started;
    completion.ended = reply.ended;
    completion.completed = reply.completed;
    take_completion(event, completion);
  });
  if (!is_answered) finish_event(event, kLost);
  return status;
}

cl_int current_status(cl_event event) {
  if (!event->queue || event->is_final()) return event->status.load();
  const auto there = ask_status(event);
  if (event->is_final()) return event->status.load();
  // Done there, but bytes of it or of what it comes after are on their way.
  return there <= CL_COMPLETE ? CL_RUNNING : there;
}

bool has_times(cl_event event) {
  const std::lock_guard guard(event->lock);
  return event->has_times;
}

/// The device's times of a command that is over. A read is over here once its bytes are, which may be before the device
/// has given mapped memory back: until then it is asked again. No notice is waited for: the event's own end, in another
/// thread, may be about to strike it off those who get one.
bool await_times(cl_event event) {
  for (auto pause = kFirstPause; ask_status(event) > CL_COMPLETE && event->status.load() == CL_COMPLETE;
       pause = std::min(pause * 2, kLongestPause)) {
    std::this_thread::sleep_for(pause);
  }
  return has_times(event);
}

const cl_ulong* time_of(cl_event event, cl_profiling_info parameter) {
  switch (parameter) {
    case CL_PROFILING_COMMAND_QUEUED: return &event->times[0];
    case CL_PROFILING_COMMAND_SUBMIT: return &event->times[1];
    case CL_PROFILING_COMMAND_START: return &event->times[2];
    case CL_PROFILING_COMMAND_END: return &event->times[3];
    case CL_PROFILING_COMMAND_COMPLETE: return &event->times[4];
    default: return nullptr;
  }
}

}  // namespace

cl_int clGetEventInfo(cl_event event, cl_event_info param_name, size_t param_value_size, void* param_value,
                      size_t* param_value_size_ret) {
  if (!is_live(event)) return CL_INVALID_EVENT;
  const Answer answer{param_value_size, param_value, param_value_size_ret};
  switch (param_name) {
    case CL_EVENT_COMMAND_QUEUE: return answer(event->queue);
    case CL_EVENT_CONTEXT: return answer(event->context);
    case CL_EVENT_COMMAND_TYPE: return answer(event->type);
    case CL_EVENT_REFERENCE_COUNT: return answer(references(event));
    case CL_EVENT_COMMAND_EXECUTION_STATUS: return answer(current_status(event));
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name, size_t param_value_size, void* param_value,
                               size_t* param_value_size_ret) {
  if (!is_live(event)) return CL_INVALID_EVENT;
  if (!event->queue || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0)
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  if (!event->is_final()) ask_status(event);
  if (event->status.load() != CL_COMPLETE || (!has_times(event) && !await_times(event)))
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  const auto* time = time_of(event, param_name);
  return time ? Answer{param_value_size, param_value, param_value_size_ret}(*time) : CL_INVALID_VALUE;
}

cl_int clRetainEvent(cl_event event) {
  if (!is_live(event)) return CL_INVALID_EVENT;
  retain(event);
  return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event event) { return is_live(event) && release(event) ? CL_SUCCESS : CL_INVALID_EVENT; }

cl_event clCreateUserEvent(cl_context context, cl_int* errcode_ret) {
  cl_event event = nullptr;
  if (is_live(context)) {
    event = new _cl_event;
    event->context = hold(context);
    event->type = CL_COMMAND_USER;
    event->status.store(CL_SUBMITTED);
  }
  if (errcode_ret) *errcode_ret = event ? CL_SUCCESS : CL_INVALID_CONTEXT;
  return event;
}

cl_int clSetUserEventStatus(cl_event event, cl_int execution_status) {
  if (!is_live(event) || event->queue) return CL_INVALID_EVENT;
  if (execution_status > CL_COMPLETE) return CL_INVALID_VALUE;
  if (event->is_final()) return CL_INVALID_OPERATION;
  settle_event(event, execution_status);
  return CL_SUCCESS;
}

}  // namespace flexrack::client::opencl
