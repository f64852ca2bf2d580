// The process that holds the leases: a connection to each server, pinged, made again when it is lost.
#pragma once

#include <string>
#include <vector>

#include "client/lease_file.h"

namespace flexrack::lease_keeper {

// Messages from the keeper, one a packet: the first byte, then text for people.
inline constexpr char kAllHeld = 'h';   ///< every server has been reached
inline constexpr char kFailed = 'f';    ///< one cannot be held at all: nothing has begun
inline constexpr char kOver = 'o';      ///< a lease that was held is over: its server does not answer any more
inline constexpr char kEnded = 'e';     ///< the same, by its server's word: somebody has given it back
// And to it: anything, or the end of the socket, has it give the leases back and exit.
inline constexpr char kGiveBack = 'g';

/// Runs in a process of its own, which is in no terminal's job: a stopped COMMAND still holds its devices.
/// `file`: where they are written; a lease that goes to another server is changed there.
[[noreturn]] void keep(const std::vector<client::LeasedServer>& servers, int control, const std::string& file);

}  // namespace flexrack::lease_keeper
