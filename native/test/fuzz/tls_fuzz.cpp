// The proof of a lease's key over TLS, in every state of it: bytes of unproven connections to a server and to a client,
// and a relay between the two that meddles.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "wire/error.h"
#include "wire/handshake.h"

using namespace flexrack::wire;

namespace {

constexpr std::chrono::milliseconds kPatience{50};
// Where nothing is lost nobody waits for it, and a busy machine may take longer.
constexpr std::chrono::milliseconds kLongPatience{60'000};
const Bytes kKey(32, 7);

Preamble some_preamble() {
  Preamble preamble;
  preamble.lease.fill(5);
  preamble.kind = ConnectionKind::keeper;
  return preamble;
}

std::pair<Socket, Socket> make_pair_of_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  return {Socket(ends[0]), Socket(ends[1])};
}

/// What the broker does before anything else. Nobody proves a key by chance.
void prove_with(View data, std::size_t piece, Transport transport) {
  auto preamble = some_preamble();
  preamble.transport = transport;
  Proving proving(preamble, kKey);
  Bytes reply;
  auto state = Proving::State::more;
  while (!data.empty() && state == Proving::State::more) {
    const auto count = std::min({piece, data.size(), proving.room()});
    if (count == 0) std::abort();
    state = proving.feed(data.first(count), reply);
    data = data.subspan(count);
  }
  if (state == Proving::State::proved || reply.size() > sizeof(ServerProof)) std::abort();
}

/// One end, and bytes in the place of the other. The end gives up.
template <class Secure>
void tell(View data, const Secure& secure) {
  auto [near, far] = make_pair_of_sockets();
  write_within(near.fd(), data, std::chrono::seconds(1));
  shutdown(near.fd(), SHUT_WR);
  try {
    secure(std::move(far));
  } catch (const Error&) { return; }
  std::abort();
}

/// What a relay does to one record of either direction.
struct Meddling {
  std::uint8_t how = 0, record = 0, at = 0, value = 0;
};

class Relay {
 public:
  explicit Relay(View plan) {
    for (; plan.size() >= 4 && plan_.size() < 8; plan = plan.subspan(4))
      plan_.push_back({plan[0], plan[1], plan[2], plan[3]});
  }
  bool is_harmless() const { return plan_.empty(); }

  /// Until one of the two has gone.
  void pass(int client, int server) {
    pollfd both[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    Bytes pending[2];
    std::uint8_t number[2] = {0, 0};
    while (poll(both, 2, 1000) > 0) {
      for (int from = 0; from < 2; ++from) {
        if (both[from].revents == 0) continue;
        std::uint8_t some[4096];
        const auto got = recv(both[from].fd, some, sizeof some, MSG_DONTWAIT);
        if (got <= 0) {
          shutdown(client, SHUT_RDWR);
          shutdown(server, SHUT_RDWR);
          return;
        }
        pending[from].insert(pending[from].end(), some, some + got);
        // The preamble and its answer are in the clear and have sizes of their own.
        for (std::size_t size;
             (size = unit_size(pending[from], from, number[from])) > 0 && size <= pending[from].size();
             ++number[from]) {
          Bytes unit(pending[from].begin(), pending[from].begin() + static_cast<std::ptrdiff_t>(size));
          pending[from].erase(pending[from].begin(), pending[from].begin() + static_cast<std::ptrdiff_t>(size));
          meddle(unit, from, number[from]);
          write_within(both[1 - from].fd, unit, std::chrono::seconds(1));
        }
      }
    }
  }

 private:
  static std::size_t unit_size(const Bytes& bytes, int from, std::uint8_t number) {
    if (number == 0) return from == 0 ? kPreambleSize : sizeof(RawAnswer);
    return bytes.size() < 5 ? 0 : 5 + static_cast<std::size_t>(bytes[3] << 8 | bytes[4]);
  }

  void meddle(Bytes& unit, int from, std::uint8_t number) {
    for (const auto& one : plan_) {
      if (one.how % 2 != from || one.record != number || unit.empty()) continue;
      const auto at = one.at * unit.size() / 256;
      switch (one.how / 2 % 5) {
        case 0: unit[at] ^= one.value; break;
        case 1: unit.clear(); break;
        case 2: unit.insert(unit.end(), unit.begin(), unit.end()); break;
        case 3: unit.resize(at); break;
        default: unit.insert(unit.begin() + static_cast<std::ptrdiff_t>(at), one.value, one.value);
      }
    }
  }

  std::vector<Meddling> plan_;
};

/// Where both ends have a channel, what one says the other hears, or nothing.
void meddle_between(View plan) {
  Relay relay(plan);
  auto [client_end, near] = make_pair_of_sockets();
  auto [server_end, far] = make_pair_of_sockets();
  static constexpr std::uint8_t kSaid[] = "what was said";
  bool is_heard = false;
  const auto patience = relay.is_harmless() ? kLongPatience : kPatience;
  std::thread client([&, end = std::move(client_end)]() mutable {
    try {
      const auto channel = secure_as_client(std::move(end), some_preamble(), kKey, patience);
      write_all(*channel, kSaid);
      std::uint8_t byte;
      channel->keep_waiting = [] { return false; };
      channel->read_all({&byte, 1});
    } catch (const Error&) {}
  });
  std::thread server([&, end = std::move(server_end)]() mutable {
    try {
      const auto preamble = read_preamble(end.fd(), patience);
      const auto channel = secure_as_server(std::move(end), preamble, kKey, patience);
      std::uint8_t heard[sizeof kSaid] = {};
      channel->keep_waiting = [] { return false; };
      if (!channel->read_all(heard)) return;
      if (!std::equal(std::begin(heard), std::end(heard), std::begin(kSaid))) std::abort();
      is_heard = true;
    } catch (const Error&) {}
  });
  relay.pass(near.fd(), far.fd());
  client.join();
  server.join();
  if (relay.is_harmless() && !is_heard) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const View rest(data + 2, size - 2);
  switch (data[0] % 5) {
    case 0: prove_with(rest, 1 + data[1], Transport::tls); break;
    case 1: prove_with(rest, 1 + data[1], Transport::tcp); break;
    case 2:
      tell(rest, [](Socket end) { return secure_as_server(std::move(end), some_preamble(), kKey, kPatience); });
      break;
    case 3: {
      // Most is about what comes after an answer that lets it go on.
      Bytes said = data[1] % 4 == 0 ? Bytes() : encode_answer(Turned::no, {});
      said.insert(said.end(), rest.begin(), rest.end());
      tell(said, [](Socket end) { return secure_as_client(std::move(end), some_preamble(), kKey, kPatience); });
      break;
    }
    default: meddle_between(rest);
  }
  return 0;
}
