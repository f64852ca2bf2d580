// The links of one worker to other servers' workers, for copies that do not pass the client.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "backend/backend.h"
#include "wire/accept.h"

namespace flexrack::server {

/// Thread-safe.
class WorkerPeers : public backend::Peers {
 public:
  static constexpr std::size_t kMost = 128;

  /// `told`: of each link that is expected from now on, and its key, before anybody else knows.
  WorkerPeers(std::string transport, wire::Limits limits,
              std::function<void(std::uint64_t peer, wire::View key)> reported)
      : transport_(std::move(transport)), limits_(limits), reported_(std::move(reported)) {}
  ~WorkerPeers() override;

  bool accept(std::uint64_t peer, wire::View key) override;
  bool open(std::uint64_t peer, wire::View key, const std::string& address, std::uint16_t port,
            wire::View session) override;
  wire::Link* link(std::uint64_t peer) override;
  bool is_expected(std::uint64_t peer) override;
  wire::Link* take_over(wire::View session, wire::View state) override { return on_take_over(session, state); }
  std::function<wire::Link*(wire::View session, wire::View state)> on_take_over = [](wire::View, wire::View) {
    return static_cast<wire::Link*>(nullptr);
  };

  /// A connection of a peer link that came to this worker. Takes the descriptor; blocks for the handshake. Throws
  /// wire::Error.
  void attach(int fd, const wire::Preamble& preamble, const wire::Begun& begun);
  void close();

 private:
  // Payloads only: a frame would be the other worker's mistake, and is nothing to us.
  class Deaf : public wire::Receiver {
   public:
    void on_frame(const wire::Header&, wire::View) override {}
    void on_over(std::string_view) override {}
  };
  struct Peer {
    wire::Bytes key;
    Deaf receiver;
    std::unique_ptr<wire::Link> link;
    wire::ServerLink* server = nullptr;  ///< the same, when the other side dialled
    std::thread reader;
  };
  bool add(std::uint64_t peer, wire::View key);
  Peer* find(std::uint64_t id);

  std::mutex mutex_;
  std::string transport_;
  wire::Limits limits_;
  const std::function<void(std::uint64_t peer, wire::View key)> reported_;
  std::map<std::uint64_t, std::unique_ptr<Peer>> peers_;
  bool is_closed_ = false;
};

}  // namespace flexrack::server
