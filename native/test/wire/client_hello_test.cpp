// The first message of a TLS client tells whether its sender has the key, before anything is done for it.
#include <doctest/doctest.h>

#include <algorithm>

#include "test/wire/rig.h"
#include "wire/client_hello.h"
#include "wire/handshake.h"
#include "wire/proof.h"

using namespace flexrack::test;

namespace {

/// What a client with that key says first, as OpenSSL makes it.
Bytes first_message(const Preamble& preamble, const Bytes& key) {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  std::thread client(
      [&] { CHECK_THROWS_AS(secure_as_client(Socket(ends[0]), preamble, key, std::chrono::seconds(5)), Error); });
  const Socket near(ends[1]);
  CHECK(encode_preamble(read_preamble(near.fd(), std::chrono::seconds(5))) == encode_preamble(preamble));
  answer(near.fd(), Turned::no);
  Bytes message(5);
  read_within(near.fd(), message, std::chrono::seconds(5));
  message.resize(5 + (message[3] << 8 | message[4]));
  read_within(near.fd(), std::span(message).subspan(5), std::chrono::seconds(5));
  shutdown(near.fd(), SHUT_RDWR);
  client.join();
  return message;
}

Preamble some_preamble() {
  Preamble preamble;
  preamble.lease = id_from_hex("00112233445566778899aabbccddeeff");
  preamble.kind = ConnectionKind::keeper;
  return preamble;
}

}  // namespace

TEST_CASE("a first message of TLS proves the key that it was made with, for its own preamble, and no other") {
  const auto preamble = some_preamble();
  const auto message = first_message(preamble, some_key(1));
  const auto identity = tls_identity(preamble, some_key(1));
  Digest mark{}, other{};
  CHECK(check_client_hello(message, identity.name, identity.key, mark) == HelloCheck::proved);
  CHECK(check_client_hello(message, identity.name, tls_identity(preamble, some_key(2)).key, other) ==
        HelloCheck::wrong);
  CHECK(check_client_hello(message, std::string(32, '0'), identity.key, other) == HelloCheck::wrong);
  auto changed = preamble;
  changed.session[3] ^= 1;
  CHECK(check_client_hello(message, identity.name, tls_identity(changed, some_key(1)).key, other) == HelloCheck::wrong);
  // Of the same client, for the same connection: each is another.
  const auto again = first_message(preamble, some_key(1));
  CHECK(check_client_hello(again, identity.name, identity.key, other) == HelloCheck::proved);
  CHECK(mark != other);
}

TEST_CASE("a first message that is not all there, or of which a bit is changed, proves nothing") {
  const auto preamble = some_preamble();
  const auto message = first_message(preamble, some_key(1));
  const auto identity = tls_identity(preamble, some_key(1));
  Digest mark{};
  for (std::size_t size = 0; size < message.size(); ++size)
    CHECK(check_client_hello(View(message).first(size), identity.name, identity.key, mark) == HelloCheck::more);
  for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
    if (bit / 8 == 1 || bit / 8 == 2) continue;  // the record's version, which nobody looks at
    auto changed = message;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    CHECK(check_client_hello(changed, identity.name, identity.key, mark) != HelloCheck::proved);
  }
}

TEST_CASE("a proof is taken in pieces of any size, and none of what follows it is read") {
  for (const auto transport : {Transport::tls, Transport::tcp}) {
    auto preamble = some_preamble();
    preamble.transport = transport;
    Proving proving(preamble, some_key(1));
    Bytes reply;
    auto state = Proving::State::more;
    const auto feed = [&](View bytes) {
      for (const auto byte : bytes) {
        REQUIRE(state == Proving::State::more);
        REQUIRE(proving.room() > 0);
        state = proving.feed({&byte, 1}, reply);
      }
    };
    if (transport == Transport::tls) {
      const auto message = first_message(preamble, some_key(1));
      feed(message);
      CHECK(state == Proving::State::proved);
      CHECK(proving.take().read == message);
      continue;
    }
    const Bytes nonce(32, 5);
    feed(nonce);
    REQUIRE(reply.size() == sizeof(ServerProof));
    const View theirs(reply.data(), 32);
    CHECK(is_same(View(reply).last(32),
                  proof_of("flexrack server", encode_preamble(preamble), nonce, theirs, some_key(1))));
    const auto mine = proof_of("flexrack client", encode_preamble(preamble), nonce, theirs, some_key(1));
    CHECK(proving.room() == mine.size());
    feed(mine);
    CHECK(state == Proving::State::proved);
    CHECK(proving.take().read.empty());
  }
}
