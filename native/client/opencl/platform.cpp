// Platforms and devices as applications ask for them.
#include <algorithm>

#include "client/opencl/driver.h"
#include "client/opencl/info.h"
#include "client/opencl/platform.h"

namespace flexrack::client::opencl {

std::vector<cl_device_id> devices_of_type(cl_platform_id platform, cl_device_type type) {
  std::vector<cl_device_id> found;
  for (const auto device : platform->devices) {
    const auto own =
        info_value<cl_device_type>(device->infos, CL_DEVICE_TYPE) & ~cl_device_type{CL_DEVICE_TYPE_DEFAULT};
    const auto wanted = type == CL_DEVICE_TYPE_ALL ? ~cl_device_type{CL_DEVICE_TYPE_CUSTOM} : type;
    const bool is_default =
        (type & CL_DEVICE_TYPE_DEFAULT) != 0 && type != CL_DEVICE_TYPE_ALL && device == platform->devices.front();
    if ((own & wanted) != 0 || is_default) found.push_back(device);
  }
  return found;
}

cl_int clGetPlatformIDs(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  if ((num_entries == 0 && platforms) || (!platforms && !num_platforms)) return CL_INVALID_VALUE;
  const auto ours = platform();
  if (num_platforms) *num_platforms = ours ? 1 : 0;
  if (!ours) return CL_PLATFORM_NOT_FOUND_KHR;
  if (platforms) platforms[0] = ours;
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name, size_t param_value_size,
                         void* param_value, size_t* param_value_size_ret) {
  if (!is_live(platform)) return CL_INVALID_PLATFORM;
  return Answer{param_value_size, param_value, param_value_size_ret}.from(platform->infos, param_name);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries, cl_device_id* devices,
                      cl_uint* num_devices) {
  if (!is_live(platform)) return CL_INVALID_PLATFORM;
  if ((num_entries == 0 && devices) || (!devices && !num_devices)) return CL_INVALID_VALUE;
  const auto found = devices_of_type(platform, device_type);
  if (found.empty()) return CL_DEVICE_NOT_FOUND;  // as PoCL says also of types that are none, leaving the number alone
  if (num_devices) *num_devices = static_cast<cl_uint>(found.size());
  if (devices) std::copy_n(found.begin(), std::min<std::size_t>(num_entries, found.size()), devices);
  return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info param_name, size_t param_value_size, void* param_value,
                       size_t* param_value_size_ret) {
  if (!is_live(device)) return CL_INVALID_DEVICE;
  const Answer answer{param_value_size, param_value, param_value_size_ret};
  if (param_name == CL_DEVICE_AVAILABLE && !device->session->is_alive()) return answer(cl_bool{0});
  if (param_name == CL_DEVICE_REFERENCE_COUNT) return answer(references(device));
  return answer.from(device->infos, param_name);
}

namespace {

cl_int device_time(cl_device_id device, cl_ulong* device_ns, cl_ulong* host_ns) {
  cl::DeviceTime message;
  message.device = device->index;
  cl_int status = CL_OUT_OF_RESOURCES;
  device->session->call(message, [&](const cl::DeviceTimeReply& reply) {
    status = reply.status;
    if (status != CL_SUCCESS) return;
    if (device_ns) *device_ns = reply.device_ns;
    *host_ns = reply.host_ns;
  });
  return status;
}

}  // namespace

cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong* device_timestamp, cl_ulong* host_timestamp) {
  if (!is_live(device)) return CL_INVALID_DEVICE;
  if (!device_timestamp || !host_timestamp) return CL_INVALID_VALUE;
  return device_time(device, device_timestamp, host_timestamp);
}

cl_int clGetHostTimer(cl_device_id device, cl_ulong* host_timestamp) {
  if (!is_live(device)) return CL_INVALID_DEVICE;
  if (!host_timestamp) return CL_INVALID_VALUE;
  return device_time(device, nullptr, host_timestamp);
}

cl_int clUnloadCompiler() { return CL_SUCCESS; }
cl_int clUnloadPlatformCompiler(cl_platform_id platform) {
  return is_live(platform) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

}  // namespace flexrack::client::opencl
