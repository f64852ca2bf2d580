// One client and one server: an ordered stream of commands each way, payloads beside it, and both over reconnects.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "wire/api.h"
#include "wire/frame.h"

namespace flexrack::wire {

/// What on_over() hears where the other side has said goodbye. Every other reason is words for people.
inline constexpr std::string_view kEndedByOther = "the other side ended the session";

/// What a link hands its frames to. Called by the thread that reads, one frame at a time.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// The body is valid during the call and starts on an 8-byte boundary.
  virtual void on_frame(const Header& header, View body) = 0;
  /// Once: refused, ended by the other side (kEndedByOther), or not back within the grace time. No frame follows.
  virtual void on_over(std::string_view why) = 0;
};

/// True: all of it arrived (land) or the other side has it (push). False: the link is over or the payload was
/// cancelled.
using Done = std::function<void(bool arrived)>;

class Link {
 public:
  virtual ~Link() = default;

  // ---- commands, in the order they are appended; any thread
  /// Appends one frame whose body `encode(Bytes&)` writes; returns its sequence number, 0 when the link is over.
  /// Sent at the next flush(), at kFlushAt bytes, or about 20 µs later by itself.
  /// Blocks only while more than the link's limit is unacknowledged.
  virtual std::uint64_t send(std::uint16_t op, std::uint16_t flags, const std::function<void(Bytes&)>& encode) = 0;
  virtual void flush() = 0;
  /// As send(), for a thread that must wait for nobody (it reads another link, or holds a lock that readers want):
  /// neither for room nor for the connection.
  virtual std::uint64_t send_at_once(std::uint16_t op, std::uint16_t flags, const std::function<void(Bytes&)>& encode) {
    return send(op, flags, encode);
  }
  /// Returns when send() would not wait: what send_at_once() leaves out.
  virtual void await_room() {}

  // ---- payloads; any thread
  /// A ticket that names a payload this side sends or expects; unique in the session, never 0.
  virtual std::uint64_t ticket() = 0;
  /// Sends `data` under a ticket. `data` stays valid until done, which comes when the other side has acknowledged it.
  /// With `wait`, the calling thread does the work and returns when it is handed over to the socket or shared memory.
  virtual void push(std::uint64_t ticket, View data, Done done, bool wait = false) = 0;
  /// Receives the payload of that ticket into `into`, straight from the socket where it has not arrived yet.
  virtual void land(std::uint64_t ticket, std::span<std::uint8_t> into, Done done) = 0;
  /// Nothing will come, or nobody wants it any more; `done` of land or push is called with false.
  virtual void cancel(std::uint64_t ticket) = 0;

  // ---- reading
  /// Client: reads and hands out frames on the calling thread until ready() or the link is over; several threads may
  /// wait at once, one of them reads (ready() is called under the link's lock after each batch). Flushes first. False:
  /// the link is over.
  virtual bool wait(const std::function<bool()>& ready) = 0;
  /// Server: reads and hands out frames until the link is over.
  virtual void run() = 0;

  /// Has waiting threads look at ready() again; frames and done callbacks do so by themselves. Any thread.
  virtual void wake() = 0;

  virtual bool is_over() const = 0;
  /// How long there has been no connection; 0 while there is one.
  virtual std::chrono::milliseconds away() const { return std::chrono::milliseconds(0); }
  /// 16 bytes that name this session at its server.
  virtual View session_id() const = 0;
  /// Says goodbye and ends; pending payloads are done(false). Not from inside on_frame.
  virtual void close() = 0;
};

/// How to reach a server and who we are to it; the lease file says it.
struct Dial {
  std::string address;                    ///< host name or IP; empty: only the Unix socket
  std::uint16_t port = 0;
  std::string unix_path;                  ///< the daemon's socket on this host, empty if elsewhere
  std::string transport = "auto";         ///< auto | tls | tcp | shm; auto is shm on this host, else tls
  std::string lease;                      ///< 32 hex digits, not a secret
  Bytes key;                              ///< 32 bytes, the lease's pre-shared key; with `peer`, that peer link's
  std::array<std::uint8_t, 16> session{}; ///< which session; zeros: a new one
  std::uint64_t peer = 0;  ///< not 0: a link to another server's worker, by the id that its client gave it
  std::chrono::milliseconds grace{30000};  ///< how long a lost link is tried again
  std::chrono::milliseconds connect_timeout{5000};
};

/// Connects as a client of an API. Throws wire::Error {kind, message} when there is no server, it refuses, or it speaks
/// another API or revision.
std::unique_ptr<Link> dial(const Dial& to, const Api& api, Receiver& receiver);

}  // namespace flexrack::wire
