#include "wire/accept.h"

#include "wire/error.h"
#include "wire/session_link.h"

namespace flexrack::wire {
namespace {

/// Plaintext leaves this host only where the rack's owner said so.
void check_transport(const Socket& socket, const Preamble& preamble, const Limits& limits) {
  if (preamble.transport == Transport::tls || limits.allow_plain || is_local(socket.fd())) return;
  answer(socket.fd(), Turned::transport, "this server takes TLS only");
  throw Error(Error::Kind::refused, "a plain connection from another host");
}

}  // namespace

std::unique_ptr<ServerLink> accept_session(int fd, const Preamble& preamble, View key, const Limits& limits,
                                           const Api& api, Receiver& receiver, const Begun& begun) {
  Socket socket(fd);
  if (!begun.is_answered) check_transport(socket, preamble, limits);
  auto channel = secure_as_server(std::move(socket), preamble, key, limits.handshake, begun);
  const auto theirs = read_hello(*channel, preamble, limits.handshake);
  if (theirs.received_frames != 0) throw Error(Error::Kind::malformed, "a new session that has received something");
  Hello mine;
  mine.kind = preamble.kind;
  mine.transport = preamble.transport;
  mine.session = preamble.session;
  mine.peer = preamble.peer;
  mine.early_credit = limits.early_credit;
  mine.speak(api);
  // The client compares as well, and says why to whoever started it.
  write_hello(*channel, mine);
  if (!is_same(theirs.speaks(), api)) throw Error(Error::Kind::refused, mismatch(theirs.speaks(), api));
  auto link = std::make_unique<SessionLink>(preamble, key, limits, receiver, nullptr);
  link->begin({std::move(channel), theirs});
  return link;
}

std::unique_ptr<ServerLink> resume_session(const Preamble& preamble, View key, const Limits& limits, Receiver& receiver,
                                           View state) {
  auto link = std::make_unique<SessionLink>(preamble, key, limits, receiver, nullptr);
  link->begin(state);
  return link;
}

std::unique_ptr<Channel> accept_keeper(int fd, const Preamble& preamble, View key, const Limits& limits,
                                       const Begun& begun) {
  Socket socket(fd);
  if (!begun.is_answered) check_transport(socket, preamble, limits);
  return secure_as_server(std::move(socket), preamble, key, limits.handshake, begun);
}

}  // namespace flexrack::wire
