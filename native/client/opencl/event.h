// How an event's life goes on: what the API's functions and the notices of the servers have in common.
#pragma once

#include "client/opencl/enqueue.h"

namespace flexrack::client::opencl {

/// What commands of a lost session end with.
inline constexpr cl_int kLost = CL_OUT_OF_RESOURCES;

/// Over now, whatever it comes after; what hangs on it goes on: callbacks, mirrors, events that wait behind it. Nothing
/// where it is over already.
void finish_event(cl_event event, cl_int status);

/// The device's word on it: times, and the final status where no payload is to land for it.
void take_completion(cl_event event, const cl::Completion& completion);

/// Asks the server, once, to tell when it is over. Not for user events.
void watch_event(cl_event event);

/// For a command that comes after everything on its queue, in order or not: markers and barriers without a wait list.
cl_event new_event_after_all(cl_command_queue queue, cl_command_type type);

/// After a barrier: later commands of an out-of-order queue come after the payloads that `barrier` came after.
void fence(cl_command_queue queue, cl_event barrier);

/// The handle of the user event that stands for this one at that place of its context; 0 where that server is lost.
std::uint64_t mirror_event(cl_event event, std::size_t place);

/// The session an event is native at; null for a user event.
Session* session_of(cl_event event);
Inbox* inbox_of(cl_event event);

/// Blocks until a user event is set.
cl_int wait_user_event(cl_event event);

}  // namespace flexrack::client::opencl
