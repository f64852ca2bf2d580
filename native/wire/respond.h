// The answer to a call: exactly one goes out, whatever becomes of the code that was to give it.
#pragma once

#include <utility>

#include "wire/codec.h"
#include "wire/link.h"

namespace flexrack::wire {

/// Answers one call, now or later, from any thread; the link must still be there. Dropped unanswered, the call is
/// refused.
template <class Reply>
class Respond {
 public:
  Respond(Link& link, const Header& call) : link_(&link), op_(call.op), sequence_(call.sequence) {}
  Respond(Respond&& other) noexcept
      : link_(std::exchange(other.link_, nullptr)), op_(other.op_), sequence_(other.sequence_) {}
  Respond& operator=(Respond&&) = delete;
  ~Respond() { refuse(Refusal::internal); }

  void operator()(const Reply& reply) {
    if (auto* link = std::exchange(link_, nullptr)) {
      link->send(op_, kReply, [&](Bytes& out) {
        Writer(out).put(sequence_);
        encode(out, reply);
      });
      link->flush();
    }
  }

  /// The call could not be carried out at all; what the device answers belongs into the reply's status instead.
  void refuse(Refusal why) {
    if (auto* link = std::exchange(link_, nullptr)) {
      link->send(op_, kReply | kRefused, [&](Bytes& out) {
        Writer writer(out);
        writer.put(sequence_);
        writer.put(static_cast<std::uint32_t>(why));
        writer.align(8);
      });
      link->flush();
    }
  }

 private:
  Link* link_;
  std::uint16_t op_;
  std::uint64_t sequence_;
};

}  // namespace flexrack::wire
