// Events: waiting, markers and barriers, user events, callbacks, profiling, and every error of theirs, on each device
// and between devices.
#include <condition_variable>
#include <mutex>

#include "report.h"

namespace {

/// What callbacks brought, in the order of their event's stages.
struct Reported {
  std::mutex lock;
  std::condition_variable comes;
  std::vector<std::string> lines;
  void wait_for(size_t count) {
    std::unique_lock guard(lock);
    comes.wait(guard, [&] { return lines.size() >= count; });
  }
};

void CL_CALLBACK tell(cl_event, cl_int status, void* data) {
  auto& reported = *static_cast<Reported*>(data);
  const std::lock_guard guard(reported.lock);
  reported.lines.push_back(std::to_string(status));
  reported.comes.notify_all();
}

cl_int status_of(cl_event event) {
  cl_int status = 99;
  said("status", clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  return status;
}

cl_event user_event(cl_context context) {
  cl_int code;
  const auto event = clCreateUserEvent(context, &code);
  need("clCreateUserEvent", code);
  return event;
}

cl_mem buffer(cl_context context, size_t size) {
  cl_int code;
  const auto memory = clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code);
  need("clCreateBuffer", code);
  return memory;
}

// clEnqueueWaitForEvents is left out: PoCL ends the process.
void wrong_calls(cl_context context, cl_command_queue queue) {
  cl_int code = CL_SUCCESS;
  cl_event null_event = nullptr;
  cl_event out = nullptr;
  clCreateUserEvent(nullptr, &code), said("user event of null context", code);
  said("wait for none", clWaitForEvents(0, nullptr));
  said("wait for null", clWaitForEvents(1, &null_event));
  said("info of null", clGetEventInfo(nullptr, CL_EVENT_CONTEXT, 0, nullptr, nullptr));
  said("retain null", clRetainEvent(nullptr));
  said("release null", clReleaseEvent(nullptr));
  said("set null", clSetUserEventStatus(nullptr, CL_COMPLETE));
  said("callback of null", clSetEventCallback(nullptr, CL_COMPLETE, tell, nullptr));
  said("marker with a null list", clEnqueueMarkerWithWaitList(queue, 1, nullptr, &out));
  said("marker with an empty list", clEnqueueMarkerWithWaitList(queue, 0, &null_event, &out));
  said("marker with a null event", clEnqueueMarkerWithWaitList(queue, 1, &null_event, &out));
  said("marker of null queue", clEnqueueMarkerWithWaitList(nullptr, 0, nullptr, &out));
  said("barrier with a null list", clEnqueueBarrierWithWaitList(queue, 1, nullptr, &out));
  said("barrier of null queue", clEnqueueBarrierWithWaitList(nullptr, 0, nullptr, &out));
  said("old marker without event", clEnqueueMarker(queue, nullptr));
  said("old marker of null queue", clEnqueueMarker(nullptr, &out));
  said("profiling of null", clGetEventProfilingInfo(nullptr, CL_PROFILING_COMMAND_START, 0, nullptr, nullptr));
  const auto user = user_event(context);
  said("set to running", clSetUserEventStatus(user, CL_RUNNING));
  said("callback without function", clSetEventCallback(user, CL_COMPLETE, nullptr, nullptr));
  said("callback of a stage that is none", clSetEventCallback(user, 17, tell, nullptr));
  said("callback when queued", clSetEventCallback(user, CL_QUEUED, tell, nullptr));
  said("profiling of a user event", clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_START, 0, nullptr, nullptr));
  said("no such info", clGetEventInfo(user, 0x7777, 0, nullptr, nullptr));
  cl_uint small = 0;
  said("too small", clGetEventInfo(user, CL_EVENT_CONTEXT, 1, &small, nullptr));
  said("set", clSetUserEventStatus(user, CL_COMPLETE));
  said("set again", clSetUserEventStatus(user, CL_COMPLETE));
  said("release", clReleaseEvent(user));
}

void user_events(cl_context context, cl_command_queue queue) {
  const auto memory = buffer(context, 64);
  const auto user = user_event(context);
  cl_command_type type = 0;
  said("type", clGetEventInfo(user, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
  cl_command_queue of = queue;
  said("queue", clGetEventInfo(user, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, nullptr));
  say("user event: %#x, no queue: %d, status %d", type, of == nullptr, status_of(user));
  cl_event filled = nullptr;
  const cl_uchar pattern = 7;
  said("fill behind it", clEnqueueFillBuffer(queue, memory, &pattern, 1, 0, 64, 1, &user, &filled));
  clFlush(queue);
  say("not over: %d", status_of(filled) > CL_COMPLETE);
  Reported reported;
  said("callback", clSetEventCallback(filled, CL_COMPLETE, tell, &reported));
  said("set", clSetUserEventStatus(user, CL_COMPLETE));
  said("wait", clWaitForEvents(1, &filled));
  say("over: %d", status_of(filled));
  reported.wait_for(1);
  say("told: %s", reported.lines[0].c_str());
  Reported late;
  said("callback afterwards", clSetEventCallback(filled, CL_COMPLETE, tell, &late));
  late.wait_for(1);
  say("told: %s", late.lines[0].c_str());
  unsigned char data[64] = {};
  said("read", clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 64, data, 1, &filled, nullptr));
  say("%s", hex(data, 8).c_str());
  clReleaseEvent(filled);
  clReleaseEvent(user);
  clReleaseMemObject(memory);
}

// No callbacks here: PoCL calls none for events that fail, and never ends what is enqueued behind a failed one.
void failing_user_event(cl_context context, cl_command_queue queue) {
  const auto memory = buffer(context, 64);
  const auto user = user_event(context);
  cl_event marker = nullptr;
  said("marker behind it", clEnqueueMarkerWithWaitList(queue, 1, &user, &marker));
  said("set to an error", clSetUserEventStatus(user, -77));
  say("user event: %d", status_of(user));
  said("wait for it", clWaitForEvents(1, &user));
  said("wait for marker", clWaitForEvents(1, &marker));
  say("marker: %d", status_of(marker));
  cl_ulong time = 0;
  said("profiling of it", clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr));
  said("finish", clFinish(queue));
  clReleaseEvent(marker);
  clReleaseEvent(user);
  clReleaseMemObject(memory);
}

