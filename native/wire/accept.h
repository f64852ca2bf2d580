// The server's end: the broker reads preambles and turns connections down, a worker makes a link of the first and
// attaches the others.
#pragma once

#include <functional>
#include <optional>

#include "wire/api.h"
#include "wire/channel.h"
#include "wire/link.h"
#include "wire/preamble.h"
#include "wire/proof.h"

namespace flexrack::wire {

/// What one session may have of this process.
struct Limits {
  std::chrono::milliseconds grace{30000};      ///< how long a client whose connection fell silent is waited for
  std::chrono::milliseconds fin_wait{
      3000};    ///< likewise for one that closed or reset it: a process that was killed does not come back
  std::chrono::milliseconds handshake{5000};
  std::size_t unacknowledged = 32u << 20;      ///< bytes of frames kept for the other side; send() waits beyond it
  std::uint64_t early_credit = 32u << 20;      ///< bytes of payloads stored before it is known where they belong
  bool allow_plain = false;  ///< plain TCP from other hosts too; loopback and Unix sockets may always
};

/// A link that clients' connections are attached to. run() belongs on a thread of its own; the link must not go before
/// it returns.
class ServerLink : public Link {
 public:
  /// A further connection of this session: its bulk path, or one that replaces a lost connection. Takes the descriptor,
  /// proves the key, and blocks for as long as that takes (Limits::handshake at most); the link goes on meanwhile.
  /// Throws Error; any thread.
  virtual void attach(int fd, const Preamble& preamble, const Begun& begun = {}) = 0;

  /// It is over because the other side said so, not because it was lost.
  virtual bool was_ended() const = 0;

  // ---- the session goes on in another process; any thread but the one that reads
  /// From when it returns on no frame is handed out: those of the API are kept, the wire's own are obeyed.
  virtual void park() = 0;
  /// Hands out what has been kept, and goes on, as far as the receiver takes it.
  virtual void unpark() = 0;
  /// The client has all that was sent, and nobody here waits for a payload of it.
  virtual bool is_settled() = 0;
  /// What another process needs to go on with this session (resume_session), parked and settled: from now on nothing
  /// is taken here. Nothing where it is not settled.
  virtual std::optional<Bytes> freeze() = 0;
  /// The session stays: the client's connection is dropped, and what it says again is taken.
  virtual void thaw() = 0;
  /// Tells the client where it goes on. A client that does not get there comes back, which thaws and unparks.
  virtual void redirect(std::string_view where) = 0;
  /// Called when a client has come back to a link that was frozen.
  std::function<void()> on_back = [] {};
  /// Called for each frame that is kept; not to call this link.
  std::function<void()> on_kept = [] {};
};

/// Makes a link of a session's first connection (kind command or peer). Takes the descriptor; blocks for the handshake.
/// Throws Error, also for a client that does not speak this very `api`; the client has been told why as far as it may
/// know.
std::unique_ptr<ServerLink> accept_session(int fd, const Preamble& preamble, View key, const Limits& limits,
                                           const Api& api, Receiver& receiver, const Begun& begun = {});

/// A link that goes on with what another process's freeze() gave, whose client is still to be attached: it is parked
/// until then, and over when nobody comes within the grace time. Throws Error.
std::unique_ptr<ServerLink> resume_session(const Preamble& preamble, View key, const Limits& limits, Receiver& receiver,
                                           View state);

/// Secures a connection of kind hold, which is a stream of bytes and nothing more. Takes the descriptor. Throws Error.
std::unique_ptr<Channel> accept_keeper(int fd, const Preamble& preamble, View key, const Limits& limits,
                                       const Begun& begun = {});
/// The client's end of it. Throws Error.
std::unique_ptr<Channel> dial_keeper(const Dial& to);

}  // namespace flexrack::wire
