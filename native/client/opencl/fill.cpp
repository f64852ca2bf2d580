// Filling buffers with a pattern.
#include "client/opencl/memory_check.h"
#include "client/opencl/memory_send.h"

namespace flexrack::client::opencl {

namespace {

cl_int check(cl_command_queue queue, cl_mem buffer, const void* pattern, std::size_t pattern_size, std::size_t offset,
             std::size_t size) {
  if (!is_live(buffer)) return CL_INVALID_MEM_OBJECT;
  if (queue->context != buffer->context) return CL_INVALID_CONTEXT;
  if (buffer->type != CL_MEM_OBJECT_BUFFER) return CL_INVALID_MEM_OBJECT;
  if (const auto error = check_alignment(queue, buffer)) return error;
  if (check_bounds(buffer->size, offset, size) != CL_SUCCESS) return CL_INVALID_VALUE;
  if (!pattern || pattern_size == 0 || pattern_size > 128 || (pattern_size & (pattern_size - 1)) != 0)
    return CL_INVALID_VALUE;
  if (offset % pattern_size != 0 || size % pattern_size != 0) return CL_INVALID_VALUE;
  return check_fits(queue, buffer);
}

}  // namespace

cl_int clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void* pattern, size_t pattern_size,
                           size_t offset, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                           cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  Enqueue command{command_queue, CL_COMMAND_FILL_BUFFER, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  if (const auto error = check(command_queue, buffer, pattern, pattern_size, offset, size)) return error;
  if (size == 0) {
    // PoCL takes it, and the specification has no error for it; other drivers refuse it.
    if (const auto error = use_memory(command_queue, buffer, false, command.waits)) return error;
    return submit_nothing(command, buffer);
  }
  if (const auto error = overwrite_memory(command_queue, buffer, offset, size, command.waits)) return error;
  cl::FillBuffer message;
  message.memory = handle_at(buffer, command_queue->place);
  message.offset = offset;
  message.size = size;
  message.pattern = {static_cast<const std::uint8_t*>(pattern), pattern_size};
  return submit(command, message, {buffer});
}

}  // namespace flexrack::client::opencl
