// Creating buffers, and parts of them.
#include <algorithm>

#include "client/opencl/buffer_create.h"
#include "client/opencl/coherence.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/info.h"
#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

/// What the server's own object needs to know: how kernels may use it. Host pointers and host access mean something in
/// this process only.
cl_mem_flags server_flags(cl_mem_flags flags) { return flags & (kAccessFlags | CL_MEM_KERNEL_READ_AND_WRITE); }

cl_int check_part(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type kind, const void* info) {
  if (!is_live(buffer) || buffer->type != CL_MEM_OBJECT_BUFFER || buffer->parent) return CL_INVALID_MEM_OBJECT;
  if (!info || kind != CL_BUFFER_CREATE_TYPE_REGION) return CL_INVALID_VALUE;
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  if (region.size == 0) return CL_INVALID_BUFFER_SIZE;
  if (check_bounds(buffer->size, region.origin, region.size) != CL_SUCCESS) return CL_INVALID_VALUE;
  if (const auto error = check_inherited_flags(buffer, flags)) return error;
  const auto& devices = buffer->context->devices;
  const bool is_aligned = std::any_of(devices.begin(), devices.end(), [&](cl_device_id device) {
    return region.origin %
               std::max<std::size_t>(device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 8) / 8, 1) ==
           0;
  });
  return is_aligned ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

}  // namespace

cl_int create_buffer_at(cl_mem memory, std::size_t place, wire::View content) {
  auto& there = memory->context->places[place];
  auto& session = *there.session;
  cl::CreateBuffer message;
  message.context = there.context;
  message.memory = session.mint();
  message.flags = server_flags(memory->flags) | (content.empty() ? 0 : CL_MEM_COPY_HOST_PTR);
  message.size = memory->size;
  message.content = session.payload(content);
  const auto status = send_with_content(session, message, content);
  if (status == CL_SUCCESS) memory->copies[place].handle = message.memory;
  return status;
}

cl_int create_part_at(cl_mem memory, std::size_t place) {
  auto& session = *memory->context->places[place].session;
  cl::CreateSubBuffer message;
  message.parent = memory->parent->copies[place].handle;
  message.memory = session.mint();
  message.flags = server_flags(memory->flags);
  message.origin = memory->origin;
  message.size = memory->size;
  cl_int status = CL_OUT_OF_RESOURCES;
  session.call(message, [&](const auto& reply) { status = reply.status; });
  if (status == CL_SUCCESS) memory->copies[place].handle = message.memory;
  return status;
}

void begin_segments(cl_mem memory, wire::View content) {
  Segment whole;
  whole.end = memory->size;
  whole.in_content = !content.empty();
  if (whole.in_content) memory->content = std::make_shared<wire::Bytes>(content.begin(), content.end());
  memory->segments[0] = std::move(whole);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host_ptr, cl_int* errcode_ret) {
  if (size == 0) return fail(CL_INVALID_BUFFER_SIZE, errcode_ret);
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT, errcode_ret);
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  if (const auto error = check_flags(flags, host_ptr)) return fail(error, errcode_ret);
  if (size > largest_allocation(context)) return fail(CL_INVALID_BUFFER_SIZE, errcode_ret);
  auto* memory = new _cl_mem;
  memory->context = hold(context);
  memory->flags = flags;
  memory->size = size;
  if (flags & CL_MEM_USE_HOST_PTR) memory->host_pointer = host_ptr;
  memory->copies.resize(context->places.size());
  const wire::View content = host_ptr ? wire::View(static_cast<const std::uint8_t*>(host_ptr), size) : wire::View{};
  cl_int status = CL_SUCCESS;
  if (spans_places(context)) begin_segments(memory, content);
  else status = create_buffer_at(memory, 0, content);
  if (status != CL_SUCCESS) {
    release(memory);
    return fail(status, errcode_ret);
  }
  if (errcode_ret) *errcode_ret = CL_SUCCESS;
  return memory;
}

cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                    size_t size, void* host_ptr, cl_int* errcode_ret) {
  if (properties && properties[0] != 0) return fail(CL_INVALID_PROPERTY, errcode_ret);
  auto* memory = clCreateBuffer(context, flags, size, host_ptr, errcode_ret);
  if (memory && properties) memory->properties = {0};
  return memory;
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type buffer_create_type,
                         const void* buffer_create_info, cl_int* errcode_ret) {
  if (const auto error = check_part(buffer, flags, buffer_create_type, buffer_create_info))
    return fail(error, errcode_ret);
  const auto& region = *static_cast<const cl_buffer_region*>(buffer_create_info);
  auto* memory = new _cl_mem;
  retain(buffer);   // the application's count: natively it can be seen there, too
  memory->context = hold(buffer->context);
  memory->parent = buffer;
  memory->flags = inherit_flags(buffer, flags);
  memory->size = region.size;
  memory->origin = region.origin;
  memory->copies.resize(buffer->copies.size());
  const auto status = spans_places(buffer->context) ? CL_SUCCESS : create_part_at(memory, 0);
  if (status != CL_SUCCESS) {
    release(memory);
    return fail(status, errcode_ret);
  }
  if (errcode_ret) *errcode_ret = CL_SUCCESS;
  return memory;
}

}  // namespace flexrack::client::opencl
