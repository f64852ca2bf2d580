// Connecting as a client, for the first time and again.
#include "wire/accept.h"
#include "wire/error.h"
#include "wire/secrets.h"
#include "wire/session_link.h"

namespace flexrack::wire {
namespace {

Transport choose_transport(const Dial& to) {
  if (to.transport == "tcp") return Transport::tcp;
  if (to.transport == "shm") return Transport::shm;
  if (to.transport == "tls") return Transport::tls;
  if (to.transport != "auto") throw Error(Error::Kind::malformed, "unknown transport \"" + to.transport + "\"");
  return to.unix_path.empty() ? Transport::tls : Transport::shm;
}

Socket connect_to(const Dial& to, Transport transport) {
  if (transport == Transport::shm || to.address.empty()) return connect_unix(to.unix_path, to.connect_timeout);
  return connect_tcp(to.address, to.port, to.connect_timeout);
}

Greeted greet(const Dial& to, const Preamble& preamble, Hello mine) {
  auto channel = secure_as_client(connect_to(to, preamble.transport), preamble, to.key, to.connect_timeout);
  mine.transport = preamble.transport;
  write_hello(*channel, mine);
  const auto theirs = read_hello(*channel, preamble, to.connect_timeout);
  return {std::move(channel), theirs};
}

Preamble first_preamble(const Dial& to, ConnectionKind kind) {
  Preamble preamble;
  preamble.kind = kind;
  preamble.transport = choose_transport(to);
  preamble.lease = id_from_hex(to.lease);
  preamble.session = to.session;
  preamble.peer = to.peer;
  if (preamble.session == Id{}) fill_random(preamble.session);
  return preamble;
}

}  // namespace

std::unique_ptr<Link> dial(const Dial& to, const Api& api, Receiver& receiver) {
  const auto preamble = first_preamble(to, to.peer != 0 ? ConnectionKind::peer : ConnectionKind::command);
  Limits limits;
  limits.grace = to.grace;
  const auto redial = [to, preamble, api](ConnectionKind kind, bool is_resume, const Hello& mine) {
    auto again = preamble;
    auto hello = mine;
    again.kind = kind;
    again.flags = is_resume ? kResume : 0;
    hello.speak(api);
    return greet(to, again, hello);
  };
  auto first = [&] {
    Hello hello;
    hello.kind = preamble.kind;
    hello.session = preamble.session;
    hello.peer = preamble.peer;
    hello.early_credit = limits.early_credit;
    return redial(preamble.kind, false, hello);
  }();
  if (!is_same(api, first.theirs.speaks())) throw Error(Error::Kind::refused, mismatch(api, first.theirs.speaks()));
  auto link = std::make_unique<SessionLink>(preamble, to.key, limits, receiver, redial);
  link->begin(std::move(first));
  return link;
}

std::unique_ptr<Channel> dial_keeper(const Dial& to) {
  const auto preamble = first_preamble(to, ConnectionKind::keeper);
  return secure_as_client(connect_to(to, preamble.transport), preamble, to.key, to.connect_timeout);
}

}  // namespace flexrack::wire
