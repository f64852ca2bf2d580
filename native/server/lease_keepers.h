// The connections that keep leases alive. Each has a thread of its own, so that the broker's never waits for a
// handshake.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/listener.h"
#include "server/leases.h"
#include "server/log.h"
#include "server/loop.h"
#include "wire/channel.h"

namespace flexrack::server {

struct KeeperAbout {
  std::string address;
  std::int64_t since = 0;  ///< Unix time
};

/// All but the threads inside is for the broker's thread; so are the callbacks.
class LeaseKeepers {
 public:
  static constexpr std::size_t kMostUnproven = 32;

  struct Events {
    std::function<void(const Id& lease)> held;                 ///< proved the key
    std::function<void(const Id& lease, bool closed)> lost;    ///< closed without goodbye, or silent
    std::function<void(const Id& lease)> goodbye;
  };

  LeaseKeepers(Loop& loop, Log& log, Events events);
  ~LeaseKeepers();

  /// `speaks`: the API of its devices, for keepers that ask.
  void admit(const Lease& lease, const wire::Api& speaks, PendingConnection pending);
  /// Tells the holder of a lease that is over, and forgets it.
  void dismiss(const Id& lease);
  /// The lease is over and all of it is given back: whoever said goodbye may go.
  void settle(const Id& lease);
  /// Has the holder of a lease hold another one too, which takes its place when the lease is dismissed: `file` is a
  /// lease file of one server. `held`, once: it does; else why it does not. A holder that is away for a moment is asked
  /// when it is back.
  void move(const Id& lease, std::string file, std::function<void(std::string_view why)> held);
  /// It gives the other one back.
  void stay(const Id& lease);
  /// As stay(), also where it has not answered yet: `held` is not called.
  void call_off(const Id& lease);
  /// Null when nobody holds it now.
  const KeeperAbout* find(const Id& lease) const;
  std::size_t count() const { return lines_.size(); }

 private:
  struct Line;
  void converse(const std::shared_ptr<Line>& line, PendingConnection pending, Key key);
  void await_settled(const std::shared_ptr<Line>& line);
  static bool send_order(Line& line, wire::Channel& channel);
  void send_move(Line& line);
  void answer_move(const Id& lease, std::string_view why);
  void proven(const std::shared_ptr<Line>& line);
  void over(const std::shared_ptr<Line>& line, std::uint8_t how);

  Loop& loop_;
  Log& log_;
  Events events_;
  std::vector<std::shared_ptr<Line>> lines_;
  std::map<Id, std::shared_ptr<Line>> current_;
  struct Asked {
    std::string order;  ///< as it is sent
    std::function<void(std::string_view why)> held;
    std::uint64_t number = 0;
  };
  std::map<Id, Asked> asked_;  ///< leases whose holder has not answered yet
  std::uint64_t last_number_ = 0;
};

}  // namespace flexrack::server
