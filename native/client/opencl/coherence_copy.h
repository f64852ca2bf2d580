// Moving the bytes of a memory object to another place of its context.
#pragma once

#include "client/opencl/memory_objects.h"

namespace flexrack::client::opencl {

/// Sends what the application gave at creation to the queue's place. `done`: the command that writes it there, held for
/// the caller.
cl_int send_content(cl_command_queue queue, cl_mem root, std::size_t offset, std::size_t size, cl_event* done);

/// Copies a range (of an image: all of it) from a place to the queue's, from server to server where they reach each
/// other, else through this process. `after`: handles at the source that come before. `done` as above.
cl_int copy_between(cl_command_queue queue, cl_mem root, std::size_t source, std::size_t offset, std::size_t size,
                    const std::vector<std::uint64_t>& after, cl_event* done);

}  // namespace flexrack::client::opencl
