// The broker's process: its folder, its sockets, its signals.
#pragma once

#include <string>
#include <vector>

#include "server/broker.h"

namespace flexrack::server {

struct DaemonSettings {
  BrokerSettings broker;
  std::vector<std::string> binds;  ///< numeric addresses; none: loopback
  std::string advertise;           ///< what leases name as the address; empty: the first of `binds`
  std::uint16_t port = 0;
};

/// Serves until it is told to end; returns the exit status.
int run_daemon(DaemonSettings settings);

}  // namespace flexrack::server
