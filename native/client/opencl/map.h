// What is mapped of a memory object, and the client memory that shows it.
#pragma once

#include "client/opencl/memory_objects.h"

namespace flexrack::client::opencl {

/// Where this process sees the first byte of a root's memory: the application's own where it gave some. Null without
/// memory. The root's lock is held.
std::byte* client_memory(cl_mem root);

/// CL_INVALID_OPERATION for map flags that the object's host access flags exclude.
cl_int check_map_access(cl_mem memory, cl_map_flags flags);

/// Notes a mapping; the root is retained until it is taken away.
void enter_mapping(cl_mem root, const Mapping& mapping);
/// The first mapping of that address, taken away; none: its object is null.
Mapping take_mapping(cl_mem root, const void* pointer);

/// The parts of a mapped range whose bytes must be fetched: not those that the application has mapped for writing
/// already. The root's lock is held.
std::vector<std::pair<std::size_t, std::size_t>> parts_to_fetch(cl_mem root, std::size_t offset, std::size_t size);

}  // namespace flexrack::client::opencl
