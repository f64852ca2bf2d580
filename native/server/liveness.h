// Which process it was, and whether it still is: a pid alone may be somebody else's by now.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace flexrack::server {

/// A process by pid and start time; lies in shared memory, so it has a fixed layout. All zero: nobody.
struct ProcessMark {
  std::int32_t pid = 0;
  std::uint32_t reserved = 0;
  std::uint64_t started = 0;  ///< ticks since boot, field 22 of /proc/PID/stat
  bool operator==(const ProcessMark&) const = default;
};

/// All zero when there is no such process, or it has ended and only waits to be reaped.
ProcessMark mark_of(pid_t pid);
/// This process. Follows a fork.
ProcessMark own_mark();
bool is_alive(const ProcessMark& mark);

}  // namespace flexrack::server
