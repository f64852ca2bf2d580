#include "server/worker_peers.h"

#include <unistd.h>

#include <algorithm>

#include "wire/error.h"
#include "wire/handshake.h"

namespace flexrack::server {

WorkerPeers::~WorkerPeers() { close(); }

bool WorkerPeers::accept(std::uint64_t peer, wire::View key) {
  if (!add(peer, key)) return false;
  reported_(peer, key);
  return true;
}

bool WorkerPeers::add(std::uint64_t peer, wire::View key) {
  const std::lock_guard lock(mutex_);
  if (peer == 0 || key.size() != 32 || is_closed_ || peers_.size() >= kMost || peers_.contains(peer)) return false;
  auto expected = std::make_unique<Peer>();
  expected->key.assign(key.begin(), key.end());
  peers_[peer] = std::move(expected);
  return true;
}

bool WorkerPeers::open(std::uint64_t peer, wire::View key, const std::string& address, std::uint16_t port,
                       wire::View session) {
  if (!add(peer, key)) return false;
  wire::Dial to;
  to.address = address;
  to.port = port;
  to.transport = transport_;
  to.lease = std::string(32, '0');  // the session says whose it is; whoever knows a peer's key does not know its lease
  to.key.assign(key.begin(), key.end());
  to.peer = peer;
  to.grace = limits_.grace;
  if (session.size() == to.session.size()) std::copy(session.begin(), session.end(), to.session.begin());
  auto* ours = find(peer);
  try {
    auto link = wire::dial(to, {}, ours->receiver);
    const std::lock_guard lock(mutex_);
    ours->link = std::move(link);
    ours->reader = std::thread([link = ours->link.get()] { link->wait([] { return false; }); });
    return true;
  } catch (const wire::Error&) {
    const std::lock_guard lock(mutex_);
    peers_.erase(peer);
    return false;
  }
}

wire::Link* WorkerPeers::link(std::uint64_t peer) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(peer);
  return found == peers_.end() || !found->second->link || found->second->link->is_over() ? nullptr
                                                                                         : found->second->link.get();
}

bool WorkerPeers::is_expected(std::uint64_t peer) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(peer);
  return found != peers_.end() && !found->second->link && !is_closed_;
}

void WorkerPeers::attach(int fd, const wire::Preamble& preamble, const wire::Begun& begun) {
  auto* peer = find(preamble.peer);
  if (peer == nullptr) {
    ::close(fd);
    throw wire::Error(wire::Error::Kind::refused, "a peer that nobody announced");
  }
  const bool is_first = preamble.kind == wire::ConnectionKind::peer && !preamble.is_resume();
  wire::ServerLink* server = nullptr;
  {
    const std::lock_guard lock(mutex_);
    server = peer->server;
  }
  if (is_first == (server != nullptr) || is_closed_) {
    const auto turned = is_first ? wire::Turned::replayed : wire::Turned::unknown_session;
    wire::turn_away(wire::Socket(fd), preamble, peer->key, limits_.handshake, begun, turned,
                    "the peer link is there already, or not yet");
    throw wire::Error(wire::Error::Kind::refused, "a peer's connection out of order");
  }
  if (!is_first) return server->attach(fd, preamble, begun);
  auto link = wire::accept_session(fd, preamble, peer->key, limits_, {}, peer->receiver, begun);
  const std::lock_guard lock(mutex_);
  if (peer->link) throw wire::Error(wire::Error::Kind::refused, "the peer link is there already");
  peer->server = link.get();
  peer->link = std::move(link);
  peer->reader = std::thread([server = peer->server] { server->run(); });
}

void WorkerPeers::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  for (const auto& [id, peer] : peers_) {
    if (peer->link) peer->link->close();
    if (peer->reader.joinable()) peer->reader.join();
  }
}

WorkerPeers::Peer* WorkerPeers::find(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(id);
  return found == peers_.end() ? nullptr : found->second.get();
}

}  // namespace flexrack::server
