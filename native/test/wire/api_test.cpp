// Ends that mean different things by their frames part at once, and both say why.
#include <doctest/doctest.h>

#include <cstring>

#include "test/wire/rig.h"
#include "wire/handshake.h"

using namespace flexrack::test;

namespace {

constexpr Api kOther{"toy", 0x1000, 0x7100000000000000}, kElsewhere{"games", 0x2000, 0x70};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string refused(const Server& server, const char* transport, const Api& api) {
  Ear ear;
  try {
    dial(dial_to(server, transport), api, ear);
  } catch (const Error& error) {
    CHECK(error.kind() == Error::Kind::refused);
    return error.what();
  }
  return "let in";
}

/// The part of a hello that builds before revisions know.
void write_old_hello(Channel& channel, Hello hello) {
  hello.size = kLeastHello;
  write_all(channel, {reinterpret_cast<const std::uint8_t*>(&hello), kLeastHello});
}

}  // namespace

TEST_CASE("a client of another revision or API is refused, and both ends say what they speak") {
  for (const auto* transport : {"tcp", "tls", "shm"}) {
    CAPTURE(transport);
    Server server(some_key(), {}, [](Link&, const Header&, View) {});
    auto why = refused(server, transport, kOther);
    CHECK_MESSAGE(
        (has(why, "the driver speaks toy 71000000, the daemon toy 70000000") && has(why, "flexrack gpu serve")), why);
    CHECK(server.wait_refused() == why);
    why = refused(server, transport, kElsewhere);
    CHECK_MESSAGE(has(why, "the driver speaks games"), why);
    CHECK(server.count() == 0);
  }
}

TEST_CASE("a client from before revisions is refused") {
  Server server(some_key(), {}, [](Link&, const Header&, View) {});
  Preamble preamble;
  preamble.transport = Transport::tcp;
  auto channel = secure_as_client(connect_tcp("127.0.0.1", server.port(), std::chrono::seconds(5)), preamble,
                                  some_key(), std::chrono::seconds(5));
  Hello hello;
  hello.api = kToy.first_op;
  write_old_hello(*channel, hello);
  CHECK(read_hello(*channel, preamble, std::chrono::seconds(5)).revision == kToy.revision);
  CHECK(has(server.wait_refused(), "the driver speaks something older, the daemon toy 70000000"));
  std::uint8_t byte;
  while (channel->read_some({&byte, 1}) != Channel::kEnded) std::this_thread::yield();
}

TEST_CASE("a server from before revisions is not worked with") {
  Listener listener;
  std::thread old([&] {
    Socket socket(listener.accept_one());
    const auto preamble = read_preamble(socket.fd(), std::chrono::seconds(5));
    const auto channel = secure_as_server(std::move(socket), preamble, some_key(), std::chrono::seconds(5));
    auto hello = read_hello(*channel, preamble, std::chrono::seconds(5));
    write_old_hello(*channel, hello);
    std::uint8_t byte;
    while (channel->read_some({&byte, 1}) != Channel::kEnded) std::this_thread::yield();
  });
  Ear ear;
  std::string why;
  try {
    dial(dial_to(listener.port, some_key()), kToy, ear);
  } catch (const Error& error) {
    CHECK(error.kind() == Error::Kind::refused);
    why = error.what();
  }
  CHECK_MESSAGE(has(why, "the driver speaks toy 70000000, the daemon something older"), why);
  old.join();
}

TEST_CASE("a name that is no text is not shown as it is") {
  Server server(some_key(), {}, [](Link&, const Header&, View) {});
  CHECK(refused(server, "tcp", {"\x1b[31m\n", 0x1000, 0x7100000000000000}) != "let in");
  CHECK(has(server.wait_refused(), "the driver speaks ?[31m? 71000000"));
}
