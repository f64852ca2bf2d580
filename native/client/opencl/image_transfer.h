// Moving elements of an image that was checked and is usable at the queue's place.
#pragma once

#include "client/opencl/memory_send.h"

namespace flexrack::client::opencl {

cl_int read_image(Enqueue& command, cl_mem image, const std::size_t* origin, const std::size_t* region,
                  const Rows& rows);
cl_int write_image(Enqueue& command, cl_mem image, const std::size_t* origin, const std::size_t* region,
                   const Rows& rows);

}  // namespace flexrack::client::opencl
