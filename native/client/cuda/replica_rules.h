// What two servers that carry out the same messages must agree on, and whose answer a caller gets (docs/adr/0080).
#pragma once

#include <string>

#include "gen/cuda/messages.h"

namespace flexrack::client::cuda {

/// One server's answer to a call.
struct ReplicaAnswer {
  std::uint16_t flags = 0;
  wire::Bytes body;              ///< behind the call's sequence number
};

/// The caller gets its answer when both have answered: whatever makes something, and must have come out alike, and
/// whatever says that something is over, since the program may go on with it on another stream. Else it gets the first
/// server's.
bool is_for_both(std::uint16_t op);

/// What both say differently and must not, for people: "Allocate: error 2 here, success there". Empty: nothing.
std::string difference(std::uint16_t op, const ReplicaAnswer& here, const ReplicaAnswer& there);

/// The one answer of two that do not differ: `here`, without what only one of them has or has reached.
void join_answers(std::uint16_t op, ReplicaAnswer& here, const ReplicaAnswer& there);

}  // namespace flexrack::client::cuda
