// The broker: who may come in, which worker a connection belongs to, and the end of what is over.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/worker_pool.h"
#include "server/listener.h"
#include "server/time_slice_scheduler.h"
#include "server/residency.h"
#include "server/lease_keepers.h"
#include "server/lease_moves.h"
#include "server/leases.h"
#include "server/memory_accounting.h"
#include "server/log.h"
#include "server/loop.h"
#include "server/replay_guard.h"

namespace flexrack::server {

struct BrokerSettings {
  std::string root, runtime;
  BackendChoice backend;
  std::string transport = "auto";
  std::chrono::milliseconds grace{30000};  ///< `gpu serve` always says another or the same (src/lib/gpu/serve.ts)
  bool is_fabric_trusted = false;   ///< plain TCP from other hosts is allowed
  bool spare = true;
  std::uint64_t most_swapped = 0;   ///< bytes of the host's memory for leases that take turns (docs/adr/0081)
  // Filled in when it listens.
  std::string address, admin, unix_path;
  std::uint16_t port = 0;
};

class Broker {
 public:
  Broker(Loop& loop, Log& log, BrokerSettings settings, std::vector<backend::DeviceReport> devices);

  /// Takes over the leases and workers of the broker before it.
  void take_over();
  /// Before a pending connection has proved anything: the key that is to be proved. Nothing where it was turned away.
  std::optional<wire::Bytes> judge(const PendingConnection& pending);
  /// One that has proved the key.
  void enter(PendingConnection pending);

  const BrokerSettings& settings() const { return settings_; }
  const Leases& leases() const { return leases_; }
  const WorkerPool& worker_pool() const { return worker_pool_; }
  const LeaseKeepers& lease_keepers() const { return lease_keepers_; }
  const Log& log() const { return log_; }
  std::int64_t started() const { return started_; }

  std::variant<Id, Denial> grant(const Wish& wish);
  bool renew(const Id& lease);
  /// `done` when its workers are gone and their memory is given back. False: no such lease.
  bool release(const Id& lease, std::string_view why, std::function<void()> done);
  /// Has all sessions of a lease go to another server, and ends it here when they are there. False: no such lease, or
  /// it is on its way already.
  bool move(const Id& lease, const wire::Json& to, std::chrono::milliseconds rest, LeaseMoves::Done done);
  /// Ends every lease, then the loop.
  void stop_all(std::function<void()> done);
  /// Ends the spare worker and leaves everything else running.
  void leave() { worker_pool_.leave(); }
  /// Whether there is neither a lease nor a worker.
  bool has_nothing() const { return leases_.all().empty() && worker_pool_.workers().empty(); }

  /// Of a lease that takes turns, or of all sessions that take turns on a device: what is where, and how they are.
  struct Turns {
    std::uint64_t physical = 0, swapped = 0, count = 0;   ///< bytes on the device, bytes in the host's memory, turns
    Standing standing = Standing::in;                     ///< the worst of its sessions
  };
  Turns turns(std::size_t device, const Lease* of) const;

  std::uint64_t used(const Id& lease, std::size_t share) const;
  std::uint64_t used_by(const Worker& worker) const;
  /// The part of the last second that the device worked for this lease, 0 to 1, as of the last look: what its watchers
  /// are told too.
  double utilization(const Id& lease, std::size_t share) const;
  /// Of the last minute: seconds that its longest launch took there. Nothing where none was timed alone.
  std::optional<double> longest_launch(const Id& lease, std::size_t share) const;

 private:
  struct Books {
    MemoryAccounting accounting;
    struct Sample {
      Clock::time_point at;
      std::vector<std::uint64_t> busy;  ///< nanoseconds of each share
    };
    std::vector<Sample> samples;        ///< the newest last
  };
  std::optional<wire::Bytes> judge_peer(const PendingConnection& pending);
  /// Why this connection of a session cannot be; nothing where it can.
  std::optional<std::pair<wire::Turned, std::string_view>> objection(const PendingConnection& pending) const;
  bool may_use_transport(const PendingConnection& pending) const;
  void await_none(std::function<void()> done);
  void open_books(const Lease& lease);
  void save();
  void watch_deadlines();
  void sample();
  void worker_gone(const Worker& worker);
  void begin_session(const Lease& lease, PendingConnection pending);

  Loop& loop_;
  Log& log_;
  BrokerSettings settings_;
  Leases leases_;
  WorkerPool worker_pool_;
  LeaseKeepers lease_keepers_;
  LeaseMoves moves_;
  ReplayGuard replay_guard_;
  std::map<Id, Books> books_;
  void settle_capacity();

  std::vector<SchedulerFile> schedulers_;
  mutable std::vector<ResidencyFile> residencies_;   ///< of each device, where leases take turns
  std::uint64_t deadline_ = 0;
  std::int64_t started_;
};

}  // namespace flexrack::server
