// The leased servers of one API in this process: opened together, tried again where they are away for a moment, left
// when the process ends.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "client/lease_file.h"
#include "client/session.h"

namespace flexrack::client {

/// A leased server, and what an API keeps of it. Lives until the process ends: other threads may be inside while static
/// objects go.
class Server {
 public:
  virtual ~Server() = default;
  virtual Notices& notices() = 0;
  /// Asks it for its devices: how many there are, or nothing where it cannot say. Called by a thread of its own, again
  /// after every new session.
  virtual std::optional<std::size_t> describe(Session& session) = 0;
  /// Throws wire::Error.
  virtual std::unique_ptr<Session> connect(const wire::Api& api);

  LeasedServer lease;
  std::optional<LeasedServer> replica;  ///< that does the same (docs/adr/0080)
  std::unique_ptr<Session> session;   ///< null: not reached so far
  bool is_out = false;                ///< for good: it refused
};

class Servers {
 public:
  using Make = std::function<std::unique_ptr<Server>()>;
  using Use = std::function<bool(const std::vector<std::unique_ptr<Server>>&)>;

  /// Never destroyed, as its servers.
  Servers(const wire::Api& api, Make make) : api_(api), make_(std::move(make)) {}

  /// Reaches the servers of the lease file that are neither open nor out, all at once, and has `use` look at all of
  /// them: true where there are devices, after which nothing is opened any more. Does nothing where that was so before,
  /// in a child after fork(), or where it is too early to try again: the first call tries for a while, since loaders
  /// ask a driver once.
  void open(const Use& use);

 private:
  using Clock = std::chrono::steady_clock;
  void read_leases(const char* path);
  void open_all();
  void open_one(Server& server) const;
  bool try_once(Server& server) const;

  const wire::Api api_;
  const Make make_;
  std::mutex opening_;
  std::vector<std::unique_ptr<Server>> servers_;
  bool is_settled_ = false;
  Clock::time_point next_try_{};
  Clock::duration patience_ = std::chrono::seconds(3);  ///< a daemon that is being started again is away for a moment
  Clock::duration next_pause_ = std::chrono::seconds(2);
};

/// True from the time on when the process is ending: the application's own code may not be called any more.
bool is_ending();
/// True in a child after fork(), where no session may be used.
bool is_child();

}  // namespace flexrack::client
