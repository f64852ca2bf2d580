// Boxes of buffers: to and from host memory, and between buffers.
#include "client/opencl/rect.h"

#include "client/opencl/memory_check.h"
#include "client/opencl/memory_send.h"

namespace flexrack::client::opencl {

namespace {

/// The arguments of a transfer between a buffer and host memory.
struct Box {
  const std::size_t* buffer_origin;
  const std::size_t* host_origin;
  const std::size_t* region;
  std::size_t buffer_row, buffer_slice, host_row, host_slice;
  const void* pointer;

  cl_int check(cl_mem buffer) {
    if (!pointer || !buffer_origin || !host_origin || !region) return CL_INVALID_VALUE;
    if (region[0] == 0 || region[1] == 0 || region[2] == 0) return CL_INVALID_VALUE;
    if (const auto error = check_rect(buffer->size, buffer_origin, region, buffer_row, buffer_slice)) return error;
    return check_rect(SIZE_MAX, host_origin, region, host_row, host_slice);
  }
  Rows rows() const {
    const auto* first = static_cast<const std::uint8_t*>(pointer) + host_origin[2] * host_slice +
                        host_origin[1] * host_row + host_origin[0];
    auto made = one_row(first, region[0]);
    made.height = region[1];
    made.depth = region[2];
    made.row_pitch = host_row;
    made.slice_pitch = host_slice;
    return made;
  }
  template <class Message>
  Message message(cl_command_queue queue, cl_mem buffer) const {
    Message made;
    made.memory = handle_at(buffer, queue->place);
    made.origin = triple(buffer_origin);
    made.region = triple(region);
    made.row_pitch = buffer_row;
    made.slice_pitch = buffer_slice;
    return made;
  }
};

cl_int check_object(cl_command_queue queue, cl_mem buffer, cl_mem_flags forbidden) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!is_live(buffer)) return CL_INVALID_MEM_OBJECT;
  if (const auto error = check_alignment(queue, buffer)) return error;
  if (buffer->type != CL_MEM_OBJECT_BUFFER) return CL_INVALID_MEM_OBJECT;
  if (buffer->flags & forbidden) return CL_INVALID_OPERATION;
  return queue->context == buffer->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int check_copy_object(cl_command_queue queue, cl_mem buffer) {
  if (buffer->type != CL_MEM_OBJECT_BUFFER) return CL_INVALID_MEM_OBJECT;
  if (const auto error = check_alignment(queue, buffer)) return error;
  return check_fits(queue, buffer);
}

}  // namespace

cl_int clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
                               const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                               size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                               size_t host_slice_pitch, void* ptr, cl_uint num_events_in_wait_list,
                               const cl_event* event_wait_list, cl_event* event) {
  if (const auto error = check_object(command_queue, buffer, CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS))
    return error;
  Enqueue command{command_queue, CL_COMMAND_READ_BUFFER_RECT, num_events_in_wait_list, event_wait_list,
                  event,         blocking_read != CL_FALSE};
  if (const auto error = command.take_waits()) return error;
  Box box{buffer_origin,      host_origin,    region,           buffer_row_pitch,
          buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr};
  if (const auto error = box.check(buffer)) return error;
  if (const auto error = check_fits(command_queue, buffer)) return error;
  if (const auto error = use_memory(command_queue, buffer, false, command.waits)) return error;
  return submit_read(command, box.message<cl::ReadRect>(command_queue, buffer), box.rows(), buffer);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write,
                                const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                                size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                                size_t host_slice_pitch, const void* ptr, cl_uint num_events_in_wait_list,
                                const cl_event* event_wait_list, cl_event* event) {
  if (const auto error = check_object(command_queue, buffer, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))
    return error;
  Enqueue command{command_queue, CL_COMMAND_WRITE_BUFFER_RECT, num_events_in_wait_list, event_wait_list,
                  event,         blocking_write != CL_FALSE};
  if (const auto error = command.take_waits()) return error;
  Box box{buffer_origin,      host_origin,    region,           buffer_row_pitch,
          buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr};
  if (const auto error = box.check(buffer)) return error;
  if (const auto error = check_fits(command_queue, buffer)) return error;
  if (const auto error = use_memory(command_queue, buffer, true, command.waits)) return error;
  return submit_write(command, box.message<cl::WriteRect>(command_queue, buffer), box.rows(), buffer);
}

cl_int clEnqueueCopyBufferRect(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                               const size_t* src_origin, const size_t* dst_origin, const size_t* region,
                               size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch,
                               size_t dst_slice_pitch, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                               cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (const auto error = check_wait_shape(num_events_in_wait_list, event_wait_list)) return error;
  if (!is_live(src_buffer) || !is_live(dst_buffer)) return CL_INVALID_MEM_OBJECT;
  if (command_queue->context != src_buffer->context || command_queue->context != dst_buffer->context)
    return CL_INVALID_CONTEXT;
  if (!src_origin || !dst_origin || !region) return CL_INVALID_VALUE;
  if (const auto error = check_copy_object(command_queue, src_buffer)) return error;
  if (const auto error = check_copy_object(command_queue, dst_buffer)) return error;
  if (region[0] == 0 || region[1] == 0 || region[2] == 0) return CL_INVALID_VALUE;
  if (const auto error = check_rect(src_buffer->size, src_origin, region, src_row_pitch, src_slice_pitch)) return error;
  if (const auto error = check_rect(dst_buffer->size, dst_origin, region, dst_row_pitch, dst_slice_pitch)) return error;
  if (src_buffer == dst_buffer) {
    if (src_slice_pitch != dst_slice_pitch || src_row_pitch != dst_row_pitch) return CL_INVALID_VALUE;
    if (rects_overlap(src_origin, dst_origin, region, src_row_pitch, src_slice_pitch)) return CL_MEM_COPY_OVERLAP;
  }
  Enqueue command{command_queue, CL_COMMAND_COPY_BUFFER_RECT, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  if (const auto error = use_memory(command_queue, src_buffer, false, command.waits)) return error;
  if (const auto error = use_memory(command_queue, dst_buffer, true, command.waits)) return error;
  cl::CopyRect message;
  message.source = handle_at(src_buffer, command_queue->place);
  message.target = handle_at(dst_buffer, command_queue->place);
  message.source_origin = triple(src_origin);
  message.target_origin = triple(dst_origin);
  message.region = triple(region);
  message.source_row_pitch = src_row_pitch;
  message.source_slice_pitch = src_slice_pitch;
  message.target_row_pitch = dst_row_pitch;
  message.target_slice_pitch = dst_slice_pitch;
  return submit(command, message, {dst_buffer});
}

}  // namespace flexrack::client::opencl
