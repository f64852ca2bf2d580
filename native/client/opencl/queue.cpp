#include <algorithm>

#include "client/opencl/event.h"
#include "client/opencl/inbox.h"
#include "client/opencl/info.h"

namespace flexrack::client::opencl {
namespace {

constexpr cl_command_queue_properties kHostProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

/// The queue's bits and its size on the device, from the list the application gave.
void read_properties(std::span<const cl_queue_properties> given, _cl_command_queue& queue) {
  for (std::size_t i = 0; i + 1 < given.size(); i += 2) {
    if (given[i] == CL_QUEUE_PROPERTIES) queue.properties = given[i + 1];
    if (given[i] == CL_QUEUE_SIZE) queue.device_queue_size = static_cast<cl_uint>(given[i + 1]);
  }
}

std::vector<cl_queue_properties> copy_list(const cl_queue_properties* list) {
  std::vector<cl_queue_properties> out;
  if (!list) return out;
  for (; *list != 0; list += 2) out.insert(out.end(), list, list + 2);
  out.push_back(0);
  return out;
}

cl_command_queue create(cl_context context, cl_device_id device, std::vector<cl_queue_properties> sent,
                        std::vector<cl_queue_properties> given, cl_int& error) {
  if (!is_live(context)) return error = CL_INVALID_CONTEXT, nullptr;
  if (!is_live(device)) return error = CL_INVALID_DEVICE, nullptr;
  const auto place = context->place_of(device);
  if (place == context->places.size()) return error = CL_INVALID_DEVICE, nullptr;
  auto queue = std::make_unique<_cl_command_queue>();
  queue->context = context;
  queue->device = device;
  queue->place = place;
  queue->given = std::move(given);
  read_properties(sent, *queue);
  // Some devices that have no queues of their own do not survive being asked for one.
  if ((queue->properties & CL_QUEUE_ON_DEVICE) != 0 &&
      info_value<cl_uint>(device->infos, CL_DEVICE_MAX_ON_DEVICE_QUEUES) == 0) {
    return error = CL_INVALID_QUEUE_PROPERTIES, nullptr;
  }
  queue->handle = queue->session().mint();
  cl::CreateQueue message;
  message.context = context->places[place].context;
  message.queue = queue->handle;
  message.device = device->index;
  message.properties = sent;
  error = CL_OUT_OF_RESOURCES;
  queue->session().call(message, [&](const cl::CreateQueueReply& reply) { error = reply.status; });
  if (error != CL_SUCCESS) return nullptr;
  hold(context);
  return queue.release();
}

}  // namespace

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties* properties, cl_int* errcode_ret) {
  cl_int error = CL_SUCCESS;
  const auto given = copy_list(properties);
  const auto queue = create(context, device, given, given, error);
  if (errcode_ret) *errcode_ret = error;
  return queue;
}

cl_command_queue clCreateCommandQueueWithPropertiesKHR(cl_context context, cl_device_id device,
                                                       const cl_queue_properties* properties, cl_int* errcode_ret) {
  return clCreateCommandQueueWithProperties(context, device, properties, errcode_ret);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* errcode_ret) {
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = nullptr;
  if (is_live(context) && is_live(device) && (properties & ~kHostProperties) != 0) {
    error = CL_INVALID_VALUE;
  } else {
    queue = create(context, device, {CL_QUEUE_PROPERTIES, properties, 0}, {}, error);
  }
  if (errcode_ret) *errcode_ret = error;
  return queue;
}

cl_int clRetainCommandQueue(cl_command_queue queue) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  retain(queue);
  return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue queue) {
  if (!is_live(queue) || references(queue) == 0) return CL_INVALID_COMMAND_QUEUE;
  if (references(queue) == 1) {  // what was enqueued goes on: releasing flushes
    cl::Flush message;
    message.queue = queue->handle;
    queue->session().send(message);
    queue->session().link().flush();
    std::vector<cl_event> kept;
    {
      const std::lock_guard guard(queue->lock);
      kept.swap(queue->landings);
      kept.insert(kept.end(), queue->fenced.begin(), queue->fenced.end());
      queue->fenced.clear();
    }
    for (const auto event : kept) drop(event);
  }
  return release(queue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info param_name, size_t param_value_size,
                             void* param_value, size_t* param_value_size_ret) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  const Answer answer{param_value_size, param_value, param_value_size_ret};
  switch (param_name) {
    case CL_QUEUE_CONTEXT: return answer(queue->context);
    case CL_QUEUE_DEVICE: return answer(queue->device);
    case CL_QUEUE_REFERENCE_COUNT: return answer(references(queue));
    case CL_QUEUE_PROPERTIES: return answer(queue->properties);
    case CL_QUEUE_SIZE:
      return (queue->properties & CL_QUEUE_ON_DEVICE) != 0 ? answer(queue->device_queue_size)
                                                           : CL_INVALID_COMMAND_QUEUE;
    case CL_QUEUE_DEVICE_DEFAULT: return answer(cl_command_queue{nullptr});
    case CL_QUEUE_PROPERTIES_ARRAY: return answer.array(std::span<const cl_queue_properties>(queue->given));
    default: return CL_INVALID_VALUE;
  }
}

cl_int clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties, cl_bool,
                                 cl_command_queue_properties*) {
  return is_live(queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;  // gone since OpenCL 1.1
}

cl_int clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device, cl_command_queue queue) {
  if (!is_live(context)) return CL_INVALID_CONTEXT;
  if (!is_live(device) || context->place_of(device) == context->places.size()) return CL_INVALID_DEVICE;
  if (info_value<cl_uint>(device->infos, CL_DEVICE_MAX_ON_DEVICE_QUEUES) == 0) return CL_INVALID_OPERATION;
  if (!is_live(queue) || queue->context != context || queue->device != device) return CL_INVALID_COMMAND_QUEUE;
  return CL_INVALID_OPERATION;  // which queue is the default is chosen when it is made
}

cl_int clFlush(cl_command_queue queue) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl::Flush message;
  message.queue = queue->handle;
  if (!queue->session().send(message)) return kLost;
  queue->session().link().flush();
  return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue queue) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!queue->session().is_alive()) return kLost;
  const auto event = new_event_after_all(queue, CL_COMMAND_MARKER);
  cl::Marker message;
  message.queue = queue->handle;
  message.event = event->handle;
  queue->session().send(message);
  const auto status = wait_event(event);
  release_event(event);
  // That an earlier command failed is its own event's affair, unless the session went with it.
  if (status < CL_COMPLETE && !queue->session().is_alive()) return kLost;
  return queue_error(queue);
}

void dispose(cl_command_queue queue) {
  cl::Release message;
  message.object = queue->handle;
  queue->session().send(message);
  queue->session().link().flush();
  const auto context = queue->context;
  context->places[queue->place].inbox->forget_queue(queue->handle);
  delete queue;
  drop(context);
}

}  // namespace flexrack::client::opencl
