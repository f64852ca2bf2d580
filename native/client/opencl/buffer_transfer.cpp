// Reading and writing buffers, in one piece.
#include "client/opencl/buffer_transfer.h"
#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

cl_int check(cl_command_queue queue, cl_mem buffer, cl_mem_flags forbidden, std::size_t offset, std::size_t size,
             const void* pointer) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!is_live(buffer)) return CL_INVALID_MEM_OBJECT;
  if (const auto error = check_alignment(queue, buffer)) return error;
  if (queue->context != buffer->context) return CL_INVALID_CONTEXT;
  if (buffer->flags & forbidden) return CL_INVALID_OPERATION;
  if (!pointer) return CL_INVALID_VALUE;
  if (check_bounds(buffer->size, offset, size) != CL_SUCCESS) return CL_INVALID_VALUE;
  return check_fits(queue, buffer);
}

}  // namespace

cl_int read_buffer(Enqueue& command, cl_mem buffer, std::size_t offset, const Rows& rows) {
  if (rows.size() == 0) return submit_nothing(command, buffer);
  cl::ReadBuffer message;
  message.memory = handle_at(buffer, command.queue->place);
  message.offset = offset;
  message.size = rows.size();
  return submit_read(command, message, rows, buffer);
}

cl_int write_buffer(Enqueue& command, cl_mem buffer, std::size_t offset, const Rows& rows) {
  if (rows.size() == 0) return submit_nothing(command, buffer);
  cl::WriteBuffer message;
  message.memory = handle_at(buffer, command.queue->place);
  message.offset = offset;
  return submit_write(command, message, rows, buffer);
}

cl_int clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read, size_t offset,
                           size_t size, void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                           cl_event* event) {
  if (const auto error =
          check(command_queue, buffer, CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS, offset, size, ptr))
    return error;
  Enqueue command{command_queue, CL_COMMAND_READ_BUFFER,   num_events_in_wait_list, event_wait_list,
                  event,         blocking_read != CL_FALSE};
  if (const auto error = command.take_waits()) return error;
  if (const auto error = use_memory(command_queue, buffer, false, command.waits)) return error;
  return read_buffer(command, buffer, offset, one_row(ptr, size));
}

cl_int clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write, size_t offset,
                            size_t size, const void* ptr, cl_uint num_events_in_wait_list,
                            const cl_event* event_wait_list, cl_event* event) {
  if (const auto error = check(command_queue, buffer, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, offset, size, ptr))
    return error;
  Enqueue command{command_queue, CL_COMMAND_WRITE_BUFFER,   num_events_in_wait_list, event_wait_list,
                  event,         blocking_write != CL_FALSE};
  if (const auto error = command.take_waits()) return error;
  if (const auto error = overwrite_memory(command_queue, buffer, offset, size, command.waits)) return error;
  return write_buffer(command, buffer, offset, one_row(ptr, size));
}

}  // namespace flexrack::client::opencl
