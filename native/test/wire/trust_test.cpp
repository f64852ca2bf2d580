// Nobody is let in who does not hold the key, and nothing recorded opens anything.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "test/wire/rig.h"
#include "wire/bulk.h"
#include "wire/bytes_of.h"
#include "wire/handshake.h"
#include "wire/secrets.h"

using namespace flexrack::test;

namespace {

const char* const kNetworks[] = {"tcp", "tls"};

Server::Frame nothing() {
  return [](Link&, const Header&, View) {};
}

/// Sends bytes to the server and reads until it closes.
Bytes talk(std::uint16_t port, View bytes) {
  const auto socket = connect_tcp("127.0.0.1", port, std::chrono::seconds(5));
  write_within(socket.fd(), bytes, std::chrono::seconds(5));
  shutdown(socket.fd(), SHUT_WR);
  Bytes all(65536);
  std::size_t size = 0;
  for (ssize_t got; (got = recv(socket.fd(), all.data() + size, all.size() - size, 0)) > 0;)
    size += static_cast<std::size_t>(got);
  all.resize(size);
  return all;
}

/// Passes one connection on and keeps what the client sent.
struct Recorder {
  Listener listener;
  Bytes sent;
  std::thread thread;
  explicit Recorder(std::uint16_t to) {
    thread = std::thread([this, to] {
      const Socket client(listener.accept_one());
      const auto server = connect_tcp("127.0.0.1", to, std::chrono::seconds(5));
      std::thread back([&] {
        std::uint8_t some[4096];
        for (ssize_t got; (got = recv(server.fd(), some, sizeof some, 0)) > 0;)
          write_within(client.fd(), {some, static_cast<std::size_t>(got)}, std::chrono::seconds(5));
        shutdown(client.fd(), SHUT_RDWR);
      });
      std::uint8_t some[4096];
      for (ssize_t got; (got = recv(client.fd(), some, sizeof some, 0)) > 0;) {
        sent.insert(sent.end(), some, some + got);
        write_within(server.fd(), {some, static_cast<std::size_t>(got)}, std::chrono::seconds(5));
      }
      shutdown(server.fd(), SHUT_RDWR);
      back.join();
    });
  }
};

}  // namespace

TEST_CASE("a client with the wrong key is refused, and so is a server with the wrong key") {
  for (const auto* transport : kNetworks) {
    CAPTURE(transport);
    Server server(some_key(1), {}, nothing());
    Ear ear;
    try {
      dial(dial_to(server.port(), some_key(2), transport), kToy, ear);
      FAIL("let in");
    } catch (const Error& error) { CHECK(error.kind() == Error::Kind::untrusted); }
    const auto why = server.wait_refused();
    CHECK_MESSAGE(
        (why.find("has not proved the lease's key") != std::string::npos || why.find("ended") != std::string::npos),
        why);
    CHECK(ear.overs == 0);
  }
}

TEST_CASE("a recorded connection played again opens nothing") {
  for (const auto* transport : kNetworks) {
    CAPTURE(transport);
    Server server(some_key(), {}, nothing());
    Bytes recorded;
    {
      Recorder recorder(server.port());
      Ear ear;
      auto to = dial_to(server.port(), some_key(), transport);
      to.port = recorder.listener.port;
      to.grace = std::chrono::milliseconds(0);
      const auto link = dial(to, kToy, ear);
      link->send(0x1001, 0, [](Bytes&) {});
      link->flush();
      link->close();
      recorder.thread.join();
      recorded = recorder.sent;
    }
    REQUIRE(recorded.size() > kPreambleSize);
    talk(server.port(), recorded);
    server.wait_refused();
    // Another session id does not help either: it is part of what is proved.
    recorded[40] ^= 1;
    talk(server.port(), recorded);
    while (server.refused().size() < 2) server.wait_refused(), std::this_thread::yield();
    CHECK(server.refused().size() >= 2);
  }
}

TEST_CASE("garbage after the preamble is refused, and a server serves on") {
  Server server(some_key(), {}, nothing());
  std::uint64_t state = 88172645463325252ull;
  for (int round = 0; round < 200; ++round) {
    Preamble preamble;
    preamble.kind = static_cast<ConnectionKind>(1 + round % 4);
    preamble.transport = static_cast<Transport>(1 + round % 3);
    preamble.flags = static_cast<std::uint16_t>(round % 2);
    const auto head = encode_preamble(preamble);
    Bytes bytes(kPreambleSize + 320);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof state) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      std::memcpy(bytes.data() + at, &state, sizeof state);
    }
    if (round % 5 != 0) std::memcpy(bytes.data(), head.data(), head.size());
    talk(server.port(), bytes);
  }
  Ear ear;
  const auto link = dial(dial_to(server.port(), some_key()), kToy, ear);
  CHECK(!link->is_over());
  link->close();
}

