// The devices of this machine, found by a process of its own: a driver that crashes or hangs does not take the broker
// along.
#pragma once

#include <string>
#include <vector>

#include "server/backends.h"
#include "wire/json.h"

namespace flexrack::server {

wire::Json to_json(const std::vector<backend::DeviceReport>& devices);
/// Throws std::runtime_error, with what the driver says, when there is none or it does not answer in 60 s.
std::vector<backend::DeviceReport> find_devices(const std::string& root, const BackendChoice& backend);

}  // namespace flexrack::server
