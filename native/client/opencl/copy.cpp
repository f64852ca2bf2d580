// Copies between buffers.
#include "client/opencl/memory_check.h"
#include "client/opencl/memory_send.h"

namespace flexrack::client::opencl {

namespace {

bool ranges_overlap(std::size_t a, std::size_t b, std::size_t size) { return a < b + size && b < a + size; }

cl_int check(cl_command_queue queue, cl_mem source, cl_mem target, std::size_t source_offset, std::size_t target_offset,
             std::size_t size) {
  if (!is_live(source) || !is_live(target)) return CL_INVALID_MEM_OBJECT;
  if (source->type != CL_MEM_OBJECT_BUFFER || target->type != CL_MEM_OBJECT_BUFFER) return CL_INVALID_MEM_OBJECT;
  if (queue->context != source->context || queue->context != target->context) return CL_INVALID_CONTEXT;
  if (const auto error = check_alignment(queue, source)) return error;
  if (const auto error = check_alignment(queue, target)) return error;
  if (size == 0) return CL_INVALID_VALUE;
  if (const auto error = check_fits(queue, source)) return error;
  if (check_bounds(source->size, source_offset, size) != CL_SUCCESS ||
      check_bounds(target->size, target_offset, size) != CL_SUCCESS)
    return CL_INVALID_VALUE;
  if (const auto error = check_fits(queue, target)) return error;
  const bool is_same = source->root() == target->root();
  return is_same && ranges_overlap(source->root_offset() + source_offset, target->root_offset() + target_offset, size)
             ? CL_MEM_COPY_OVERLAP
             : CL_SUCCESS;
}

}  // namespace

cl_int clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer, size_t src_offset,
                           size_t dst_offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (const auto error = check_wait_shape(num_events_in_wait_list, event_wait_list)) return error;
  if (const auto error = check(command_queue, src_buffer, dst_buffer, src_offset, dst_offset, size)) return error;
  Enqueue command{command_queue, CL_COMMAND_COPY_BUFFER, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  if (const auto error = use_memory(command_queue, src_buffer, false, command.waits)) return error;
  if (const auto error = overwrite_memory(command_queue, dst_buffer, dst_offset, size, command.waits)) return error;
  cl::CopyBuffer message;
  message.source = handle_at(src_buffer, command_queue->place);
  message.target = handle_at(dst_buffer, command_queue->place);
  message.source_offset = src_offset;
  message.target_offset = dst_offset;
  message.size = size;
  return submit(command, message, {dst_buffer});
}

}  // namespace flexrack::client::opencl
