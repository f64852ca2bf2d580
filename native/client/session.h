// One server in this process: its link, the handles minted for it, and calls that wait for an answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "gen/opencl/messages.h"
#include "wire/codec.h"
#include "wire/link.h"

namespace flexrack::client {

class Session {
 public:
  virtual ~Session() = default;

  virtual wire::Link& link() = 0;
  /// A handle no other object of this session has or had.
  virtual std::uint64_t mint() = 0;
  /// False once the link is over: whatever the API gives for a lost device is the answer from then on.
  virtual bool is_alive() const = 0;

  /// Sends a message nobody waits for.
  template <class Message>
  void send(const Message& message) {
    link().send(Message::kOp, 0, [&](wire::Bytes& out) { encode(out, message); });
  }

  /// Sends a call and waits. `use(reply)` runs before the reply's memory goes; false: the link is over or the server refused.
  template <class Message, class Use>
  bool call(const Message& message, Use&& use) {
    return call_raw(Message::kOp, [&](wire::Bytes& out) { encode(out, message); }, [&](wire::View body) {
      typename Message::Reply reply;
      if (!decode(body, reply)) return false;
      use(reply);
      return true;
    });
  }

  /// Bulk data for a message: inline when small (copied at encode), else under a ticket that push_payload() then sends.
  wire::Payload payload(wire::View data);
  /// Sends the data of a payload that is not inline; nothing to do for one that is. `data` stays valid until done.
  void push_payload(const wire::Payload& payload, wire::View data, wire::Done done, bool wait);

 protected:
  virtual bool call_raw(std::uint16_t op, const std::function<void(wire::Bytes&)>& encode, const std::function<bool(wire::View)>& use) = 0;
};

}  // namespace flexrack::client
