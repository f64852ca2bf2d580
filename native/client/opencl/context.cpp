#include <algorithm>

#include "client/opencl/driver.h"
#include "client/opencl/inbox.h"
#include "client/opencl/info.h"
#include "client/opencl/platform.h"

std::size_t _cl_context::place_of(cl_device_id device) const {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& there = places[i].devices;
    if (std::find(there.begin(), there.end(), device) != there.end()) return i;
  }
  return places.size();
}

namespace flexrack::client::opencl {
namespace {

/// What of the properties the servers get: those that are about the context, not about this host.
struct Properties {
  std::vector<cl_context_properties> given;  ///< with the terminating zero; empty for none
  std::vector<std::uint64_t> forwarded;
  cl_platform_id platform = nullptr;
};

cl_int read_properties(const cl_context_properties* list, Properties& out) {
  if (!list) return CL_SUCCESS;
  for (; *list != 0; list += 2) {
    for (std::size_t i = 0; i < out.given.size(); i += 2) {
      if (out.given[i] == list[0]) return CL_INVALID_PROPERTY;
    }
    switch (list[0]) {
      case CL_CONTEXT_PLATFORM:
        out.platform = reinterpret_cast<cl_platform_id>(list[1]);
        if (!is_live(out.platform)) return CL_INVALID_PLATFORM;
        break;
      case CL_CONTEXT_INTEROP_USER_SYNC:
      case CL_CONTEXT_MEMORY_INITIALIZE_KHR:
        out.forwarded.push_back(static_cast<std::uint64_t>(list[0]));
        out.forwarded.push_back(static_cast<std::uint64_t>(list[1]));
        break;
      default: return CL_INVALID_PROPERTY;
    }
    out.given.push_back(list[0]);
    out.given.push_back(list[1]);
  }
  out.given.push_back(0);
  if (!out.forwarded.empty()) out.forwarded.push_back(0);
  return CL_SUCCESS;
}

void add_device(_cl_context& context, cl_device_id device) {
  if (context.place_of(device) != context.places.size()) return;  // named twice
  context.devices.push_back(device);
  for (auto& place : context.places) {
    if (place.session != device->session || place.devices.front()->native_platform != device->native_platform) continue;
    place.devices.push_back(device);
    return;
  }
  context.places.push_back({device->session, device->inbox, device->session->mint(), {device}});
}

cl_int create_there(const Place& place, const std::vector<std::uint64_t>& properties) {
  std::vector<std::uint32_t> devices;
  for (const auto device : place.devices) devices.push_back(device->index);
  cl::CreateContext message;
  message.context = place.context;
  message.devices = devices;
  message.properties = properties;
  cl_int status = place.session->is_alive() ? CL_OUT_OF_RESOURCES : CL_DEVICE_NOT_AVAILABLE;
  place.session->call(message, [&](const cl::CreateContextReply& reply) { status = reply.status; });
  return status;
}

void release_there(const Place& place) {
  cl::Release message;
  message.object = place.context;
  place.session->send(message);
}

cl_context create(const Properties& properties, std::span<const cl_device_id> devices, cl_context_callback notify,
                  void* notify_data, cl_int& error) {
  auto context = std::make_unique<_cl_context>();
  for (const auto device : devices) add_device(*context, device);
  context->properties = properties.given;
  context->notify = notify;
  context->notify_data = notify_data;
  for (std::size_t i = 0; i < context->places.size(); ++i) {
    error = create_there(context->places[i], properties.forwarded);
    if (error == CL_SUCCESS) continue;
    for (std::size_t made = 0; made < i; ++made) release_there(context->places[made]);
    return nullptr;
  }
  const auto* first = context->devices.front()->whole();
  context->has_one_memory =
      std::ranges::all_of(context->devices, [&](cl_device_id device) { return device->whole() == first; });
  for (const auto device : context->devices) hold(device);
  for (const auto& place : context->places) place.inbox->enter(context.get(), place.context);
  return context.release();
}

}  // namespace

cl_context clCreateContext(const cl_context_properties* properties, cl_uint num_devices, const cl_device_id* devices,
                           cl_context_callback pfn_notify, void* user_data, cl_int* errcode_ret) {
  cl_int error = CL_SUCCESS;
  Properties read;
  cl_context context = nullptr;
  if (num_devices == 0 || !devices || (!pfn_notify && user_data)) error = CL_INVALID_VALUE;
  if (error == CL_SUCCESS) error = read_properties(properties, read);
  if (error == CL_SUCCESS &&
      !std::all_of(devices, devices + num_devices, [](cl_device_id device) { return is_live(device); }))
    error = CL_INVALID_DEVICE;
  if (error == CL_SUCCESS) context = create(read, {devices, num_devices}, pfn_notify, user_data, error);
  if (errcode_ret) *errcode_ret = error;
  return context;
}

cl_context clCreateContextFromType(const cl_context_properties* properties, cl_device_type device_type,
                                   cl_context_callback pfn_notify, void* user_data, cl_int* errcode_ret) {
  cl_int error = CL_SUCCESS;
  Properties read;
  cl_context context = nullptr;
  if (!pfn_notify && user_data) error = CL_INVALID_VALUE;
  if (error == CL_SUCCESS) error = read_properties(properties, read);
  const auto ours = read.platform ? read.platform : platform();
  if (error == CL_SUCCESS && !ours) error = CL_INVALID_PLATFORM;
  if (error == CL_SUCCESS) {
    const auto devices = devices_of_type(ours, device_type);
    if (devices.empty()) {
      error = CL_DEVICE_NOT_FOUND;
    } else {
      context = create(read, devices, pfn_notify, user_data, error);
    }
  }
  if (errcode_ret) *errcode_ret = error;
  return context;
}

cl_int clRetainContext(cl_context context) {
  if (!is_live(context)) return CL_INVALID_CONTEXT;
  retain(context);
  return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context context) {
  return is_live(context) && release(context) ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int clGetContextInfo(cl_context context, cl_context_info param_name, size_t param_value_size, void* param_value,
                        size_t* param_value_size_ret) {
  if (!is_live(context)) return CL_INVALID_CONTEXT;
  const Answer answer{param_value_size, param_value, param_value_size_ret};
  switch (param_name) {
    case CL_CONTEXT_REFERENCE_COUNT: return answer(references(context));
    case CL_CONTEXT_NUM_DEVICES: return answer(static_cast<cl_uint>(context->devices.size()));
    case CL_CONTEXT_DEVICES: return answer.array(std::span<const cl_device_id>(context->devices));
    case CL_CONTEXT_PROPERTIES: return answer.array(std::span<const cl_context_properties>(context->properties));
    default: return CL_INVALID_VALUE;
  }
}

cl_int clSetContextDestructorCallback(cl_context context, cl_context_destructor_callback pfn_notify, void* user_data) {
  if (!is_live(context)) return CL_INVALID_CONTEXT;
  if (!pfn_notify) return CL_INVALID_VALUE;
  const std::lock_guard guard(context->lock);
  context->destructors.push_back([context, pfn_notify, user_data] { pfn_notify(context, user_data); });
  return CL_SUCCESS;
}

void dispose(cl_context context) {
  for (const auto& place : context->places) place.inbox->leave(place.context);
  if (may_call_back()) {
    for (auto action = context->destructors.rbegin(); action != context->destructors.rend(); ++action) (*action)();
  }
  for (const auto& place : context->places) release_there(place);
  const auto devices = std::move(context->devices);
  delete context;
  for (const auto device : devices) drop(device);
}

}  // namespace flexrack::client::opencl
