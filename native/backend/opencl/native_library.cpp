#include "backend/opencl/native_library.h"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>

namespace flexrack::backend::opencl {
namespace {

Native load() {
  // Local: the names in the library must not meet those that another library in this process brings.
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error("no OpenCL on this machine: " + std::string(dlerror()));
  void* functions[flexrack::cl::kIcdEntries] = {};
  for (std::size_t i = 0; i < flexrack::cl::kIcdEntries; ++i) functions[i] = dlsym(library, flexrack::cl::kIcdNames[i]);
  Native found;
  std::memcpy(static_cast<flexrack::cl::IcdDispatch*>(&found), functions, sizeof functions);
  if (!found.clGetPlatformIDs || !found.clEnqueueMarkerWithWaitList || !found.clSetEventCallback)
    throw std::runtime_error("libOpenCL.so.1 is older than OpenCL 1.2");
  return found;
}

std::string platform_text(cl_platform_id platform, cl_platform_info param) {
  size_t size = 0;
  if (native().clGetPlatformInfo(platform, param, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (native().clGetPlatformInfo(platform, param, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(std::strlen(text.c_str()));
  return text;
}

}  // namespace

const Native& native() {
  static const Native library = load();
  return library;
}

Native::SuggestLocalSize* Native::suggest_local_size(cl_platform_id platform) const {
  if (!clGetExtensionFunctionAddressForPlatform) return nullptr;
  return reinterpret_cast<SuggestLocalSize*>(
      clGetExtensionFunctionAddressForPlatform(platform, "clGetKernelSuggestedLocalWorkSizeKHR"));
}

std::vector<NativeDevice> native_devices() {
  const auto& cl = native();
  cl_uint count = 0;
  if (cl.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> platforms(count);
  if (count) cl.clGetPlatformIDs(count, platforms.data(), nullptr);
  std::vector<NativeDevice> found;
  unsigned at = 0;
  for (const auto platform : platforms) {
    if (platform_text(platform, CL_PLATFORM_NAME) == "Flexrack") continue;
    cl_uint number = 0;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &number) != CL_SUCCESS) number = 0;
    std::vector<cl_device_id> devices(number);
    if (number) cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, number, devices.data(), nullptr);
    for (cl_uint i = 0; i < number; ++i)
      found.push_back({std::to_string(at) + ":" + std::to_string(i), platform, devices[i]});
    ++at;
  }
  return found;
}

std::string device_text(cl_device_id device, cl_device_info param) {
  size_t size = 0;
  if (native().clGetDeviceInfo(device, param, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (native().clGetDeviceInfo(device, param, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(std::strlen(text.c_str()));
  return text;
}

}  // namespace flexrack::backend::opencl
