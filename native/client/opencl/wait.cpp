// Markers, barriers and waiting, in their old and new forms.
#include <algorithm>

#include "client/opencl/event.h"
#include "client/opencl/inbox.h"

namespace flexrack::client::opencl {
namespace {

enum class Order { marker, barrier };

template <class Message>
cl_int enqueue(cl_command_queue queue, cl_command_type type, Order order, cl_uint count, const cl_event* list,
               cl_event* event_out) {
  std::vector<std::uint64_t> waits;
  if (const auto error = translate_waits(queue, count, list, waits); error != CL_SUCCESS) return error;
  const bool is_needed = event_out || order == Order::barrier;
  const auto event = !is_needed ? nullptr : count == 0 ? new_event_after_all(queue, type) : new_event(queue, type);
  Message message;
  message.queue = queue->handle;
  message.event = event ? event->handle : 0;
  message.waits = waits;
  if (order == Order::barrier) fence(queue, event);
  const bool is_sent = queue->session().send(message);
  if (event_out && is_sent) {
    *event_out = event;
  } else if (event) {
    release_event(event);
  }
  return is_sent ? CL_SUCCESS : kLost;
}

/// clEnqueueWaitForEvents and clWaitForEvents want events where the others want a list or none.
cl_int check_events(cl_uint count, const cl_event* list) {
  if (count == 0 || !list) return CL_INVALID_VALUE;
  if (!std::all_of(list, list + count, [](cl_event event) { return is_live(event); })) return CL_INVALID_EVENT;
  return std::all_of(list, list + count, [&](cl_event event) { return event->context == list[0]->context; })
             ? CL_SUCCESS
             : CL_INVALID_CONTEXT;
}

}  // namespace

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint num_events_in_wait_list,
                                   const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  return enqueue<cl::Marker>(queue, CL_COMMAND_MARKER, Order::marker, num_events_in_wait_list, event_wait_list, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  return enqueue<cl::Barrier>(queue, CL_COMMAND_BARRIER, Order::barrier, num_events_in_wait_list, event_wait_list,
                              event);
}

cl_int clEnqueueMarker(cl_command_queue queue, cl_event* event) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  return event ? clEnqueueMarkerWithWaitList(queue, 0, nullptr, event) : CL_INVALID_VALUE;
}

cl_int clEnqueueBarrier(cl_command_queue queue) { return clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr); }

cl_int clEnqueueWaitForEvents(cl_command_queue queue, cl_uint num_events, const cl_event* event_list) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (const auto error = check_events(num_events, event_list); error != CL_SUCCESS) return error;
  if (event_list[0]->context != queue->context) return CL_INVALID_CONTEXT;
  return clEnqueueBarrierWithWaitList(queue, num_events, event_list, nullptr);
}

cl_int clWaitForEvents(cl_uint num_events, const cl_event* event_list) {
  if (const auto error = check_events(num_events, event_list); error != CL_SUCCESS) return error;
  // All are asked for before the first is waited for: one round trip for all of a server.
  for (cl_uint i = 0; i < num_events; ++i) {
    const auto event = event_list[i];
    if (event->is_final() || !event->queue) continue;
    if (!event->landed_here) watch_event(event);
    session_of(event)->link().flush();
  }
  cl_int result = CL_SUCCESS;
  for (cl_uint i = 0; i < num_events; ++i) {
    if (wait_event(event_list[i]) < CL_COMPLETE) result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  return result;
}

}  // namespace flexrack::client::opencl
