// One server in this process: its link, the handles minted for it, and calls that wait for an answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/trace.h"
#include "wire/codec.h"
#include "wire/link.h"

namespace flexrack::client {

class Session {
 public:
  virtual ~Session() = default;

  virtual wire::Link& link() = 0;
  /// Where and how it was dialled; `key` stays in this process.
  virtual const wire::Dial& dialled() const = 0;
  /// 16 bytes that name this session at its server.
  virtual wire::View session_id() const = 0;
  /// A handle no other object of this session has or had.
  std::uint64_t mint() { return last_handle_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// False once the link is over: whatever the API gives for a lost device is the answer from then on.
  virtual bool is_alive() const = 0;
  /// The server says what cannot be: ends the session soon, without waiting. May be called from inside a notice.
  virtual void abandon() = 0;

  /// Sends a message nobody waits for. False: the link is over.
  template <class Message>
  bool send(const Message& message) {
    if (is_traced()) trace_sent(Message::kName);
    return link().send(Message::kOp, 0, [&](wire::Bytes& out) { encode(out, message); }) != 0;
  }

  /// Sends a call and waits. `use(reply)` runs before the reply's memory goes; false: the link is over or the server
  /// refused.
  template <class Message, class Use>
  bool call(const Message& message, Use&& use) {
    return call_raw(
        Message::kOp, Message::kName, [&](wire::Bytes& out) { encode(out, message); },
        [&](wire::View body) {
          typename Message::Reply reply;
          if (!decode(body, reply)) return false;
          use(reply);
          return true;
        });
  }

  /// Link::wait(): reads and hands out frames until ready(). False: the link is over.
  bool wait(const std::function<bool()>& ready);

  /// Bulk data for a message: inline when small (copied at encode), else under a ticket that push_payload() then sends.
  wire::Payload payload(wire::View data);
  /// Sends the data of a payload that is not inline; for one that is, done(true) at once. `data` stays valid until
  /// done.
  void push_payload(const wire::Payload& payload, wire::View data, wire::Done done, bool wait);

 protected:
  virtual bool call_raw(std::uint16_t op, const char* name, const std::function<void(wire::Bytes&)>& encode,
                        const std::function<bool(wire::View)>& use) = 0;

 private:
  std::atomic<std::uint64_t> last_handle_{0};
};

/// What an API does with what a server says unasked. Called by whichever thread reads that session's link; must not
/// wait.
class Notices {
 public:
  virtual ~Notices() = default;
  virtual void on_notice(Session& session, const wire::Header& header, wire::View body) = 0;
  /// Once, after which the session is not alive.
  virtual void on_lost(Session& session, std::string_view why) = 0;
};

/// Connects to a server for that API. Throws wire::Error. `notices` outlives the session.
std::unique_ptr<Session> open_session(const wire::Dial& to, const wire::Api& api, Notices& notices);

/// The same over a link that `connect` makes.
using Connect = std::function<std::unique_ptr<wire::Link>(wire::Receiver&)>;
std::unique_ptr<Session> open_session(const wire::Dial& to, const Connect& connect, Notices& notices);

}  // namespace flexrack::client
