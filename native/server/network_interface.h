// Which network card collectives use: the one whose address the daemon serves on.
#pragma once

#include <string>

namespace flexrack::server {

/// The name of the interface that has this address of ours, such as "eth0"; empty for none, as 0.0.0.0.
std::string interface_of(const std::string& address);

}  // namespace flexrack::server
