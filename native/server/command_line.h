// The daemon's command line.
#pragma once

#include <string>
#include <vector>

namespace flexrack::server {

// Exit statuses beside 0 and 1; from sysexits.h where it has one.
inline constexpr int kExitUsage = 64, kExitNoDevices = 69, kExitRunning = 75, kExitFolder = 77;

/// broker, devices, admin, version, and worker for processes of the broker; returns the exit status, having said on
/// standard error what is wrong.
int run_command_line(const std::vector<std::string>& arguments);

}  // namespace flexrack::server
