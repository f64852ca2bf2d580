// The machine's own OpenCL, found when the worker starts: whatever ICD loader and drivers are installed, never a driver
// of ours.
#pragma once

#include <string>
#include <vector>

#include "gen/opencl/cl.h"
#include "gen/opencl/icd.h"

namespace flexrack::backend::opencl {

/// The functions by their names; null where the library has not got one (a loader older than OpenCL 2 or 3).
struct Native : flexrack::cl::IcdDispatch {
  /// cl_khr_suggested_local_work_size of a platform, null where it has none.
  using SuggestLocalSize = cl_int(cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, size_t*);
  SuggestLocalSize* suggest_local_size(cl_platform_id platform) const;
};

/// Loads libOpenCL.so.1 on first use. Throws std::runtime_error when it is not there.
const Native& native();

struct NativeDevice {
  std::string id;  ///< "platform:device", by the order in which the loader lists them without ours
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
};

/// Every device but those of a platform called "Flexrack": a daemon must not serve what it would get from daemons.
std::vector<NativeDevice> native_devices();

std::string device_text(cl_device_id device, cl_device_info param);

/// A fixed-size answer, `otherwise` where the device gives none or one of another size.
template <class T>
T device_value(cl_device_id device, cl_device_info param, T otherwise) {
  T value{};
  size_t size = 0;
  if (native().clGetDeviceInfo(device, param, sizeof value, &value, &size) != CL_SUCCESS || size != sizeof value)
    return otherwise;
  return value;
}

}  // namespace flexrack::backend::opencl
