// Which payloads a command comes after: the part of enqueue.h that is between events, queues and wait lists.
#pragma once

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// At the start of a wait list: nothing of an earlier one counts.
void forget_waited();
/// An event of the list that is not over.
void note_waited(cl_event event);
/// At its end: later commands of a queue in order come after the same payloads, whether this one has an event or not.
void pass_waited_on(cl_command_queue queue);

/// A new event comes after what its queue, its wait list and, with `after_all`, everything on its queue come after.
void put_behind(cl_event event, bool after_all);

void landing_ends(cl_event event);

}  // namespace flexrack::client::opencl
