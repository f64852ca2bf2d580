// Which boot of which machine this is: two processes that read the same share their memory and their Unix sockets.
#pragma once

#include <cstdint>
#include <string>

namespace flexrack::wire {

/// /proc/sys/kernel/random/boot_id; empty where it cannot be read.
const std::string& boot_id();
/// The same as a number, to lie in files: a lock in one of an earlier boot may be held for ever.
std::uint64_t boot_mark();

}  // namespace flexrack::wire
