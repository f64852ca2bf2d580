// Holders of leases at a broker: several connections that say what they like, in any order and pieces, while leases
// end. What the broker is told stays in order, only held leases are lost or given back, answers are of the protocol,
// and no connection is left.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "server/lease_keepers.h"
#include "wire/codec.h"
#include "wire/keeper_stream.h"

using namespace flexrack;
using namespace flexrack::server;

namespace {

constexpr std::size_t kLeases = 2, kConnections = 4;
constexpr wire::Api kSpeaks{"fuzzed", 0x1000, 0x0102030405060708};
constexpr auto kStep = std::chrono::milliseconds(1);

Id id_of(std::size_t number) {
  Id id{};
  id.fill(static_cast<std::uint8_t>(number % kLeases + 1));
  return id;
}

/// One after the other: connect, say some bytes, close, end a lease, or wait.
class Story {
 public:
  explicit Story(wire::View script)
      : script_(script),
        log_("/dev/null"),
        lease_keepers_(loop_, log_,
                       {[this](const Id& lease) { is_held_[lease] = was_held_[lease] = true; },
                        [this](const Id& lease, bool) {
                          if (!is_held_[lease]) std::abort();
                          is_held_[lease] = false;
                        },
                        [this](const Id& lease) {
                          if (!was_held_[lease]) std::abort();
                          end(lease);
                        }}) {}

  void tell() {
    loop_.after(kStep, [this] { step(); });
    loop_.run();
  }

 private:
  void step() {
    for (std::size_t i = 0; i < kConnections; ++i) hear(i);
    if (script_.left() < 2) return finish();
    const auto what = script_.get<std::uint8_t>();
    const auto which = script_.get<std::uint8_t>();
    const auto at = which % kConnections;
    switch (what % 8) {
      case 0: connect(at, which / kConnections); break;
      case 1: ends_[at].reset(); break;
      case 2: end(id_of(which)); break;
      case 3: return void(loop_.after(std::chrono::milliseconds(which % 8), [this] { step(); }));
      default: say(at, what / 8);
    }
    loop_.after(kStep, [this] { step(); });
  }

  void connect(std::size_t at, std::size_t lease_number) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
    ends_[at].reset(ends[0]);
    heard_[at] = 0;
    Lease lease;
    lease.id = id_of(lease_number);
    PendingConnection pending;
    pending.connection.reset(ends[1]);
    pending.preamble.kind = wire::ConnectionKind::keeper;
    pending.preamble.transport = wire::Transport::tcp;
    pending.preamble.lease = lease.id;
    pending.begun.is_answered = true;  // how it came here is tls_fuzz's
    lease_keepers_.admit(lease, kSpeaks, std::move(pending));
  }

  /// The next bytes of the script, as they are.
  void say(std::size_t at, std::size_t count) {
    wire::Bytes bytes;
    while (bytes.size() < count && script_.left() > 0) bytes.push_back(script_.get<std::uint8_t>());
    if (ends_[at].is_open() && !bytes.empty())
      send(ends_[at].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void end(const Id& lease) {
    is_held_[lease] = false;
    lease_keepers_.dismiss(lease);
    lease_keepers_.settle(lease);
  }

  /// Echoes, ends, and what the lease's devices speak: whole, behind the byte that announces it.
  void hear(std::size_t at) {
    std::array<std::uint8_t, 512> bytes{};
    const auto got = ends_[at].is_open() ? recv(ends_[at].get(), bytes.data(), bytes.size(), MSG_DONTWAIT) : 0;
    const wire::KeeperApi served(kSpeaks);
    const auto* expected = reinterpret_cast<const std::uint8_t*>(&served);
    for (const auto byte : std::span(bytes).first(static_cast<std::size_t>(std::max<ssize_t>(got, 0)))) {
      if (heard_[at] > 0) {
        if (byte != expected[sizeof served - heard_[at]--]) std::abort();
      } else if (byte == wire::kKeeperAsk) {
        heard_[at] = sizeof served;
      } else if (byte != wire::kKeeperPing && byte != wire::kKeeperEnded) {
        std::abort();
      }
    }
  }

  void finish() {
    for (auto& end : ends_) end.reset();
    if (lease_keepers_.count() == 0) return loop_.stop();
    loop_.after(kStep, [this] { finish(); });
  }

  wire::Reader script_;
  Loop loop_;
  Log log_;
  std::map<Id, bool> is_held_, was_held_;
  std::array<Descriptor, kConnections> ends_;
  std::array<std::size_t, kConnections> heard_{};  ///< bytes that are still to come of what its devices speak
  LeaseKeepers lease_keepers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Story({data, size}).tell();
  return 0;
}
