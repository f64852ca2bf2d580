// What a client says while its session is on its way to another server: kept, but not without end.
#include <doctest/doctest.h>

#include "test/wire/rig.h"
#include "wire/handshake.h"
#include "wire/secrets.h"

using namespace flexrack::test;

namespace {

constexpr std::uint16_t kSay = 0x1001;
constexpr std::size_t kPiece = std::size_t{1} << 20;

}  // namespace

TEST_CASE(
    "a client that says more while its session is parked than it may unacknowledged waits, and all of it arrives") {
  constexpr std::uint64_t kPieces = 200;  // more than a parked link takes
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> is_wrong{false};
  Server server(some_key(), {}, [&](Link&, const Header&, View body) {
    Reader reader(body);
    if (reader.get<std::uint64_t>() != next++) is_wrong = true;
  });
  Ear ear;
  const auto client = dial(dial_to(server.port(), some_key()), kToy, ear);
  auto& link = *server.session().link;
  link.park();
  std::atomic<std::uint64_t> said{0};
  std::thread saying([&] {
    for (std::uint64_t i = 0; i < kPieces; ++i, ++said)
      client->send(kSay, 0, [&](Bytes& out) {
        Writer(out).put(i);
        out.resize(out.size() + kPiece);
      });
    client->flush();
  });
  while (said < Limits{}.unacknowledged / kPiece) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(next == 0);
  link.unpark();
  saying.join();
  while (next < kPieces && !client->is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(next == kPieces);
  CHECK(!is_wrong);
  client->close();
}

TEST_CASE("a client that goes on saying things to a parked link is ended") {
  Limits limits;
  limits.unacknowledged = std::size_t{1} << 20;
  Server server(some_key(), limits, [](Link&, const Header&, View) {});
  Preamble preamble;
  preamble.transport = Transport::tcp;
  fill_random(preamble.session);
  const auto channel = secure_as_client(connect_tcp("127.0.0.1", server.port(), std::chrono::seconds(5)), preamble,
                                        some_key(), std::chrono::seconds(5));
  Hello hello;
  hello.kind = preamble.kind;
  hello.session = preamble.session;
  hello.speak(kToy);
  write_hello(*channel, hello);
  read_hello(*channel, preamble, std::chrono::seconds(5));
  auto& session = server.session();
  session.link->park();
  // A server that has ended reads no more, and where its buffer is full then nothing else tells us.
  channel->keep_waiting = [&] {
    const std::lock_guard guard(session.ear.lock);
    return session.ear.overs == 0;
  };
  // It takes no notice of what is acknowledged.
  Bytes frame(sizeof(Header) + kPiece);
  std::uint64_t said = 0;
  for (bool is_taken = true; is_taken && said < 1000;) {
    const Header header{kSay, 0, static_cast<std::uint32_t>(kPiece), ++said};
    std::memcpy(frame.data(), &header, sizeof header);
    is_taken = write_all(*channel, frame);
  }
  CHECK(said < 100);
  CHECK(session.ear.wait_over().find("more than it may") != std::string::npos);
}
