// What there is: the platforms and devices of the grant with everything they say about themselves.
#include "backend/opencl/describe.h"

#include <cstring>

#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {
namespace {

struct Range {
  cl_uint first, last;
};
// All numbers that Khronos has given to device queries, and those of vendors that applications ask for
// (cl_nv_device_attribute_query, cl_amd_device_attribute_query, cl_intel_*); a driver refuses those it does not have.
constexpr Range kDeviceInfos[] = {{0x1000, 0x10b0}, {0x2050, 0x2060}, {0x4000, 0x4010}, {0x4030, 0x4050},
                                  {0x40e0, 0x40e4}, {0x4107, 0x410f}, {0x4190, 0x4198}, {0x4250, 0x4257}};
constexpr Range kPlatformInfos[] = {{0x0900, 0x0908}, {0x0920, 0x0920}};

/// Pointers of this process, which mean nothing in another.
bool is_local(cl_device_info param) {
  return param == CL_DEVICE_PLATFORM || param == CL_DEVICE_PARENT_DEVICE || param == CL_DEVICE_REFERENCE_COUNT;
}

template <class T>
wire::Bytes bytes_of(T value) {
  wire::Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

void describe_device(const Device& device, InfoList& list) {
  for (const auto& range : kDeviceInfos) {
    for (auto param = range.first; param <= range.last; ++param) {
      if (is_local(param)) continue;
      if (param == CL_DEVICE_GLOBAL_MEM_SIZE) list.add_bytes(param, bytes_of<cl_ulong>(device.memory));
      else if (param == CL_DEVICE_MAX_MEM_ALLOC_SIZE) list.add_bytes(param, bytes_of<cl_ulong>(device.largest));
      else
        list.add(param, [&](size_t size, void* out, size_t* size_out) {
          return native().clGetDeviceInfo(device.native.device, param, size, out, size_out);
        });
    }
  }
}

void Session::on(const cl::Describe&, Respond<cl::DescribeReply> respond) {
  cl::DescribeReply reply;
  std::deque<InfoList> lists;
  for (auto* platform : engine_->platforms) {
    auto& list = lists.emplace_back();
    for (const auto& range : kPlatformInfos) {
      for (auto param = range.first; param <= range.last; ++param) {
        list.add(param, [&](size_t size, void* out, size_t* size_out) {
          return native().clGetPlatformInfo(platform, param, size, out, size_out);
        });
      }
    }
    reply.platforms.push_back({.infos = list.infos()});
  }
  for (const auto& [index, device] : engine_->devices) {
    if (device->parent) continue;
    auto& list = lists.emplace_back();
    describe_device(*device, list);
    reply.devices.push_back({.index = index, .platform = device->platform, .infos = list.infos()});
  }
  respond(reply);
}

void Session::on(const cl::DeviceTime& m, Respond<cl::DeviceTimeReply> respond) {
  const auto device = engine_->device(m.device);
  if (!device) return respond({.status = CL_INVALID_DEVICE});
  if (!native().clGetDeviceAndHostTimer) return respond({.status = CL_INVALID_OPERATION});
  cl::DeviceTimeReply reply;
  reply.status = native().clGetDeviceAndHostTimer(device->native.device, &reply.device_ns, &reply.host_ns);
  respond(reply);
}

}  // namespace flexrack::backend::opencl
