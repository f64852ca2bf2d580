// The workers as the broker knows them: started, adopted after a restart, handed connections, ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/backends.h"
#include "server/control.h"
#include "server/listener.h"
#include "server/leases.h"
#include "server/liveness.h"
#include "server/log.h"
#include "server/loop.h"
#include "server/spawn.h"

namespace flexrack::server {

/// One session of one client, and the process that serves it.
struct Worker {
  Id session{}, lease{};
  ProcessMark mark;
  Descriptor pidfd, control;
  std::string address;          ///< of the client when it came
  std::int32_t client_pid = 0;
  std::int64_t started = 0;     ///< Unix time
  bool proven = false;          ///< the client has shown that it has the lease's key
  bool is_child = true;
  std::map<std::uint64_t, wire::Bytes> peers;  ///< keys of the links that it expects, by their ids
};

struct WorkerPoolSettings {
  std::string root, runtime;
  std::chrono::milliseconds grace{30000};  ///< `gpu serve` always says another or the same (src/lib/gpu/serve.ts)
  bool is_fabric_trusted = false;
  bool spare = true;            ///< keep one worker started that has loaded the driver already
  BackendChoice backend;
};

class WorkerPool {
 public:
  static constexpr std::size_t kMostOfALease = 64;
  static constexpr std::size_t kMostUnproven = 16;   ///< processes whose client has not finished its handshake
  static constexpr auto kEndWithin = std::chrono::seconds(2);

  WorkerPool(Loop& loop, Log& log, WorkerPoolSettings settings);

  const std::map<Id, std::unique_ptr<Worker>>& workers() const { return workers_; }
  Worker* find(const Id& session);
  const Worker* find(const Id& session) const;
  std::size_t count(const Id& lease) const;
  std::size_t count_unproven() const;

  /// A process for a new session, and its first connection. Throws std::system_error.
  void start(const Lease& lease, const std::vector<backend::DeviceReport>& devices, PendingConnection pending);
  /// A further connection of a session. False: its worker does not take it.
  bool pass(Worker& worker, PendingConnection pending);
  /// Takes what it has said so far.
  void hear(Worker& worker);
  /// Asks them to end, kills what is left after 2 s; then `gone`.
  void end(const Id& lease, std::string_view why, std::function<void()> gone);
  /// Finds the workers that an earlier broker started. Those whose lease `is_known` does not have are ended.
  void adopt(const std::function<bool(const Id&)>& is_known);
  /// Ends the spare; the others run on.
  void leave();
  void keep_spare();

  /// What it says of a move (docs/adr/0079).
  std::function<void(const Worker&, const wire::Json&)> on_move_word = [](const Worker&, const wire::Json&) {};
  /// Takes what the workers of a lease have said so far: one may have a session that its client knows of already.
  void hear_all(const Id& lease);

  std::function<void(const Worker&)> on_gone = [](const Worker&) {};

 private:
  struct Spare {
    Spawned process;
    Descriptor control;
  };
  Spare start_process();
  void watch(Worker& worker);
  bool hear_one(Worker& worker);
  void gone(const Id& session);
  void adopt_one(const std::string& path, const std::function<bool(const Id&)>& is_known);

  Loop& loop_;
  Log& log_;
  WorkerPoolSettings settings_;
  std::map<Id, std::unique_ptr<Worker>> workers_;
  std::map<Id, Id> adopted_;  ///< sessions that have come from other servers, and what their workers are called here
  std::unique_ptr<Spare> spare_;
  std::vector<std::pair<Id, std::function<void()>>> waiting_;  ///< for the last worker of a lease to be gone
};

/// Where a lease's memory accounting lies.
std::string accounting_path(const std::string& runtime, const Id& lease);
/// Where the scheduler of a device lies; its native id may hold anything.
std::string scheduler_path(const std::string& runtime, const std::string& native_id);
/// Where it is said whose memory is on the device.
std::string residency_path(const std::string& runtime, const std::string& native_id);

}  // namespace flexrack::server
