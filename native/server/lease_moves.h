// Leases on their way to another server: their holder first, then all their sessions, and only then is there no way
// back (docs/adr/0079).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "server/lease_keepers.h"
#include "server/worker_pool.h"

namespace flexrack::server {

/// For the broker's thread.
class LeaseMoves {
 public:
  struct Outcome {
    std::string why;  ///< it stays, and this is why; empty: it is there
    std::size_t sessions = 0;
    std::int64_t pause_ms = 0;  ///< the longest of a session
    bool is_in_two = false;     ///< some of its sessions are there and some are here: both leases go on
  };
  using Done = std::function<void(const Outcome&)>;

  LeaseMoves(WorkerPool& workers, LeaseKeepers& keepers) : workers_(workers), keepers_(keepers) {}

  /// `to`: a server of a lease file, with a lease there. `rest`: how long a GPU may take to come to rest. `done` is
  /// called once, when all of it is over but the end of the lease here. One that nobody holds yet stays: whoever is
  /// about to hold it could not be told.
  void begin(const Id& lease, const wire::Json& to, std::chrono::milliseconds rest, Done done);
  /// The lease ends while it is on its way: so does what its holder has elsewhere in its place.
  void call_off(const Id& lease, std::string_view why);
  bool is_moving(const Id& lease) const { return moves_.contains(lease); }
  void hear(const Worker& worker, const wire::Json& word);
  void gone(const Worker& worker);

 private:
  struct Move {
    wire::Json to;
    std::int64_t rest_ms = 0;
    Done done;
    std::set<Id> asked, ready;  ///< sessions: no word of them yet; ready
    bool is_going = false;
    std::size_t moved = 0, stayed = 0;
    std::int64_t pause_ms = 0;
    std::string why;
  };
  void ask_sessions(const Id& lease);
  void decide(const Id& lease);
  void tell(const Id& lease, const std::set<Id>& sessions, const wire::Json& message);
  void end(const Id& lease);

  WorkerPool& workers_;
  LeaseKeepers& keepers_;
  std::map<Id, Move> moves_;
};

}  // namespace flexrack::server
