// Which place holds the valid bytes of a memory object, and bringing them where a command needs them.
#pragma once

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// Makes the object usable by a command of this queue: creates it at the queue's place if it is not there, charges the queue's device where the context has
/// several, brings the valid bytes over (adding the event to wait for to `waits`), and notes that the command will write it.
/// Costs one comparison in a context of one place and one device. Errors are the API's own.
cl_int use_memory(cl_command_queue queue, cl_mem memory, bool is_written, std::vector<std::uint64_t>& waits);

/// The handle of a memory object at a place where use_memory() has been.
std::uint64_t handle_at(cl_mem memory, std::size_t place);

bool is_live(cl_mem memory);
bool is_live(cl_sampler sampler);
cl_context context_of(cl_mem memory);

}  // namespace flexrack::client::opencl
