// Links between the servers of a context, made when the first copy needs them.
#pragma once

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// The id of the link between two servers' workers; 0 where there is none, since they do not reach each other.
std::uint64_t peer_between(Session& from, Session& to);

/// A queue of our own at a place, out of order where the device can, for copies that must not wait for the
/// application's commands. 0: the device makes none.
std::uint64_t transfer_queue(cl_context context, std::size_t place);

}  // namespace flexrack::client::opencl
