// What the server asks of this backend.
#include "backend/opencl/session.h"

namespace flexrack::backend {

std::vector<DeviceReport> list_opencl_devices() {
  std::vector<DeviceReport> reports;
  for (const auto& one : opencl::native_devices()) {
    reports.push_back({.native_id = one.id,
                       .name = opencl::device_text(one.device, CL_DEVICE_NAME),
                       .vendor = opencl::device_text(one.device, CL_DEVICE_VENDOR),
                       .driver = opencl::device_text(one.device, CL_DRIVER_VERSION),
                       .api = "opencl",
                       .memory = opencl::device_value<cl_ulong>(one.device, CL_DEVICE_GLOBAL_MEM_SIZE, 0),
                       .compute_units = opencl::device_value<cl_uint>(one.device, CL_DEVICE_MAX_COMPUTE_UNITS, 0)});
  }
  return reports;
}

std::unique_ptr<Backend> make_opencl_backend(Grant& grant) { return std::make_unique<opencl::Session>(grant); }

}  // namespace flexrack::backend
