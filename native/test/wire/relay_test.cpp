// Somebody between a client and its server who drops, repeats, reorders, cuts or changes what passes: the two notice,
// and say nothing wrong.
#include <doctest/doctest.h>

#include <cstring>

#include "test/wire/rig.h"

using namespace flexrack::test;

namespace {

enum class Harm { drop, repeat, swap, cut, flip };
constexpr Harm kHarms[] = {Harm::drop, Harm::repeat, Harm::swap, Harm::cut, Harm::flip};

/// Does one harm to the `at`th unit of one direction of its first connection: the preamble or its answer first, then
/// records of TLS. Passes the connections after it on as they are.
class Meddler {
 public:
  Meddler(std::uint16_t to, Harm harm, bool is_from_client, std::size_t at)
      : harm_(harm), is_from_client_(is_from_client), at_(at), acceptor_([this, to] {
          bool is_first = true;
          for (int fd; (fd = listener_.accept_one()) >= 0; is_first = false) {
            auto client = std::make_shared<Socket>(fd),
                 server = std::make_shared<Socket>(connect_tcp("127.0.0.1", to, std::chrono::seconds(5)));
            threads_.emplace_back([=, this] { pass(*client, *server, kPreambleSize, is_first && is_from_client_); });
            threads_.emplace_back([=, this] { pass(*server, *client, 16, is_first && !is_from_client_); });
          }
        }) {}
  ~Meddler() {
    listener_.close();
    acceptor_.join();
    for (auto& thread : threads_) thread.join();
  }
  std::uint16_t port() const { return listener_.port; }
  std::atomic<bool> has_harmed = false;

 private:
  /// One unit as it came; empty at the end.
  static Bytes read_unit(int fd, std::size_t first_size) {
    Bytes unit(first_size == 0 ? 5 : first_size);
    try {
      read_within(fd, unit, std::chrono::seconds(60));
      if (first_size != 0) return unit;
      const auto size = static_cast<std::size_t>(unit[3] << 8 | unit[4]);
      unit.resize(5 + size);
      read_within(fd, std::span(unit).subspan(5), std::chrono::seconds(60));
      return unit;
    } catch (const Error&) { return {}; }
  }

  void pass(const Socket& from, const Socket& to, std::size_t first_size, bool is_harming) {
    Bytes kept;
    for (std::size_t number = 0;; ++number) {
      auto unit = read_unit(from.fd(), number == 0 ? first_size : 0);
      if (unit.empty()) break;
      if (is_harming && number == at_) {
        has_harmed = true;
        if (harm_ == Harm::drop) continue;
        if (harm_ == Harm::repeat) unit.insert(unit.end(), unit.begin(), unit.end());
        if (harm_ == Harm::flip)
          unit[unit.size() - 1 - at_ % unit.size() / 2] ^= static_cast<std::uint8_t>(1u << at_ % 8);
        if (harm_ == Harm::cut) unit.resize(unit.size() / 2);
        if (harm_ == Harm::swap) {
          kept = std::move(unit);
          continue;
        }
      }
      if (!kept.empty()) unit.insert(unit.end(), kept.begin(), kept.end()), kept.clear();
      if (!write_within(to.fd(), unit, std::chrono::seconds(5))) break;
      if (is_harming && number == at_ && harm_ == Harm::cut) break;
    }
    shutdown(from.fd(), SHUT_RDWR);
    shutdown(to.fd(), SHUT_RDWR);
  }

  const Harm harm_;
  const bool is_from_client_;
  const std::size_t at_;
  Listener listener_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

constexpr std::uint64_t kFrames = 40;

/// Sends frames through the meddler. What the server hears is right and in order, and all of it where the client has a
/// link in the end.
bool is_link_whole(Harm harm, bool is_from_client, std::size_t at) {
  std::mutex lock;
  std::vector<std::uint64_t> heard;
  std::atomic<std::uint64_t> answered = 0;
  Server server(some_key(), {}, [&](Link& link, const Header& header, View body) {
    std::uint64_t number = 0;
    if (body.size() == sizeof number) std::memcpy(&number, body.data(), sizeof number);
    const std::lock_guard guard(lock);
    heard.push_back(header.op == 0x1001 ? number : 0);
    link.send(0x1002, 0, [&](Bytes& out) { Writer(out).put(number); });
    link.flush();
  });
  Meddler meddler(server.port(), harm, is_from_client, at);
  auto to = dial_to(meddler.port(), some_key(), "tls");
  to.connect_timeout = std::chrono::milliseconds(700);  // for handshakes that lack something
  to.grace = std::chrono::seconds(60);
  Ear ear;
  bool is_right = true;
  ear.frame = [&](const Header&, View body) {
    std::uint64_t number = 0;
    std::memcpy(&number, body.data(), std::min(body.size(), sizeof number));
    is_right = is_right && number == answered + 1;
    answered = number;
  };
  bool has_link = false;
  try {
    const auto link = dial(to, kToy, ear);
    for (std::uint64_t number = 1; number <= kFrames; ++number) {
      link->send(0x1001, 0, [&](Bytes& out) { Writer(out).put(number); });
      link->flush();
    }
    has_link = link->wait([&] { return answered >= kFrames; });
    link->close();
  } catch (const Error&) {}
  const std::lock_guard guard(lock);
  for (std::size_t i = 0; i < heard.size(); ++i) CHECK(heard[i] == i + 1);
  CHECK(is_right);
  if (has_link) CHECK(heard.size() == kFrames);
  return has_link;
}

}  // namespace

TEST_CASE("whatever a relay does to what passes, both ends have all of it in order, or no link") {
  int whole = 0, none = 0;
  for (const auto harm : kHarms) {
    for (const bool is_from_client : {true, false}) {
      // 0 is in the clear, 1 to 5 are the handshake and the hello, those after them frames.
      for (const std::size_t at : {0, 1, 2, 3, 4, 6, 9}) {
        CAPTURE(static_cast<int>(harm));
        CAPTURE(is_from_client);
        CAPTURE(at);
        ++(is_link_whole(harm, is_from_client, at) ? whole : none);
      }
    }
  }
  // A harm in the handshake leaves no link; one after it leaves a connection, in whose place another comes.
  CHECK(whole > 10);
  CHECK(none > 10);
}
