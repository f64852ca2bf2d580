#include "backend/peer_links.h"

#include <chrono>
#include <thread>

namespace flexrack::backend {
namespace {

/// A peer's link is there when the handshake is over on this side as well; its other side knows a little sooner.
constexpr auto kPeerWithin = std::chrono::seconds(5);
constexpr auto kLookForPeerEvery = std::chrono::milliseconds(1);

}  // namespace

void PeerLinks::open(std::uint64_t peer, wire::View key, std::string_view address, std::uint16_t port,
                     wire::View session, std::function<void(bool is_open)> done) {
  is_any_ = true;
  thread_.add([this, peer, key = wire::Bytes(key.begin(), key.end()), address = std::string(address), port,
               session = wire::Bytes(session.begin(), session.end()),
               done = std::move(done)] { done(peers_.open(peer, key, address, port, session)); });
}

void PeerLinks::when_there(std::uint64_t peer, std::function<void(wire::Link*)> action) {
  thread_.add([this, peer, action = std::move(action), end = std::chrono::steady_clock::now() + kPeerWithin] {
    auto* link = peers_.link(peer);
    // One that is gone, or never was agreed on, does not come: whoever waits for it learns so at once.
    while (!link && peers_.is_expected(peer) && !client_.is_over() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(kLookForPeerEvery);
      link = peers_.link(peer);
    }
    action(link);
  });
}

void PeerLinks::close_later(wire::Link& link) {
  thread_.add([&link] { link.close(); });
}

}  // namespace flexrack::backend
