#include "client/opencl/describe.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "client/opencl/extensions.h"
#include "client/opencl/info.h"

namespace flexrack::client::opencl {
namespace {

constexpr std::size_t kMostDevices = 1024;
constexpr cl_uint kMajorShift = 22, kMinorShift = 12;  ///< cl_version: major.minor.patch in 10, 10 and 12 bits

InfoTable table(const std::vector<cl::Info>& infos) {
  InfoTable out;
  for (const auto& info : infos) out[info.name].assign(info.value.begin(), info.value.end());
  return out;
}

/// Of the ways to divide a device those whose lists we can read: a vendor's may be of any length.
void keep_partitions(wire::Bytes& ways) {
  wire::Bytes kept;
  for (std::size_t at = 0; at + sizeof(cl_device_partition_property) <= ways.size();
       at += sizeof(cl_device_partition_property)) {
    cl_device_partition_property way;
    std::memcpy(&way, ways.data() + at, sizeof way);
    if (way != CL_DEVICE_PARTITION_EQUALLY && way != CL_DEVICE_PARTITION_BY_COUNTS &&
        way != CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN)
      continue;
    kept.insert(kept.end(), ways.data() + at, ways.data() + at + sizeof way);
  }
  if (kept.empty()) kept.resize(sizeof(cl_device_partition_property));   // one that is 0: none
  ways = std::move(kept);
}

/// What of a device is not the same from here.
void correct(InfoTable& infos, cl_platform_id platform) {
  put_info(infos, CL_DEVICE_PLATFORM, platform);
  put_info(infos, CL_DEVICE_PARENT_DEVICE, cl_device_id{nullptr});
  put_info(infos, CL_DEVICE_REFERENCE_COUNT, cl_uint{1});
  keep_partitions(infos[CL_DEVICE_PARTITION_PROPERTIES]);
  // Host functions do not run elsewhere; host and device do not see each other's writes to shared memory.
  put_info(infos, CL_DEVICE_EXECUTION_CAPABILITIES,
           info_value<cl_device_exec_capabilities>(infos, CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_KERNEL);
  if (infos.contains(CL_DEVICE_SVM_CAPABILITIES)) {
    put_info(
        infos, CL_DEVICE_SVM_CAPABILITIES,
        info_value<cl_device_svm_capabilities>(infos, CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
  }
  put_info(infos, CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool{0});
  put_text(infos, CL_DEVICE_EXTENSIONS, usable_extensions(info_text(infos, CL_DEVICE_EXTENSIONS)));
  if (const auto found = infos.find(CL_DEVICE_EXTENSIONS_WITH_VERSION); found != infos.end())
    found->second = usable_extensions(found->second);
}

/// "OpenCL 3.0 ..." as a cl_version; 1.0 where it is something else.
cl_uint version_of(std::string_view text) {
  unsigned major = 1, minor = 0;
  std::sscanf(std::string(text).c_str(), "OpenCL %u.%u", &major, &minor);
  return std::min(major, 1023u) << kMajorShift | std::min(minor, 1023u) << kMinorShift;
}

wire::Bytes with_versions(std::string_view list) {
  wire::Bytes out;
  while (!list.empty()) {
    const auto end = std::min(list.find(' '), list.size());
    cl_name_version entry{};
    entry.version = 1u << kMajorShift;
    std::memcpy(entry.name, list.data(), std::min(end, sizeof entry.name - 1));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&entry);
    out.insert(out.end(), bytes, bytes + sizeof entry);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

}  // namespace

bool describe_server(Session& session, ServerDescription& into) {
  bool is_sensible = true;
  const bool is_answered = session.call(cl::Describe{}, [&](const cl::DescribeReply& reply) {
    for (const auto& platform : reply.platforms) into.platforms.push_back(table(platform.infos));
    for (const auto& device : reply.devices) {
      is_sensible = is_sensible && device.platform < reply.platforms.size();
      into.devices.push_back({device.index, device.platform, table(device.infos)});
    }
  });
  return is_answered && is_sensible && into.devices.size() <= kMostDevices;
}

void add_devices(_cl_platform_id& platform, const ServerDescription& server, Session& session, Inbox& inbox) {
  for (const auto& described : server.devices) {
    const auto device = new _cl_device_id;
    device->platform = &platform;
    device->session = &session;
    device->inbox = &inbox;
    device->index = described.index;
    device->native_platform = described.platform;
    device->infos = described.infos;
    correct(device->infos, &platform);
    platform.devices.push_back(device);
  }
}

cl_device_id make_sub_device(cl_device_id parent, const cl::DeviceDescription& described) {
  auto device = std::make_unique<_cl_device_id>();
  device->platform = parent->platform;
  device->session = parent->session;
  device->inbox = parent->inbox;
  device->index = described.index;
  device->native_platform = parent->native_platform;
  device->infos = parent->infos;
  for (const auto& info : described.infos) device->infos[info.name].assign(info.value.begin(), info.value.end());
  correct(device->infos, device->platform);
  device->parent = hold(parent);
  put_info(device->infos, CL_DEVICE_PARENT_DEVICE, parent);
  return device.release();
}

void describe_platform(_cl_platform_id& platform, std::span<const ServerDescription* const> servers) {
  cl_uint version = ~0u;
  bool is_full = true;
  for (const auto device : platform.devices) {
    version = std::min(version, version_of(info_text(device->infos, CL_DEVICE_VERSION)));
    is_full = is_full && info_text(device->infos, CL_DEVICE_PROFILE) == "FULL_PROFILE";
  }
  std::string extensions;
  cl_ulong resolution = 0;
  bool is_first = true;
  for (const auto* server : servers) {
    for (const auto& infos : server->platforms) {
      const auto own = usable_extensions(info_text(infos, CL_PLATFORM_EXTENSIONS));
      const auto ticks = info_value<cl_ulong>(infos, CL_PLATFORM_HOST_TIMER_RESOLUTION);
      extensions = is_first ? own : common_extensions(extensions, own);
      resolution = is_first || ticks == 0 ? ticks : resolution == 0 ? 0 : std::max(resolution, ticks);
      is_first = false;
    }
  }
  if (common_extensions("cl_khr_icd", extensions).empty())
    extensions.insert(0, extensions.empty() ? "cl_khr_icd" : "cl_khr_icd ");
  const auto number = std::to_string(version >> kMajorShift) + "." + std::to_string(version >> kMinorShift & 1023);
  auto& infos = platform.infos;
  put_text(infos, CL_PLATFORM_NAME, "Flexrack");
  put_text(infos, CL_PLATFORM_VENDOR, "Flexrack");
  put_text(infos, CL_PLATFORM_VERSION, "OpenCL " + number + " Flexrack");
  put_text(infos, CL_PLATFORM_PROFILE, is_full ? "FULL_PROFILE" : "EMBEDDED_PROFILE");
  put_text(infos, CL_PLATFORM_EXTENSIONS, extensions);
  put_text(infos, CL_PLATFORM_ICD_SUFFIX_KHR, "FLEXRACK");
  if (version >> kMajorShift >= 2) put_info(infos, CL_PLATFORM_HOST_TIMER_RESOLUTION, resolution);
  if (version >> kMajorShift >= 3) {
    put_info(infos, CL_PLATFORM_NUMERIC_VERSION, version);
    infos[CL_PLATFORM_EXTENSIONS_WITH_VERSION] = with_versions(extensions);
  }
}

}  // namespace flexrack::client::opencl
