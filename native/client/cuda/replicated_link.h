// The link of a session that two servers carry out (docs/adr/0080): every message and payload goes to both, and what
// they answer comes back once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/cuda/replica_notices.h"
#include "wire/link.h"

namespace flexrack::client::cuda {

/// One of the two servers.
struct ReplicaPlace {
  std::string node;
  wire::Dial dial;
};

struct ReplicaSettings {
  /// The session ends where what both have read differs. Else the process goes on with the first one's, and the other
  /// one is left out.
  bool stops_at_mismatch = true;
  /// One that cannot be reached is tried so long while the other one is there; then that one goes on alone.
  std::chrono::milliseconds patience{3000};
  /// How far one may be ahead of the other: what both have not said is kept here. Beyond it is given up.
  ReplicaLimits limits{};
};

/// Dials both. The first that is there is the one whose word counts. Throws wire::Error where none is.
std::unique_ptr<wire::Link> replicate(const std::vector<ReplicaPlace>& places, const ReplicaSettings& settings,
                                      const wire::Api& api, wire::Receiver& receiver);

/// The same over links that `connect` makes, for tests.
using ReplicaConnect = std::function<std::unique_ptr<wire::Link>(std::size_t place, wire::Receiver&)>;
std::unique_ptr<wire::Link> replicate(const std::vector<std::string>& nodes, const ReplicaSettings& settings,
                                      const ReplicaConnect& connect, wire::Receiver& receiver);

/// What cannot be done by two servers: said on stderr, once each. CUDA_ERROR_NOT_SUPPORTED.
CUresult refuse_mirrored(std::string_view what);

}  // namespace flexrack::client::cuda
