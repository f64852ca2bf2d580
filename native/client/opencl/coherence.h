// Which place holds the valid bytes of a memory object, and bringing them where a command needs them.
#pragma once

#include "client/opencl/memory_objects.h"

namespace flexrack::client::opencl {

/// Makes the object usable by a command of this queue: creates it at the queue's place if it is not there, charges the
/// queue's device where the context has several, brings the valid bytes over (adding the event to wait for to `waits`),
/// and notes that the command will write it. Costs one comparison in a context of one place and one device. Errors are
/// the API's own.
cl_int use_memory(cl_command_queue queue, cl_mem memory, bool is_written, std::vector<std::uint64_t>& waits);

/// The same for a command that writes all of [offset, offset + size): those bytes need not be brought over.
cl_int overwrite_memory(cl_command_queue queue, cl_mem memory, std::size_t offset, std::size_t size,
                        std::vector<std::uint64_t>& waits);

/// True for a context of several places. There a command that writes memory always has an event, and after it was sent
/// note_writer() is told of it for each object it writes, so that copies to other places wait for it.
inline bool spans_places(cl_context context) { return context->places.size() > 1; }
void note_writer(cl_mem memory, cl_event event);

/// The handle of a memory object at a place where use_memory() has been.
std::uint64_t handle_at(cl_mem memory, std::size_t place);

inline bool is_live(cl_mem memory) { return is_object(memory, Kind::memory); }
inline bool is_live(cl_sampler sampler) { return is_object(sampler, Kind::sampler); }
cl_context context_of(cl_mem memory);

}  // namespace flexrack::client::opencl
