// What every clEnqueue* has in common: checking the queue and the wait list, the event, and waiting for it.
#pragma once

#include <cstdint>
#include <vector>

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// Live objects only; anything else (null, released, foreign) is the API's own CL_INVALID_*.
inline bool is_live(cl_platform_id platform) { return is_object(platform, Kind::platform); }
inline bool is_live(cl_command_queue queue) { return is_object(queue, Kind::queue); }
inline bool is_live(cl_context context) { return is_object(context, Kind::context); }
inline bool is_live(cl_event event) { return is_object(event, Kind::event); }
inline bool is_live(cl_device_id device) { return is_object(device, Kind::device); }

/// Checks the wait list as the specification says (CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT) and gives the
/// handles that stand for those events at the queue's place, mirroring events of other places and user events; events
/// known to have completed are left out. Call it before new_event() for the same command and on the same thread: the
/// new event comes after what was waited for.
cl_int translate_waits(cl_command_queue queue, cl_uint count, const cl_event* list, std::vector<std::uint64_t>& waits);

/// An event for a command of that queue with a fresh handle. The caller has one reference (give it to the application
/// or release it).
cl_event new_event(cl_command_queue queue, cl_command_type type);

/// This event completes when a payload lands here (event->landing, its ticket, is set): call it after new_event() and
/// before the command is sent. settle_event() follows from the payload's Done. Until then later commands' completions
/// wait for it.
void landing_begins(cl_event event);

/// True where an event of the list completes by a payload that has not landed yet: host memory it lands in must not be
/// read before.
bool has_landing(cl_uint count, const cl_event* list);

/// Sets the final status (<= 0) or stage from here: for events that a landed payload completes, or that never left this
/// process. Runs callbacks on the callback thread. Does nothing for an event that is over. It counts as over when the
/// payloads it comes after have landed as well.
void settle_event(cl_event event, cl_int status);

/// Blocks until the event is over; its final status. CL_OUT_OF_RESOURCES when the session ends meanwhile.
cl_int wait_event(cl_event event);

/// The error that the application gets where the session of that queue is lost; or an error the device gave later for a
/// command it had accepted
/// (`failed` notice, reported once by the next blocking call); CL_SUCCESS otherwise.
cl_int queue_error(cl_command_queue queue);

inline void retain_event(cl_event event) { retain(event); }
inline void release_event(cl_event event) { release(event); }

/// Runs `action` on the callback thread of this process, in order.
void run_callback(std::function<void()> action);

/// The clGet*Info convention: copies `value` where it fits. CL_INVALID_VALUE where it does not.
cl_int give_info(const void* value, size_t size, size_t capacity, void* out, size_t* size_out);

}  // namespace flexrack::client::opencl
