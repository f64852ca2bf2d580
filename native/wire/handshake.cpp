#include "wire/handshake.h"

#include <poll.h>

#include <algorithm>
#include <cstring>

#include "wire/error.h"

namespace flexrack::wire {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kLargestHello = 4096;

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

}  // namespace

std::unique_ptr<Channel> secure_as_client(Socket socket, const Preamble& preamble, View key, std::chrono::milliseconds deadline) {
  (void)key;
  const auto bytes = encode_preamble(preamble);
  if (!write_within(socket.fd(), bytes, deadline)) throw Error(Error::Kind::gone, "the connection ended");
  read_answer(socket.fd(), deadline);
  return make_plain_channel(std::move(socket));
}

std::unique_ptr<Channel> secure_as_server(Socket socket, const Preamble& preamble, View key, std::chrono::milliseconds deadline) {
  (void)key;
  (void)deadline;
  if (preamble.version_min > kVersion || preamble.version_max < kVersion) {
    answer(socket.fd(), Turned::version, "this server speaks version " + std::to_string(kVersion));
    throw Error(Error::Kind::refused, "a client of another version");
  }
  if (!answer(socket.fd(), Turned::no)) throw Error(Error::Kind::gone, "the connection ended");
  return make_plain_channel(std::move(socket));
}

void write_hello(Channel& channel, const Hello& hello) {
  if (!write_all(channel, {reinterpret_cast<const std::uint8_t*>(&hello), sizeof hello})) throw Error(Error::Kind::gone, "the connection ended during the handshake");
}

Hello read_hello(Channel& channel, const Preamble& preamble, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  std::uint32_t size = 0;
  read_from(channel, {reinterpret_cast<std::uint8_t*>(&size), sizeof size}, end);
  if (size < sizeof(Hello) || size > kLargestHello) throw Error(Error::Kind::malformed, "a hello of an impossible size");
  Bytes bytes(size);
  std::memcpy(bytes.data(), &size, sizeof size);
  read_from(channel, std::span(bytes).subspan(sizeof size), end);
  Hello hello;
  std::memcpy(static_cast<void*>(&hello), bytes.data(), sizeof hello);
  if (hello.version != kVersion) throw Error(Error::Kind::refused, "the other side speaks version " + std::to_string(hello.version));
  if (hello.kind != preamble.kind || hello.session != preamble.session || hello.peer != preamble.peer)
    throw Error(Error::Kind::untrusted, "the hello is not about the connection that was asked for");
  return hello;
}

}  // namespace flexrack::wire
