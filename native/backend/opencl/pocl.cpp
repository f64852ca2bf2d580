#include "backend/opencl/pocl.h"

#include <string>
#include <vector>

#include "backend/opencl/native_library.h"

namespace flexrack::backend::opencl {

bool is_pocl(cl_platform_id platform) {
  char name[128] = {};
  return native().clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr) == CL_SUCCESS &&
         std::string(name) == "Portable Computing Language";
}

bool is_pocl(cl_event event) {
  const auto& cl = native();
  cl_context context = nullptr;
  cl_platform_id platform = nullptr;
  std::size_t size = 0;
  if (cl.clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, nullptr) != CL_SUCCESS) return false;
  if (cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &size) != CL_SUCCESS || size < sizeof(cl_device_id))
    return false;
  std::vector<cl_device_id> devices(size / sizeof(cl_device_id));
  if (cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, size, devices.data(), nullptr) != CL_SUCCESS) return false;
  return cl.clGetDeviceInfo(devices[0], CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) == CL_SUCCESS &&
         is_pocl(platform);
}

}  // namespace flexrack::backend::opencl
