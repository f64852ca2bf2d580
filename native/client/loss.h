// A program that lost its GPUs fails like any other: that it was a loss is told beside its exit status.
#pragma once

#include <string_view>

namespace flexrack::client {

/// A line in the file that FLEXRACK_LEASE_LOST names, for whoever started the command (`attach --restart`): `lost: WHY`
/// of a server or a session that is gone, `ended: WHY` of a lease that somebody has given back. Where no file is named
/// or it cannot be written nobody asks, and nothing happens.
void tell_lost(std::string_view why);
void tell_ended(std::string_view why);

/// A line in the file that FLEXRACK_MIRROR_REPORT names, and on stderr: one of two servers that do the same is lost, or
/// what they differ in (docs/adr/0080).
void tell_replica_lost(std::string_view text);
void tell_mismatch(std::string_view text);
/// What the program has asked for and cannot have there.
void tell_refused(std::string_view text);

/// Whether somebody asks.
bool is_loss_asked();

}  // namespace flexrack::client
