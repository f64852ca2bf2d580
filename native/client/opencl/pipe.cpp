// Pipes, where a device has them.
#include <algorithm>

#include "client/opencl/coherence.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/info.h"
#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

bool has_pipes(cl_device_id device) {
  return device_info<cl_bool>(device, CL_DEVICE_PIPE_SUPPORT, CL_FALSE) != CL_FALSE;
}

}  // namespace

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint pipe_packet_size, cl_uint pipe_max_packets,
                    const cl_pipe_properties* properties, cl_int* errcode_ret) {
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT, errcode_ret);
  if (std::none_of(context->devices.begin(), context->devices.end(), has_pipes))
    return fail(CL_INVALID_OPERATION, errcode_ret);
  // What is in a pipe cannot be read from outside a kernel, so it could not follow a kernel to another server.
  if (spans_places(context)) return fail(CL_INVALID_OPERATION, errcode_ret);
  if (flags & ~static_cast<cl_mem_flags>(CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS))
    return fail(CL_INVALID_VALUE, errcode_ret);
  if (properties) return fail(CL_INVALID_VALUE, errcode_ret);
  auto* memory = new _cl_mem;
  memory->context = hold(context);
  memory->type = CL_MEM_OBJECT_PIPE;
  memory->flags = flags ? flags : CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
  memory->packet_size = pipe_packet_size;
  memory->max_packets = pipe_max_packets;
  memory->size = std::size_t{pipe_packet_size} * pipe_max_packets;
  memory->copies.resize(1);
  auto& place = context->places[0];
  const auto handle = place.session->mint();
  cl_int status = CL_OUT_OF_RESOURCES;
  place.session->call(cl::CreatePipe{place.context, handle, flags, pipe_packet_size, pipe_max_packets},
                      [&](const auto& reply) { status = reply.status; });
  if (status != CL_SUCCESS) {
    release(memory);
    return fail(status, errcode_ret);
  }
  memory->copies[0].handle = handle;
  if (errcode_ret) *errcode_ret = CL_SUCCESS;
  return memory;
}

cl_int clGetPipeInfo(cl_mem pipe, cl_pipe_info param_name, size_t param_value_size, void* param_value,
                     size_t* param_value_size_ret) {
  if (!is_live(pipe) || pipe->type != CL_MEM_OBJECT_PIPE) return CL_INVALID_MEM_OBJECT;
  switch (param_name) {
    case CL_PIPE_PACKET_SIZE:
      return give_info(&pipe->packet_size, sizeof pipe->packet_size, param_value_size, param_value,
                       param_value_size_ret);
    case CL_PIPE_MAX_PACKETS:
      return give_info(&pipe->max_packets, sizeof pipe->max_packets, param_value_size, param_value,
                       param_value_size_ret);
    case CL_PIPE_PROPERTIES: return give_info(nullptr, 0, param_value_size, param_value, param_value_size_ret);
    default: return CL_INVALID_VALUE;
  }
}

}  // namespace flexrack::client::opencl
