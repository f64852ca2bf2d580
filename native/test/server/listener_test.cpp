// Who may wait at the listener, and what a recording of somebody who came in is worth there.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "daemon.h"
#include "server/fair_eviction.h"
#include "server/replay_guard.h"
#include "wire/handshake.h"

namespace {

using namespace flexrack;
using test::Daemon;
using test::eventually;
using wire::Json;

/// Holds a lease through something that keeps what the holder says first: its preamble and the first message of TLS.
wire::Bytes record_a_hold(const Daemon& daemon, const wire::Dial& to) {
  wire::Preamble preamble;
  preamble.kind = wire::ConnectionKind::keeper;
  preamble.lease = wire::id_from_hex(to.lease);
  preamble.session.fill(3);
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  std::thread client(
      [&] { CHECK_NOTHROW(wire::secure_as_client(wire::Socket(ends[0]), preamble, to.key, std::chrono::seconds(5))); });
  const wire::Socket near(ends[1]), far(test::connect_raw(daemon.address()));
  wire::Bytes said;
  std::array<pollfd, 2> both{pollfd{near.fd(), POLLIN, 0}, pollfd{far.fd(), POLLIN, 0}};
  std::uint8_t some[4096];
  for (bool is_on = true, has_answer = false; is_on;) {
    poll(both.data(), both.size(), -1);
    for (std::size_t i = 0; i < 2 && is_on; ++i) {
      if (both[i].revents == 0) continue;
      const auto got = recv(both[i].fd, some, sizeof some, MSG_DONTWAIT);
      is_on =
          got > 0 && wire::write_within(both[1 - i].fd, {some, static_cast<std::size_t>(got)}, std::chrono::seconds(5));
      // The server's first message of TLS is the end of what tells of the client without its part in this very
      // handshake.
      if (is_on && i == 1 && got > 16) has_answer = true;
      if (is_on && i == 0 && !has_answer) said.insert(said.end(), some, some + got);
    }
  }
  client.join();
  return said;
}

std::int64_t refused(const Daemon& daemon, const std::string& why) {
  return daemon.ask(Json::Members{{"op", "status"}})["ok"]["refused"][why].integer();
}

TEST_CASE("the oldest of the address with the most is the one to go") {
  server::FairEviction crowd;
  CHECK_FALSE(crowd.oldest_of_the_most());
  for (int fd = 0; fd < 5; ++fd) crowd.add(fd, "one");
  crowd.add(10, "another");
  CHECK(crowd.oldest_of_the_most() == 0);
  crowd.remove(0);
  CHECK(crowd.oldest_of_the_most() == 1);
  crowd.add(1, "one");  // its number again, by somebody who came later
  CHECK(crowd.oldest_of_the_most() == 2);
  for (int fd = 1; fd < 5; ++fd) crowd.remove(fd);
  CHECK(crowd.oldest_of_the_most() == 10);
  crowd.remove(10);
  crowd.remove(10);
  CHECK(crowd.size() == 0);
}

std::string origin(const std::string& text, std::uint16_t port) {
  sockaddr_storage address{};
  auto& four = reinterpret_cast<sockaddr_in&>(address);
  auto& six = reinterpret_cast<sockaddr_in6&>(address);
  if (inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
  } else {
    REQUIRE(inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
  }
  return server::origin_of(address);
}

TEST_CASE("pending connections of one IPv6 network are one origin, and an IPv4 address within an IPv6 one is itself") {
  CHECK(origin("10.0.0.1", 1000) == origin("10.0.0.1", 2000));
  CHECK(origin("10.0.0.1", 1000) != origin("10.0.0.2", 1000));
  CHECK(origin("2001:db8:0:1::1", 1000) == origin("2001:db8:0:1:ffff:ffff:ffff:ffff", 2000));
  CHECK(origin("2001:db8:0:1::1", 1000) != origin("2001:db8:0:2::1", 1000));
  CHECK(origin("::ffff:10.0.0.1", 1000) == origin("10.0.0.1", 2000));
  CHECK(origin("::ffff:10.0.0.1", 1000) != origin("::ffff:10.0.0.2", 1000));
  CHECK(origin("::1", 1000) != origin("::ffff:10.0.0.1", 1000));
  sockaddr_storage local{};
  local.ss_family = AF_UNIX;
  CHECK(server::origin_of(local) != origin("117.110.105.120", 1000));  // whose bytes are `unix`
  server::FairEviction eviction;
  for (int fd = 0; fd < 64; ++fd) eviction.add(fd, origin("2001:db8:0:1::" + std::to_string(fd), 1000));
  for (int fd = 64; fd < 96; ++fd) eviction.add(fd, origin("2001:db8:0:2::1", static_cast<std::uint16_t>(fd)));
  CHECK(eviction.oldest_of_the_most() == 0);  // 64 addresses, and one origin that has the most
}

TEST_CASE("a mark is new once, as long as it is remembered") {
  server::ReplayGuard marks;
  const auto mark = [](std::uint32_t number) {
    wire::Digest digest{};
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&number), sizeof number, digest.begin());
    return digest;
  };
  for (std::uint32_t i = 0; i < server::ReplayGuard::kMost; ++i) CHECK(marks.add(mark(i)));
  CHECK_FALSE(marks.add(mark(0)));
  CHECK(marks.add(mark(server::ReplayGuard::kMost)));
  CHECK_FALSE(marks.add(mark(1)));
  CHECK(marks.add(mark(0)));
}

TEST_CASE("what a holder has said once makes nothing happen when others say it again") {
  Daemon daemon;
  const auto lease =
      daemon.ask(Json::Members{{"op", "lease"}, {"fraction", 0.5}, {"owner", "somebody"}, {"purpose", "a test"}});
  const auto to = test::dial_of(lease, "tls");
  const auto said = record_a_hold(daemon, to);
  REQUIRE(said.size() > wire::kPreambleSize + 100);
  constexpr int kTimes = 40;
  for (int i = 0; i < kTimes; ++i) {
    const wire::Socket unproven(test::connect_raw(daemon.address()));
    // As a client would: the message after the answer, or else it is there before anybody has asked for it.
    CHECK(wire::write_within(unproven.fd(), wire::View(said).first(wire::kPreambleSize), std::chrono::seconds(5)));
    CHECK_NOTHROW(wire::read_answer(unproven.fd(), std::chrono::seconds(5)));
    CHECK(wire::write_within(unproven.fd(), wire::View(said).subspan(wire::kPreambleSize), std::chrono::seconds(5)));
    std::uint8_t byte = 0;
    CHECK(recv(unproven.fd(), &byte, 1, 0) <= 0);
  }
  CHECK(refused(daemon, "plays again what another connection has said") == kTimes);
  CHECK(eventually([&] { return daemon.ask(Json::Members{{"op", "status"}})["ok"]["connections"].integer() == 0; }));
}

}  // namespace