TEST_CASE("a server that is silent, turns down or says nonsense is an error within the time given") {
  Listener listener;
  const auto outcome = [&](const Bytes& says) {
    std::thread other([&] {
      const Socket socket(listener.accept_one());
      if (!says.empty()) write_within(socket.fd(), says, std::chrono::seconds(1));
      std::uint8_t some[256];
      while (recv(socket.fd(), some, sizeof some, 0) > 0) continue;
    });
    auto kind = Error::Kind::gone;
    Ear ear;
    auto to = dial_to(listener.port, some_key());
    to.connect_timeout = std::chrono::milliseconds(200);
    try {
      dial(to, kToy, ear);
      FAIL("connected");
    } catch (const Error& error) { kind = error.kind(); }
    other.join();
    return kind;
  };
  CHECK(outcome({}) == Error::Kind::unreachable);
  CHECK(outcome(Bytes(64, 0xee)) == Error::Kind::malformed);
  Bytes refusal(16 + 4);
  const std::uint32_t raw[5] = {0x41584c46, 1u | (2u << 16), 4, 0, 0x6c6c7566};
  std::memcpy(refusal.data(), raw, sizeof raw);
  CHECK(outcome(refusal) == Error::Kind::refused);
}

TEST_CASE("a client with the right key that sends garbage loses its link, and only that") {
  Server server(some_key(), {}, nothing());
  std::uint64_t state = 1234567;
  const auto noise = [&](Bytes& bytes, std::size_t from) {
    for (auto at = from; at + 8 <= bytes.size(); at += 8) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      std::memcpy(bytes.data() + at, &state, 8);
    }
  };
  for (int round = 0; round < 60; ++round) {
    Preamble preamble;
    preamble.transport = Transport::tcp;
    preamble.session[0] = static_cast<std::uint8_t>(round + 1);
    Hello hello;
    hello.session = preamble.session;
    hello.speak(kToy);
    const auto open = [&] {
      hello.kind = preamble.kind;
      auto channel = secure_as_client(connect_tcp("127.0.0.1", server.port(), std::chrono::seconds(5)), preamble,
                                      some_key(), std::chrono::seconds(5));
      write_hello(*channel, hello);
      read_hello(*channel, preamble, std::chrono::seconds(5));
      return channel;
    };
    const auto command = open();
    Bytes bytes(4096);
    noise(bytes, 0);
    if (round % 3 == 0) {
      write_all(*command, bytes);
    } else if (round % 3 == 1) {
      // A whole frame of the wire itself, with a body that is not one.
      const Header header{static_cast<std::uint16_t>(1 + round / 3 % 6), 0, 64, 1};
      std::memcpy(bytes.data(), &header, sizeof header);
      write_all(*command, View(bytes).first(80));
      write_all(*command, bytes);
    } else {
      while (server.count() <= static_cast<std::size_t>(round)) std::this_thread::yield();
      preamble.kind = ConnectionKind::bulk;
      preamble.flags = kResume;
      const auto bulk = open();
      const ChunkHeader chunk{1, 5, round % 2 == 0 ? 0u : state, 4096, round % 4 == 0 ? 0u : 4096u, 0};
      std::memcpy(bytes.data(), &chunk, sizeof chunk);
      write_all(*bulk, bytes);
      write_all(*bulk, bytes);
    }
    std::uint8_t byte;
    while (command->read_some({&byte, 1}) != Channel::kEnded) std::this_thread::yield();
  }
  Ear ear;
  const auto link = dial(dial_to(server.port(), some_key()), kToy, ear);
  CHECK(!link->is_over());
  link->close();
}

TEST_CASE("the child of a fork has a link that is over, and the parent's goes on") {
  std::atomic<std::uint64_t> heard{0};
  Server server(some_key(), {}, [&](Link&, const Header& header, View) { heard = header.sequence; });
  Ear ear;
  const auto link = dial(dial_to(server.port(), some_key()), kToy, ear);
  const auto child = fork();
  if (child == 0) {
    int failed = 0;
    std::uint8_t byte = 0;
    link->land(1, {&byte, 1}, [&](bool arrived) { failed += arrived ? 0 : 1; });
    link->push(3, {&byte, 1}, [&](bool arrived) { failed += arrived ? 0 : 1; });
    const bool is_right = link->is_over() && link->send(0x1001, 0, [](Bytes&) {}) == 0 &&
                          !link->wait([] { return false; }) && failed == 2;
    link->close();
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(link->send(0x1001, 0, [](Bytes&) {}) != 0);
  link->flush();
  while (heard == 0) std::this_thread::yield();
  link->close();
}

TEST_CASE("what is sealed opens for the same key and purpose alone, unchanged, and shows nothing") {
  const auto key = some_key();
  const std::string where = R"({"key":"00112233445566778899aabbccddeeff"})";
  const auto text = bytes_of_text(where), purpose = bytes_of_text("a"), other = bytes_of_text("b");
  const auto sealed = seal(key, {purpose}, text);
  const auto opened = unseal(key, {purpose}, sealed);
  REQUIRE(opened);
  CHECK(std::ranges::equal(*opened, text));
  CHECK(std::ranges::search(sealed, text.first(8)).empty());
  CHECK(seal(key, {purpose}, text) != sealed);  // another number each time
  CHECK(!unseal(some_key(9), {purpose}, sealed));
  CHECK(!unseal(key, {other}, sealed));
  CHECK(!unseal(key, {purpose}, text));
  for (std::size_t size = 0; size < sealed.size(); ++size) CHECK(!unseal(key, {purpose}, View(sealed).first(size)));
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    auto changed = sealed;
    changed[at] ^= 0x10;
    CHECK(!unseal(key, {purpose}, changed));
  }
  CHECK(unseal(key, {purpose}, seal(key, {purpose}, {}))->empty());
}
