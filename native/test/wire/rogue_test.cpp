// Clients that meet a server without the lease's key: a command, a peer's link, a hold and the bulk path. Nothing may
// be said to it.
#include <doctest/doctest.h>

#include "test/wire/rogue.h"

using namespace flexrack::test;

namespace {

struct Named {
  const char* name;
  Disguise disguise;
};

std::vector<Named> disguises() {
  return {{"a certificate and no key", {.has_certificate = true}},
          {"a certificate, TLS 1.2", {.has_certificate = true, .version = TLS1_2_VERSION}},
          {"neither", {}},
          {"the right id and a wrong key", {.key = some_key(9)}},
          {"a certificate and a wrong key", {.has_certificate = true, .key = some_key(9)}},
          {"the key as it is, not the one of this connection", {.has_certificate = true, .key = Bytes(32, 0)}}};
}

/// What becomes of a dialler at a server in that disguise.
Error::Kind fate(const std::function<void(const Dial&)>& dial_there, const Disguise& disguise, std::string& why) {
  Rogue rogue(disguise);
  auto kind = Error::Kind::unreachable;
  try {
    dial_there(dial_to(rogue.port(), some_key(), "tls"));
    FAIL_CHECK("connected");
  } catch (const Error& error) {
    kind = error.kind();
    why = error.what();
  }
  CHECK(rogue.connections == 1);
  CHECK(rogue.reported == 0);
  return kind;
}

/// Passes its first connection on to one server, and those after it to another.
class Switch {
 public:
  Switch(std::uint16_t first, std::uint16_t then)
      : acceptor_([this, first, then] {
          auto to = first;
          for (int fd; (fd = listener_.accept_one()) >= 0; to = then) {
            threads_.emplace_back([client = std::make_shared<Socket>(fd), to] {
              pass(*client, connect_tcp("127.0.0.1", to, std::chrono::seconds(5)));
            });
          }
        }) {}
  ~Switch() {
    listener_.close();
    acceptor_.join();
    for (auto& thread : threads_) thread.join();
  }
  std::uint16_t port() const { return listener_.port; }

 private:
  static void pass(const Socket& client, const Socket& server) {
    pollfd both[2] = {{client.fd(), POLLIN, 0}, {server.fd(), POLLIN, 0}};
    std::uint8_t some[65536];
    while (poll(both, 2, -1) >= 0) {
      for (int i = 0; i < 2; ++i) {
        if (both[i].revents == 0) continue;
        const auto got = recv(both[i].fd, some, sizeof some, MSG_DONTWAIT);
        if (got <= 0 || !write_within(both[1 - i].fd, {some, static_cast<std::size_t>(got)}, std::chrono::seconds(5)))
          return;
      }
    }
  }

  Listener listener_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace

TEST_CASE("no client says anything to a server that has not proved the lease's key, whatever else it shows") {
  const std::pair<const char*, std::function<void(const Dial&)>> diallers[] = {
      {"command",
       [](const Dial& to) {
         Ear ear;
         dial(to, kToy, ear);
       }},
      {"peer",
       [](Dial to) {
         Ear ear;
         to.peer = 7;
         dial(to, kToy, ear);
       }},
      {"hold", [](const Dial& to) { dial_keeper(to); }}};
  for (const auto& [kind, dial_there] : diallers) {
    for (const auto& [name, disguise] : disguises()) {
      CAPTURE(kind);
      CAPTURE(name);
      std::string why;
      CHECK(fate(dial_there, disguise, why) == Error::Kind::untrusted);
      CHECK_MESSAGE(why.find("has not proved the lease's key") != std::string::npos, why);
      CHECK_MESSAGE(why.find("flexrack gpu list") != std::string::npos, why);
    }
  }
}

TEST_CASE("a bulk path that leads to a rogue ends the link, and no byte of a payload goes there") {
  for (const auto& [name, disguise] : disguises()) {
    CAPTURE(name);
    Server server(some_key(), {}, [](Link&, const Header&, View) {});
    Rogue rogue(disguise);
    {
      const Switch between(server.port(), rogue.port());
      Ear ear;
      const auto link = dial(dial_to(between.port(), some_key(), "tls"), kToy, ear);
      const auto data = pattern(100'000, 1);
      std::atomic<int> arrived = -1;
      link->push(1, data, [&](bool did) { arrived = did ? 1 : 0; });
      CHECK(ear.wait_over().find("has not proved the lease's key") != std::string::npos);
      link->close();
      CHECK(arrived == 0);
    }
    CHECK(rogue.reported == 0);
  }
}

TEST_CASE("what a server has said to one client is worth nothing to another, even with the same id and key") {
  // The server's own bytes, as they passed to a client that it knows.
  Server server(some_key(), {}, [](Link&, const Header&, View) {});
  Bytes said;
  {
    Preamble preamble;
    preamble.kind = ConnectionKind::command;
    const auto socket = connect_tcp("127.0.0.1", server.port(), std::chrono::seconds(5));
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    std::thread client(
        [&] { CHECK_NOTHROW(secure_as_client(Socket(ends[0]), preamble, some_key(), std::chrono::seconds(5))); });
    const Socket near(ends[1]);
    pollfd both[2] = {{near.fd(), POLLIN, 0}, {socket.fd(), POLLIN, 0}};
    std::uint8_t some[65536];
    for (bool is_on = true; is_on;) {
      poll(both, 2, -1);
      for (int i = 0; i < 2 && is_on; ++i) {
        if (both[i].revents == 0) continue;
        const auto got = recv(both[i].fd, some, sizeof some, MSG_DONTWAIT);
        is_on = got > 0 && write_within(both[1 - i].fd, {some, static_cast<std::size_t>(got)}, std::chrono::seconds(5));
        if (is_on && i == 1) said.insert(said.end(), some, some + got);
      }
    }
    client.join();
  }
  REQUIRE(said.size() > 100);
  Listener listener;
  std::thread player([&] {
    const Socket socket(listener.accept_one());
    write_within(socket.fd(), said, std::chrono::seconds(5));
    std::uint8_t some[4096];
    while (recv(socket.fd(), some, sizeof some, 0) > 0) continue;
  });
  Ear ear;
  try {
    dial(dial_to(listener.port, some_key(), "tls"), kToy, ear);
    FAIL_CHECK("connected");
  } catch (const Error& error) { CHECK(error.kind() == Error::Kind::untrusted); }
  player.join();
}

TEST_CASE("a client that has no key is let in by no server, whatever it shows") {
  Server server(some_key(), {}, [](Link&, const Header&, View) {});
  Preamble preamble;
  preamble.lease = id_from_hex(dial_to(0, some_key()).lease);
  const auto socket = connect_tcp("127.0.0.1", server.port(), std::chrono::seconds(5));
  write_within(socket.fd(), encode_preamble(preamble), std::chrono::seconds(5));
  read_answer(socket.fd(), std::chrono::seconds(5));
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
  SSL_set_fd(ssl.get(), socket.fd());
  CHECK(SSL_connect(ssl.get()) != 1);
  CHECK(server.wait_refused().find("the client has not proved the lease's key") != std::string::npos);
  CHECK(server.count() == 0);
}
