// Links to other servers' workers, which carry payloads that do not pass the client.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "backend/worker_thread.h"

namespace flexrack::backend {

/// Thread-safe. What may take long happens in order on a thread of its own.
class PeerLinks {
 public:
  PeerLinks(wire::Link& client, Peers& peers) : client_(client), peers_(peers) {}

  bool accept(std::uint64_t peer, wire::View key) {
    is_any_ = true;
    return peers_.accept(peer, key);
  }
  /// Whether there has been any.
  bool any() const { return is_any_; }
  /// Dials it, then `done`.
  void open(std::uint64_t peer, wire::View key, std::string_view address, std::uint16_t port, wire::View session,
            std::function<void(bool is_open)> done);
  /// Null where there is none now.
  wire::Link* find(std::uint64_t peer) { return peers_.link(peer); }
  bool is_expected(std::uint64_t peer) { return peers_.is_expected(peer); }
  /// `action` with the link behind everything that was begun before, or with null where there is none within a few
  /// seconds: it may still be on its way.
  void when_there(std::uint64_t peer, std::function<void(wire::Link*)> action);
  /// Closing waits for the thread that reads, which may be the one that calls this.
  void close_later(wire::Link& link);
  /// Lets what is being done end; drops the rest.
  void end() { thread_.close(); }

 private:
  wire::Link& client_;
  Peers& peers_;
  std::atomic<bool> is_any_ = false;
  WorkerThread thread_;
};

}  // namespace flexrack::backend
