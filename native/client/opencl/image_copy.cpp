// Copies between images, and between images and buffers.
#include "client/opencl/image_create.h"
#include "client/opencl/memory_check.h"
#include "client/opencl/memory_send.h"

namespace flexrack::client::opencl {

namespace {

bool boxes_meet(const std::size_t* a, const std::size_t* b, const std::size_t* region) {
  for (int axis = 0; axis < 3; ++axis) {
    if (a[axis] >= b[axis] + region[axis] || b[axis] >= a[axis] + region[axis]) return false;
  }
  return true;
}

/// What comes before the checks of the wait list, as PoCL has it.
cl_int check_formats(cl_mem source, cl_mem target) {
  if (!is_live(source) || !is_live(target) || !source->is_image() || !target->is_image()) return CL_INVALID_MEM_OBJECT;
  const auto &a = source->image.format, &b = target->image.format;
  return a.image_channel_order == b.image_channel_order && a.image_channel_data_type == b.image_channel_data_type
             ? CL_SUCCESS
             : CL_IMAGE_FORMAT_MISMATCH;
}

cl_int check_images(cl_command_queue queue, cl_mem source, cl_mem target, const std::size_t* source_origin,
                    const std::size_t* target_origin, const std::size_t* region) {
  if (queue->context != source->context || queue->context != target->context) return CL_INVALID_CONTEXT;
  if (!source_origin || !target_origin || !region) return CL_INVALID_VALUE;
  if (const auto error = check_image_region(source, source_origin, region)) return error;
  if (const auto error = check_image_region(target, target_origin, region)) return error;
  return source == target && boxes_meet(source_origin, target_origin, region) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS;
}

cl_int check_with_buffer(const Enqueue& command, cl_mem image, cl_mem buffer, const std::size_t* origin,
                         const std::size_t* region, std::size_t offset) {
  auto* queue = command.queue;
  if (!is_live(image) || !is_live(buffer)) return CL_INVALID_MEM_OBJECT;
  if (const auto error = check_alignment(queue, buffer)) return error;
  if (const auto error = check_wait_shape(command.count, command.list)) return error;
  if (queue->context != image->context || queue->context != buffer->context) return CL_INVALID_CONTEXT;
  if (!origin || !region) return CL_INVALID_VALUE;
  if (!image->is_image() || buffer->type != CL_MEM_OBJECT_BUFFER) return CL_INVALID_MEM_OBJECT;
  if (const auto error = check_image_region(image, origin, region)) return error;
  const auto bytes = region[0] * region[1] * region[2] * image->image.element_size;
  if (check_bounds(buffer->size, offset, bytes) != CL_SUCCESS) return CL_INVALID_VALUE;
  return check_fits(queue, buffer);
}

}  // namespace

cl_int clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image, const size_t* src_origin,
                          const size_t* dst_origin, const size_t* region, cl_uint num_events_in_wait_list,
                          const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (const auto error = check_formats(src_image, dst_image)) return error;
  if (const auto error = check_wait_shape(num_events_in_wait_list, event_wait_list)) return error;
  if (const auto error = check_images(command_queue, src_image, dst_image, src_origin, dst_origin, region))
    return error;
  Enqueue command{command_queue, CL_COMMAND_COPY_IMAGE, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  if (const auto error = use_memory(command_queue, src_image, false, command.waits)) return error;
  if (const auto error = use_memory(command_queue, dst_image, true, command.waits)) return error;
  cl::CopyImage message;
  message.source = handle_at(src_image, command_queue->place);
  message.target = handle_at(dst_image, command_queue->place);
  message.source_origin = triple(src_origin);
  message.target_origin = triple(dst_origin);
  message.region = triple(region);
  return submit(command, message, {dst_image});
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_buffer,
                                  const size_t* src_origin, const size_t* region, size_t dst_offset,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  Enqueue command{command_queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = check_with_buffer(command, src_image, dst_buffer, src_origin, region, dst_offset))
    return error;
  if (const auto error = command.take_waits()) return error;
  if (const auto error = use_memory(command_queue, src_image, false, command.waits)) return error;
  if (const auto error = use_memory(command_queue, dst_buffer, true, command.waits)) return error;
  cl::CopyImageToBuffer message;
  message.source = handle_at(src_image, command_queue->place);
  message.target = handle_at(dst_buffer, command_queue->place);
  message.origin = triple(src_origin);
  message.region = triple(region);
  message.offset = dst_offset;
  return submit(command, message, {dst_buffer});
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_image,
                                  size_t src_offset, const size_t* dst_origin, const size_t* region,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  Enqueue command{command_queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = check_with_buffer(command, dst_image, src_buffer, dst_origin, region, src_offset))
    return error;
  if (const auto error = command.take_waits()) return error;
  if (const auto error = use_memory(command_queue, src_buffer, false, command.waits)) return error;
  if (const auto error = use_memory(command_queue, dst_image, true, command.waits)) return error;
  cl::CopyBufferToImage message;
  message.source = handle_at(src_buffer, command_queue->place);
  message.target = handle_at(dst_image, command_queue->place);
  message.offset = src_offset;
  message.origin = triple(dst_origin);
  message.region = triple(region);
  return submit(command, message, {dst_image});
}

}  // namespace flexrack::client::opencl
