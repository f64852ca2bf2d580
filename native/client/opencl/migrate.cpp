// Moving memory objects ahead of the commands that need them.
#include "client/opencl/memory_check.h"
#include "client/opencl/memory_send.h"

namespace flexrack::client::opencl {

cl_int clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects, const cl_mem* mem_objects,
                                  cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                                  const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (num_mem_objects == 0 || !mem_objects) return CL_INVALID_VALUE;
  constexpr cl_mem_migration_flags kKnown = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  if (flags & ~kKnown) return CL_INVALID_VALUE;
  Enqueue command{command_queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  for (cl_uint i = 0; i < num_mem_objects; ++i) {
    if (!is_live(mem_objects[i])) return CL_INVALID_MEM_OBJECT;
    if (mem_objects[i]->context != command_queue->context) return CL_INVALID_CONTEXT;
  }
  std::vector<std::uint64_t> handles;
  for (cl_uint i = 0; i < num_mem_objects; ++i) {
    if (const auto error = use_memory(command_queue, mem_objects[i], false, command.waits)) return error;
    handles.push_back(handle_at(mem_objects[i], command_queue->place));
  }
  cl::Migrate message;
  message.flags = flags;
  message.objects = handles;
  return submit(command, message);
}

cl_int clEnqueueMigrateMemObjectEXT(cl_command_queue command_queue, cl_uint num_mem_objects, const cl_mem* mem_objects,
                                    cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event) {
  return clEnqueueMigrateMemObjects(command_queue, num_mem_objects, mem_objects, flags, num_events_in_wait_list,
                                    event_wait_list, event);
}

}  // namespace flexrack::client::opencl
