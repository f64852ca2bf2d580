// Which boot of which machine this is: two processes that read the same share their memory and their Unix sockets.
#pragma once

#include <string>

namespace flexrack::server {

/// /proc/sys/kernel/random/boot_id; empty where it cannot be read.
const std::string& boot_id();

}  // namespace flexrack::server
