// Frames on their way out: gathered, numbered, and kept until the other side has them.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "wire/frame.h"

namespace flexrack::wire {

class Outbox {
 public:
  /// `limit`: bytes not yet acknowledged at which append() waits. A multiple of it, reached by threads that may not
  /// wait, ends the link.
  explicit Outbox(std::size_t limit) : limit_(limit) {}

  // ---- any thread
  struct Appended {
    std::uint64_t sequence;  ///< 0: closed, or the body is too long
    std::size_t pending;     ///< bytes that wait for a flush now
  };
  Appended append(std::uint16_t op, std::uint16_t flags, const std::function<void(Bytes&)>& encode, bool may_wait);
  /// Waits as append() does, and appends nothing.
  void await_room();
  /// A frame that is neither numbered nor repeated; it goes out before what is pending and is dropped with its
  /// connection.
  void append_control(std::uint16_t op, View body);
  bool has_pending() const { return pending_size_.load(std::memory_order_acquire) != 0; }
  /// No more is taken, nobody waits.
  void close();
  bool is_overfull() const;
  /// The other side has everything.
  bool is_settled() const;
  std::uint64_t sequence() const;
  /// Goes on where another process's outbox stopped, which was settled. Before anything is appended.
  void go_on_after(std::uint64_t sequence);

  // ---- one thread at a time, the one that writes to the connection
  /// Everything to write now; valid until written() or rewind().
  const std::vector<iovec>& take();
  void written();

  // ---- the reading thread
  /// The other side has all frames up to this one. False where that cannot be.
  bool acknowledge(std::uint64_t sequence);
  /// A new connection, whose other side has all frames up to this one: what it has not is pending again. Not during
  /// take()..written().
  bool rewind(std::uint64_t received);

 private:
  struct Block {
    Bytes bytes;
    std::uint64_t last;  ///< sequence of its last frame
  };
  void trim();
  void skip_acknowledged();
  void count_pending();

  const std::size_t limit_;
  mutable std::mutex lock_;
  std::condition_variable room_;
  Bytes pending_;                  ///< whole frames, not yet given to a connection
  Bytes control_, control_taken_;
  std::deque<Block> unacked_;
  std::size_t unwritten_ = 0;      ///< index in unacked_ of the first block that this connection has not got
  std::size_t unacked_bytes_ = 0;
  std::uint64_t sequence_ = 0, acked_ = 0, taken_ = 0;
  std::vector<Bytes> spare_;
  std::vector<iovec> pieces_;
  bool is_closed_ = false;
  std::atomic<std::size_t> pending_size_{0};
};

}  // namespace flexrack::wire
