// A server as lease files and those who hand leases on write it: where it is, and who we are to it.
#pragma once

#include "wire/json.h"
#include "wire/link.h"

namespace flexrack::wire {

/// Address, Unix socket, port, lease and key of `entry`. False where these cannot be a server's; `dial` is no good
/// then.
bool read_server_entry(const Json& entry, Dial& dial);
/// Whether that server runs under this very kernel and its socket can be reached from here: it may be in another
/// container.
bool is_on_this_host(const Json& entry);

}  // namespace flexrack::wire
