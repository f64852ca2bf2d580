// A bulk connection between two processes of one host: a memory file with a ring of bytes each way instead of the
// socket's.
#pragma once

#include <chrono>

#include "wire/channel.h"

namespace flexrack::wire {

/// Client, after the hellos on a Unix socket: makes the memory and passes it to the server. Where it cannot be made,
/// the socket itself goes on. Throws Error{gone}.
std::unique_ptr<Channel> offer_shared_memory(std::unique_ptr<Channel> socket);
/// Server: takes what the client passes. Memory that could shrink under us is refused. Throws Error: gone, malformed,
/// unreachable.
std::unique_ptr<Channel> take_shared_memory(std::unique_ptr<Channel> socket, std::chrono::milliseconds deadline);

}  // namespace flexrack::wire
