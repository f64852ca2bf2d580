// Starts this program again in another role, with nothing of ours but what it is given.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "server/descriptor.h"

namespace flexrack::server {

struct Spawned {
  pid_t pid = -1;
  Descriptor pidfd;
};

struct SpawnSettings {
  std::string role;                       ///< argv[1]
  std::vector<std::string> arguments;     ///< after it; nothing secret: anybody may read them
  int inherited = -1;                     ///< becomes descriptor 3 there; -1: none
  int output = -1;                        ///< its standard output; -1: /dev/null
  std::string error_file;                 ///< its standard error is appended there; empty: /dev/null
  std::vector<std::pair<std::string, std::string>> environment;  ///< added where not set already
  bool own_session = true;
};

/// Throws std::system_error where there can be no further process.
Spawned spawn_self(const SpawnSettings& settings);
/// For the process that was started: no core files, no new privileges, no descriptor but 0 to 3, its name.
void settle_in(const char* name);
/// Waits for a child that has ended; says how, in words.
std::string reap(pid_t pid);

}  // namespace flexrack::server
