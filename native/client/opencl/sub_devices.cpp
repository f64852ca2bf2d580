// Sub-devices: parts of a device, made there, counted here. Contexts hold theirs, so a part lasts as long as anything
// is on it.
#include "client/opencl/describe.h"
#include "client/opencl/enqueue.h"

namespace flexrack::client::opencl {
namespace {

/// The list as far as it may be read: how long it is depends on its kind. The device says what is wrong with it.
std::vector<std::uint64_t> read_partition(const cl_device_partition_property* list) {
  std::vector<std::uint64_t> out;
  const auto take = [&](std::size_t at) {
    if (list[at] != 0) out.push_back(static_cast<std::uint64_t>(list[at]));
    return list[at] != 0;
  };
  switch (list[0]) {
    case CL_DEVICE_PARTITION_BY_COUNTS:
      for (std::size_t at = 0; take(at);) ++at;
      break;
    case CL_DEVICE_PARTITION_EQUALLY:
    case CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
      for (std::size_t at = 0; at < 3 && take(at);) ++at;
      break;
    default: take(0);
  }
  return out;
}

void release_there(Session& session, std::uint32_t index) {
  cl::ReleaseDevice message;
  message.device = index;
  session.send(message);
}

}  // namespace

cl_int clCreateSubDevices(cl_device_id in_device, const cl_device_partition_property* properties, cl_uint num_devices,
                          cl_device_id* out_devices, cl_uint* num_devices_ret) {
  if (!is_live(in_device)) return CL_INVALID_DEVICE;
  if (!properties || (out_devices && num_devices == 0)) return CL_INVALID_VALUE;
  auto& session = *in_device->session;
  if (!session.is_alive()) return CL_DEVICE_NOT_AVAILABLE;
  const auto partition = read_partition(properties);
  cl::CreateSubDevices message;
  message.device = in_device->index;
  message.capacity = num_devices;
  message.has_list = out_devices != nullptr;
  message.properties = partition;
  cl_int status = CL_OUT_OF_RESOURCES;
  session.call(message, [&](const cl::CreateSubDevicesReply& reply) {
    status = reply.status;
    if (status == CL_SUCCESS && reply.devices.size() != (out_devices ? reply.count : 0)) status = CL_OUT_OF_RESOURCES;
    if (status == CL_SUCCESS && reply.devices.size() > num_devices) status = CL_OUT_OF_RESOURCES;
    if (status != CL_SUCCESS) return;
    for (std::size_t i = 0; i < reply.devices.size(); ++i)
      out_devices[i] = make_sub_device(in_device, reply.devices[i]);
    if (num_devices_ret) *num_devices_ret = reply.count;
  });
  return status;
}

// Devices that are not sub-devices are not counted.
cl_int clRetainDevice(cl_device_id device) {
  if (!is_live(device)) return CL_INVALID_DEVICE;
  if (device->parent) retain(device);
  return CL_SUCCESS;
}

cl_int clReleaseDevice(cl_device_id device) {
  if (!is_live(device)) return CL_INVALID_DEVICE;
  return !device->parent || release(device) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

void dispose(cl_device_id device) {
  release_there(*device->session, device->index);
  const auto parent = device->parent;
  delete device;
  drop(parent);
}

}  // namespace flexrack::client::opencl
