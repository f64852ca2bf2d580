#include "wire/handshake.h"

#include <poll.h>

#include <algorithm>
#include <cstring>

#include "wire/error.h"
#include "wire/tls_channel.h"

namespace flexrack::wire {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kLargestHello = 4096;
constexpr std::size_t kNonce = sizeof(ServerProof::nonce);

/// read_all under a deadline: a handshake must not be kept waiting by a byte now and then.
void read_from(Channel& channel, std::span<std::uint8_t> into, Clock::time_point end) {
  while (!into.empty()) {
    const auto got = channel.read_some(into);
    if (got == Channel::kEnded) throw Error(Error::Kind::gone, "the connection ended during the handshake");
    if (got > 0) {
      into = into.subspan(static_cast<std::size_t>(got));
      continue;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) throw Error(Error::Kind::unreachable, "no hello in time");
    pollfd one{channel.fd(), POLLIN, 0};
    poll(&one, 1, static_cast<int>(left));
  }
}

/// The rest of an answer that stands where a hello was to be. Throws it.
[[noreturn]] void read_refusal(Channel& channel, Clock::time_point end) {
  RawAnswer raw{kAnswerMagic, 0, 0, 0, 0};
  read_from(channel, {reinterpret_cast<std::uint8_t*>(&raw) + sizeof raw.magic, sizeof raw - sizeof raw.magic}, end);
  std::string text(std::min<std::size_t>(raw.text_length, kAnswerText), '\0');
  read_from(channel, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}, end);
  throw Error(Error::Kind::refused, text_of_refusal(raw, text));
}

std::chrono::milliseconds left_until(Clock::time_point end) {
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
}

}  // namespace

std::unique_ptr<Channel> secure_as_client(Socket socket, const Preamble& preamble, View key,
                                          std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  const auto bytes = encode_preamble(preamble);
  tune(socket.fd());
  if (preamble.transport == Transport::tls) {
    if (!write_within(socket.fd(), bytes, left_until(end))) throw Error(Error::Kind::gone, "the connection ended");
    read_answer(socket.fd(), left_until(end));
    return make_tls_channel(std::move(socket), tls_identity(preamble, key), false, left_until(end));
  }
  std::array<std::uint8_t, kPreambleSize + kNonce> first;
  std::copy(bytes.begin(), bytes.end(), first.begin());
  const auto mine = std::span(first).last<kNonce>();
  fill_random(mine);
  if (!write_within(socket.fd(), first, left_until(end))) throw Error(Error::Kind::gone, "the connection ended");
  read_answer(socket.fd(), left_until(end));
  ServerProof theirs;
  read_within(socket.fd(), {reinterpret_cast<std::uint8_t*>(&theirs), sizeof theirs}, left_until(end));
  if (!is_same(theirs.proof, proof_of("flexrack server", bytes, mine, theirs.nonce, key)))
    throw Error(Error::Kind::untrusted, kUnprovenServer);
  if (!write_within(socket.fd(), proof_of("flexrack client", bytes, mine, theirs.nonce, key), left_until(end)))
    throw Error(Error::Kind::gone, "the connection ended");
  return make_plain_channel(std::move(socket));
}

std::unique_ptr<Channel> secure_as_server(Socket socket, const Preamble& preamble, View key,
                                          std::chrono::milliseconds deadline, const Begun& begun) {
  const auto end = Clock::now() + deadline;
  tune(socket.fd());
  if (begun.is_answered) {
    if (preamble.transport == Transport::tls)
      return make_tls_channel(std::move(socket), tls_identity(preamble, key), true, left_until(end), begun.read);
    return make_plain_channel(std::move(socket));
  }
  if (preamble.version_min > kVersion || preamble.version_max < kVersion) {
    answer(socket.fd(), Turned::version, "this server speaks version " + std::to_string(kVersion));
    throw Error(Error::Kind::refused, "a client of another version");
  }
  if (!answer(socket.fd(), Turned::no)) throw Error(Error::Kind::gone, "the connection ended");
  if (preamble.transport == Transport::tls)
    return make_tls_channel(std::move(socket), tls_identity(preamble, key), true, left_until(end));
  const auto bytes = encode_preamble(preamble);
  std::array<std::uint8_t, kNonce> theirs;
  read_within(socket.fd(), theirs, left_until(end));
  ServerProof mine;
  fill_random(mine.nonce);
  mine.proof = proof_of("flexrack server", bytes, theirs, mine.nonce, key);
  if (!write_within(socket.fd(), {reinterpret_cast<const std::uint8_t*>(&mine), sizeof mine}, left_until(end)))
    throw Error(Error::Kind::gone, "the connection ended");
  Digest proof;
  read_within(socket.fd(), proof, left_until(end));
  if (!is_same(proof, proof_of("flexrack client", bytes, theirs, mine.nonce, key)))
    throw Error(Error::Kind::untrusted, "the client has not proved the lease's key");
  return make_plain_channel(std::move(socket));
}

void Hello::speak(const Api& with) {
  api = with.first_op;
  revision = with.revision;
  with.name.copy(api_name.data(), api_name.size());
}

Api Hello::speaks() const { return {{api_name.data(), strnlen(api_name.data(), api_name.size())}, api, revision}; }

void turn_away(Socket socket, const Preamble& preamble, View key, std::chrono::milliseconds deadline,
               const Begun& begun, Turned turned, std::string_view text) {
  if (!begun.is_answered) return void(answer(socket.fd(), turned, text));
  const auto channel = secure_as_server(std::move(socket), preamble, key, deadline, begun);
  write_all(*channel, encode_answer(turned, text));
}

void write_hello(Channel& channel, const Hello& hello) {
  if (!write_all(channel, {reinterpret_cast<const std::uint8_t*>(&hello), sizeof hello}))
    throw Error(Error::Kind::gone, "the connection ended during the handshake");
}

Hello read_hello(Channel& channel, const Preamble& preamble, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  std::uint32_t size = 0;
  read_from(channel, {reinterpret_cast<std::uint8_t*>(&size), sizeof size}, end);
  if (size == kAnswerMagic) read_refusal(channel, end);
  if (size < kLeastHello || size > kLargestHello) throw Error(Error::Kind::malformed, "a hello of an impossible size");
  Bytes bytes(size);
  std::memcpy(bytes.data(), &size, sizeof size);
  read_from(channel, std::span(bytes).subspan(sizeof size), end);
  Hello hello;
  std::memcpy(static_cast<void*>(&hello), bytes.data(), std::min(sizeof hello, bytes.size()));
  // It is shown to people, here and in a log.
  for (auto& letter : hello.api_name)
    if (letter != 0 && (letter < 32 || letter > 126)) letter = '?';
  if (hello.version != kVersion)
    throw Error(Error::Kind::refused, "the other side speaks version " + std::to_string(hello.version));
  if (hello.kind != preamble.kind || hello.session != preamble.session || hello.peer != preamble.peer)
    throw Error(Error::Kind::untrusted, "the hello is not about the connection that was asked for");
  return hello;
}

}  // namespace flexrack::wire
