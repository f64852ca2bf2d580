// What the broker and a worker say to each other: messages over a Unix socket of kind SEQPACKET, with a connection
// beside some.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/descriptor.h"
#include "wire/json.h"

namespace flexrack::server {

/// One message: {"type": ...} and perhaps a descriptor.
///   to the worker:   setup (once: the lease, its key, its devices), attach (with a connection that has proved the key,
///   and what was read of it), end; move (where to), go and stay (docs/adr/0079)
///   to the broker:   state (when a broker comes to it, and when it changes), peer (a link that it expects, and its
///   key), refused; ready, stayed, moved; adopted (a session that has come to it)
struct ControlMessage {
  wire::Json body;
  Descriptor connection;
};

/// A pair of ends, close-on-exec. Throws std::system_error.
std::pair<Descriptor, Descriptor> make_control_pair();
/// A listening socket at that path, 0600; what lay there is removed. Throws std::system_error.
Descriptor listen_control(const std::string& path);
/// Takes one connection whose other end runs as this user; closed otherwise.
Descriptor accept_control(int listening);
/// Not open when nobody listens there.
Descriptor connect_control(const std::string& path);

/// False when the other end is gone or does not read.
bool send_control(int fd, const wire::Json& body, int connection = -1);
enum class ControlRead { message, nothing, gone };
/// Does not wait. What is no message counts as gone.
ControlRead receive_control(int fd, ControlMessage& message);

}  // namespace flexrack::server
