// What the servers say about their platforms and devices, and what of it is true from here.
#pragma once

#include <span>
#include <vector>

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

struct DescribedDevice {
  std::uint32_t index = 0;     ///< in its session
  std::uint32_t platform = 0;  ///< of the server
  InfoTable infos;
};

struct ServerDescription {
  std::vector<InfoTable> platforms;
  std::vector<DescribedDevice> devices;
};

/// Asks a server. False where it does not answer, or not sensibly.
bool describe_server(Session& session, ServerDescription& into);

/// Makes the devices of a server, with what differs from here put right.
void add_devices(_cl_platform_id& platform, const ServerDescription& server, Session& session, Inbox& inbox);

/// A part of a device, as the server describes it: with what is not the same as in the device. Holds the device.
cl_device_id make_sub_device(cl_device_id parent, const cl::DeviceDescription& described);

/// Fills in the platform's own answers: what holds for all its devices.
void describe_platform(_cl_platform_id& platform, std::span<const ServerDescription* const> servers);

}  // namespace flexrack::client::opencl
