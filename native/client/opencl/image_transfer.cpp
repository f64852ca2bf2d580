// Reading, writing and filling images.
#include "client/opencl/image_transfer.h"

#include "client/opencl/image_create.h"
#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

cl_int check_object(cl_command_queue queue, cl_mem image, const void* pointer) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!is_live(image)) return CL_INVALID_MEM_OBJECT;
  if (!pointer) return CL_INVALID_VALUE;
  if (queue->context != image->context) return CL_INVALID_CONTEXT;
  return image->is_image() ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

}  // namespace

cl_int read_image(Enqueue& command, cl_mem image, const std::size_t* origin, const std::size_t* region,
                  const Rows& rows) {
  cl::ReadImage message;
  message.memory = handle_at(image, command.queue->place);
  message.origin = triple(origin);
  message.region = triple(region);
  message.size = rows.size();
  return submit_read(command, message, rows, image);
}

cl_int write_image(Enqueue& command, cl_mem image, const std::size_t* origin, const std::size_t* region,
                   const Rows& rows) {
  cl::WriteImage message;
  message.memory = handle_at(image, command.queue->place);
  message.origin = triple(origin);
  message.region = triple(region);
  return submit_write(command, message, rows, image);
}

cl_int clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read, const size_t* origin,
                          const size_t* region, size_t row_pitch, size_t slice_pitch, void* ptr,
                          cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  if (const auto error = check_object(command_queue, image, ptr)) return error;
  Enqueue command{command_queue, CL_COMMAND_READ_IMAGE,    num_events_in_wait_list, event_wait_list,
                  event,         blocking_read != CL_FALSE};
  if (const auto error = command.take_waits()) return error;
  if (image->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) return CL_INVALID_OPERATION;
  if (const auto error = check_image_region(image, origin, region)) return error;
  if (const auto error = use_memory(command_queue, image, false, command.waits)) return error;
  return read_image(command, image, origin, region, image_rows(image, ptr, region, row_pitch, slice_pitch));
}

cl_int clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_write, const size_t* origin,
                           const size_t* region, size_t input_row_pitch, size_t input_slice_pitch, const void* ptr,
                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  if (const auto error = check_object(command_queue, image, ptr)) return error;
  Enqueue command{command_queue, CL_COMMAND_WRITE_IMAGE,    num_events_in_wait_list, event_wait_list,
                  event,         blocking_write != CL_FALSE};
  if (const auto error = command.take_waits()) return error;
  if (image->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) return CL_INVALID_OPERATION;
  if (const auto error = check_image_region(image, origin, region)) return error;
  if (const auto error = use_memory(command_queue, image, true, command.waits)) return error;
  return write_image(command, image, origin, region,
                     image_rows(image, ptr, region, input_row_pitch, input_slice_pitch));
}

cl_int clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void* fill_color, const size_t* origin,
                          const size_t* region, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                          cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  Enqueue command{command_queue, CL_COMMAND_FILL_IMAGE, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  if (!is_live(image)) return CL_INVALID_MEM_OBJECT;
  if (!origin || !region || !fill_color) return CL_INVALID_VALUE;
  if (command_queue->context != image->context) return CL_INVALID_CONTEXT;
  if (!image->is_image()) return CL_INVALID_MEM_OBJECT;
  if (const auto error = check_image_region(image, origin, region)) return error;
  if (const auto error = use_memory(command_queue, image, true, command.waits)) return error;
  cl::FillImage message;
  message.memory = handle_at(image, command_queue->place);
  message.origin = triple(origin);
  message.region = triple(region);
  // Four channels of 32 bits; a depth image has one float.
  message.color = {static_cast<const std::uint8_t*>(fill_color),
                   image->image.format.image_channel_order == CL_DEPTH ? sizeof(cl_float) : 16};
  return submit(command, message, {image});
}

}  // namespace flexrack::client::opencl
