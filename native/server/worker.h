// The process that serves one session of one client: a link, a backend, and a line to whichever broker there is.
#pragma once

#include "server/backends.h"

namespace flexrack::server {

/// Runs on descriptor 3, a control socket of the broker; returns the exit status. Does not return while a client uses
/// it.
int run_worker(const BackendChoice& backend);

}  // namespace flexrack::server
