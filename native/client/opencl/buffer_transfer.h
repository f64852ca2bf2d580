// Moving bytes of a buffer that was checked and is usable at the queue's place.
#pragma once

#include "client/opencl/memory_send.h"

namespace flexrack::client::opencl {

cl_int read_buffer(Enqueue& command, cl_mem buffer, std::size_t offset, const Rows& rows);
cl_int write_buffer(Enqueue& command, cl_mem buffer, std::size_t offset, const Rows& rows);

}  // namespace flexrack::client::opencl
