// What every clEnqueue* has in common: checking the queue and the wait list, the event, and waiting for it.
#pragma once

#include <cstdint>
#include <vector>

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// Live objects only; anything else (null, released, foreign) is the API's own CL_INVALID_*.
bool is_live(cl_command_queue queue);
bool is_live(cl_context context);
bool is_live(cl_event event);
bool is_live(cl_device_id device);

/// Checks the wait list as the specification says (CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT) and gives the handles that stand for those
/// events at the queue's place, mirroring events of other places and user events; events known to have completed are left out.
cl_int translate_waits(cl_command_queue queue, cl_uint count, const cl_event* list, std::vector<std::uint64_t>& waits);

/// An event for a command of that queue with a fresh handle. The caller has one reference (give it to the application or release it).
cl_event new_event(cl_command_queue queue, cl_command_type type);

/// Sets the final status (<= 0) or stage from here: for events that a landed payload completes, or that never left this process. Runs callbacks on the callback thread.
void settle_event(cl_event event, cl_int status);

/// Blocks until the event is over; its final status. CL_OUT_OF_RESOURCES when the session ends meanwhile.
cl_int wait_event(cl_event event);

/// The error that the application gets where the session of that queue is lost; or an error the device gave later for a command it had accepted
/// (`failed` notice, reported once by the next blocking call); CL_SUCCESS otherwise.
cl_int queue_error(cl_command_queue queue);

void retain_event(cl_event event);
void release_event(cl_event event);

/// Runs `action` on the callback thread of this process, in order.
void run_callback(std::function<void()> action);

/// The clGet*Info convention: copies `value` where it fits. CL_INVALID_VALUE where it does not.
cl_int give_info(const void* value, size_t size, size_t capacity, void* out, size_t* size_out);

}  // namespace flexrack::client::opencl