void orders(cl_context context, cl_command_queue queue) {
  const auto memory = buffer(context, 4096);
  cl_event events[3] = {};
  for (cl_uchar i = 0; i < 3; i++)
    said("fill", clEnqueueFillBuffer(queue, memory, &i, 1, i * 1024u, 1024, 0, nullptr, &events[i]));
  cl_event marker = nullptr, barrier = nullptr, old = nullptr;
  said("marker", clEnqueueMarkerWithWaitList(queue, 3, events, &marker));
  said("barrier", clEnqueueBarrierWithWaitList(queue, 0, nullptr, &barrier));
  said("old marker", clEnqueueMarker(queue, &old));
  said("old barrier", clEnqueueBarrier(queue));
  std::vector<unsigned char> data(3072);
  cl_event read = nullptr;
  said("read", clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, data.size(), data.data(), 0, nullptr, &read));
  said("finish", clFinish(queue));
  say("%s", digest(data).c_str());
  const cl_event all[] = {marker, barrier, old, read, events[0], events[1], events[2]};
  for (auto event : all) {
    cl_command_type type = 0;
    clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
    cl_context of = nullptr;
    clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof of, &of, nullptr);
    say("%#x status %d, of the context: %d", type, status_of(event), of == context);
    cl_ulong time = 0;
    said("profiling", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr));
    said("no such profiling", clGetEventProfilingInfo(event, 0x7777, sizeof time, &time, nullptr));
    said("release", clReleaseEvent(event));
  }
  clReleaseMemObject(memory);
}

void profiling(cl_context context, cl_command_queue queue) {
  const auto memory = buffer(context, 1 << 20);
  const cl_uint pattern = 5;
  const auto user = user_event(context);
  cl_event event = nullptr;
  said("fill", clEnqueueFillBuffer(queue, memory, &pattern, 4, 0, 1 << 20, 1, &user, &event));
  cl_ulong times[4] = {};
  said("too early", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(cl_ulong), &times[0], nullptr));
  said("set", clSetUserEventStatus(user, CL_COMPLETE));
  said("finish", clFinish(queue));
  for (cl_uint i = 0; i < 4; i++)
    said("time", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof(cl_ulong), &times[i], nullptr));
  say("in order: %d %d %d", times[0] <= times[1], times[1] <= times[2], times[2] <= times[3]);
  size_t size = 0;
  said("size", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 0, nullptr, &size));
  said("too small", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 4, &times[0], nullptr));
  say("%zu", size);
  clReleaseEvent(event);
  clReleaseEvent(user);
  clReleaseMemObject(memory);
}

/// A chain that goes back and forth between two queues, by events alone.
void chain(cl_context context, cl_command_queue one, cl_command_queue other) {
  const auto memory = buffer(context, 4096);
  std::vector<unsigned char> data(4096);
  const auto user = user_event(context);
  cl_event last = user;
  for (cl_uchar i = 1; i <= 8; i++) {
    cl_event next = nullptr;
    need("fill", clEnqueueFillBuffer(i % 2 ? one : other, memory, &i, 1, 0, 4096u - 256u * i, 1, &last, &next));
    clFlush(i % 2 ? one : other);
    if (last != user) clReleaseEvent(last);
    last = next;
  }
  said("set", clSetUserEventStatus(user, CL_COMPLETE));
  said("read", clEnqueueReadBuffer(one, memory, CL_FALSE, 0, data.size(), data.data(), 1, &last, nullptr));
  said("finish", clFinish(one));
  said("finish", clFinish(other));
  say("chain: %s", digest(data.data(), 4096 - 256).c_str());
  clReleaseEvent(last);
  clReleaseEvent(user);
  clReleaseMemObject(memory);
}

}  // namespace

int main() {
  const auto devices = all_devices();
  const auto context = new_context(devices);
  for (size_t d = 0; d < devices.size(); d++) {
    say("device %zu", d);
    const auto plain = new_queue(context, devices[d]);
    const auto profiled = new_queue(context, devices[d], CL_QUEUE_PROFILING_ENABLE);
    wrong_calls(context, plain);
    user_events(context, plain);
    failing_user_event(context, profiled);
    orders(context, plain);
    orders(context, profiled);
    profiling(context, profiled);
    const auto other = new_context({devices[d]});
    const auto foreign = user_event(other);
    cl_event out = nullptr;
    said("marker behind an event of another context", clEnqueueMarkerWithWaitList(plain, 1, &foreign, &out));
    const auto own = user_event(context);
    const cl_event both[] = {own, foreign};
    said("wait for events of two contexts", clWaitForEvents(2, both));
    clSetUserEventStatus(own, CL_COMPLETE);
    clSetUserEventStatus(foreign, CL_COMPLETE);
    clReleaseEvent(own);
    clReleaseEvent(foreign);
    clReleaseContext(other);
    said("release queue", clReleaseCommandQueue(plain));
    said("release queue", clReleaseCommandQueue(profiled));
  }
  const auto first = new_queue(context, devices.front(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto last = new_queue(context, devices.back(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  chain(context, first, last);
  orders(context, first);
  said("release queue", clReleaseCommandQueue(first));
  said("release queue", clReleaseCommandQueue(last));
  said("release context", clReleaseContext(context));
}
