// Connecting as a client, for the first time and again.
#include <mutex>
#include <optional>
#include <tuple>

#include "wire/accept.h"
#include "wire/bytes_of.h"
#include "wire/error.h"
#include "wire/json.h"
#include "wire/secrets.h"
#include "wire/server_entry.h"
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
  return {std::move(channel), theirs, preamble.transport};
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

/// Which server a session is dialled at, and, when that one has said so, where it may go on.
class Whereabouts {
 public:
  Whereabouts(Dial to, const Preamble& preamble) : to_(std::move(to)), preamble_(preamble) {}

  bool moved(View sealed) {
    const std::lock_guard guard(lock_);
    const auto text = unseal(to_.key, {bytes_of_text(kMovedPurpose), preamble_.session}, sealed);
    const auto where = text ? Json::parse(std::string(text->begin(), text->end())) : std::nullopt;
    if (!where || !where->is_members()) return false;
    auto next = to_;
    if (!read_server_entry(*where, next)) return false;
    // Shared memory is for this host; what was encrypted stays so.
    next.transport = preamble_.transport == Transport::tcp ? "tcp" : "tls";
    if (preamble_.transport == Transport::shm && is_on_this_host(*where)) next.transport = "shm";
    if (next.address.empty() && next.transport != "shm") return false;
    next_ = std::move(next);
    return true;
  }

  Greeted greet_at(ConnectionKind kind, bool is_resume, const Hello& mine) {
    auto [to, preamble, next] = look();
    if (next && kind == ConnectionKind::bulk)
      throw Error(Error::Kind::unreachable, "it is not certain at which server the session is");
    if (next) {
      try {
        auto there = preamble;
        there.transport = choose_transport(*next);
        there.lease = id_from_hex(next->lease);
        auto greeted = greet_as(*next, there, kind, is_resume, mine);
        settle(*next, there);
        return greeted;
      } catch (const Error&) {  // then it goes on where it was: only this side knows, so nobody runs it twice
        stay();
      }
    }
    return greet_as(to, preamble, kind, is_resume, mine);
  }

 private:
  static Greeted greet_as(const Dial& to, Preamble preamble, ConnectionKind kind, bool is_resume, const Hello& mine) {
    preamble.kind = kind;
    preamble.flags = is_resume ? kResume : 0;
    return greet(to, preamble, mine);
  }
  std::tuple<Dial, Preamble, std::optional<Dial>> look() {
    const std::lock_guard guard(lock_);
    return {to_, preamble_, next_};
  }
  void settle(const Dial& to, const Preamble& preamble) {
    const std::lock_guard guard(lock_);
    to_ = to;
    preamble_ = preamble;
    next_.reset();
  }
  void stay() {
    const std::lock_guard guard(lock_);
    next_.reset();
  }

  std::mutex lock_;
  Dial to_;
  Preamble preamble_;
  std::optional<Dial> next_;
};

}  // namespace

std::unique_ptr<Link> dial(const Dial& to, const Api& api, Receiver& receiver) {
  const auto preamble = first_preamble(to, to.peer != 0 ? ConnectionKind::peer : ConnectionKind::command);
  Limits limits;
  limits.grace = to.grace;
  const auto whereabouts = std::make_shared<Whereabouts>(to, preamble);
  const auto redial = [whereabouts, api](ConnectionKind kind, bool is_resume, const Hello& mine) {
    auto hello = mine;
    hello.speak(api);
    return whereabouts->greet_at(kind, is_resume, hello);
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
  auto link = std::make_unique<SessionLink>(preamble, to.key, limits, receiver, redial,
                                            [whereabouts](View where) { return whereabouts->moved(where); });
  link->begin(std::move(first));
  return link;
}

std::unique_ptr<Channel> dial_keeper(const Dial& to) {
  const auto preamble = first_preamble(to, ConnectionKind::keeper);
  return secure_as_client(connect_to(to, preamble.transport), preamble, to.key, to.connect_timeout);
}

}  // namespace flexrack::wire
