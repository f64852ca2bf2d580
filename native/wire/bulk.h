// Payloads: cut into numbered chunks, sent by reference, landed where they belong, repeated after a reconnect.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <unordered_map>

#include "wire/channel.h"
#include "wire/codec.h"
#include "wire/link.h"

namespace flexrack::wire {

/// Before every chunk on the bulk path, little-endian.
struct ChunkHeader {
  std::uint64_t sequence;  ///< counts the chunks of one direction from 1
  std::uint64_t ticket;
  std::uint64_t offset;    ///< of its data in the payload; chunks of a payload come in order
  std::uint64_t total;     ///< bytes of the payload
  std::uint32_t length;    ///< bytes that follow
  std::uint32_t flags;     ///< kVoid: the payload was cancelled; nothing follows
};
static_assert(sizeof(ChunkHeader) == 40);
enum ChunkFlag : std::uint32_t { kVoid = 1 };
inline constexpr std::uint32_t kChunk = 1024 * 1024;        ///< what we send
inline constexpr std::uint32_t kLargestChunk = 8 * kChunk;  ///< what we take

/// Bits of kCancel's `who`.
enum Cancel : std::uint64_t { kWithdrawn = 1, kUnwanted = 2 };

/// A set of tickets that forgets the oldest, so that the other side cannot make it grow.
class Remembered {
 public:
  void insert(std::uint64_t ticket) {
    if (!tickets_.insert(ticket).second) return;
    order_.push_back(ticket);
    if (order_.size() > kMost) {
      tickets_.erase(order_.front());
      order_.pop_front();
    }
  }
  /// True where it was there.
  bool erase(std::uint64_t ticket) { return tickets_.erase(ticket) > 0; }
  /// All of them, the oldest first.
  std::vector<std::uint64_t> all() const {
    std::vector<std::uint64_t> found;
    for (const auto ticket : order_)
      if (tickets_.contains(ticket)) found.push_back(ticket);
    return found;
  }

 private:
  static constexpr std::size_t kMost = 1 << 14;
  std::set<std::uint64_t> tickets_;
  std::deque<std::uint64_t> order_;
};

/// What the bulk path needs of its link.
struct BulkHooks {
  std::function<void(std::uint16_t op, View body, bool is_numbered, bool now)>
      tell;  ///< a frame of the wire itself on the command path
  std::function<void()> settled;  ///< a payload is over: ready() of waiting threads may have changed
  std::function<void(std::string_view)> malformed;  ///< the other side breaks the rules
};

class Bulk {
 public:
  Bulk(BulkHooks hooks, std::uint64_t early_credit) : hooks_(std::move(hooks)), my_credit_(early_credit) {}

  // ---- any thread; see Link
  void push(std::uint64_t ticket, View data, Done done, bool wait);
  void land(std::uint64_t ticket, std::span<std::uint8_t> into, Done done);
  void cancel(std::uint64_t ticket);

  // ---- from the command path
  void on_ack(std::uint64_t chunks);
  void on_landing(std::uint64_t ticket);
  /// A small payload that came as a frame. False: it cannot be.
  bool on_small(std::uint64_t ticket, View data);
  void on_cancel(std::uint64_t ticket, std::uint64_t who, std::uint64_t last_chunk);
  /// How many chunks have come that the other side was not told of yet; tells it.
  void acknowledge_if_due();

  // ---- connections
  /// Stops using the present connection, if any; the last chunk received. After it nothing moves until connect().
  std::uint64_t disconnect();
  /// False: the other side claims what cannot be.
  bool connect(std::shared_ptr<Channel> channel, std::uint64_t received, std::uint64_t early_credit);
  /// Ends the present connection and leaves the rest to whoever reads.
  void drop();
  /// Ends a connection on which chunks have been waiting that long without any being acknowledged.
  void drop_if_stuck(std::chrono::milliseconds patience);
  bool is_connected();

  // ---- the session goes on in another process
  /// Nothing of ours is on its way out, and nobody waits for what comes in.
  bool is_settled();
  /// What the other process needs to go on; while there is no connection. Nothing where it is not settled.
  bool export_state(Writer& out);
  /// Before anything else. False: it cannot be.
  bool import_state(Reader& in);

  // ---- the two threads
  /// Reads chunks until the connection ends. False: there is none (waits `patience` for one) or it ended.
  bool read(std::chrono::milliseconds patience);
  /// Sends what others do not send themselves, until close().
  void write();

  /// Ends everything: all done(false) when nothing of ours touches the payloads' memory any more.
  void close();

 private:
  struct Outgoing {
    View data;
    Done done;
    std::uint64_t sent = 0, acked = 0;
    bool is_landing = false, is_cancelled = false;
    int in_flight = 0;
  };
  struct Incoming {
    std::span<std::uint8_t> into{};
    Done done;
    Bytes stored;
    std::uint64_t total = 0, received = 0;
    std::uint64_t drop_until = 0;  ///< with is_dropped: the chunk after which nothing of it can come
    bool is_landing = false, is_dropped = false, is_busy = false;
  };
  struct Chunk {
    std::uint64_t ticket, offset;
    std::uint32_t length;
    bool is_void;
  };
  using Guard = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  bool send_next(Guard& guard);
  Outgoing* next_eligible(std::uint64_t& ticket);
  bool has_work();
  void give_up(Guard& guard, std::uint64_t ticket);
  bool take_acked(Guard& guard, std::uint64_t chunks, std::vector<Done>& finished);
  bool read_chunk(Channel& channel);
  bool take_chunk(Guard& guard, Channel& channel, const ChunkHeader& header);
  bool drain(Channel& channel, std::uint64_t length);
  void finish_incoming(Guard& guard, std::uint64_t ticket);
  void tell_ticket(std::uint16_t op, std::uint64_t ticket);
  void tell_cancel(std::uint64_t ticket, std::uint64_t who);
  void forget_dropped();

  const BulkHooks hooks_;
  const std::uint64_t my_credit_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::shared_ptr<Channel> channel_;
  bool is_reading_ = false, is_sending_ = false, is_closed_ = false;
  int awaiting_ = 0;  ///< threads that wait for what the sending one does
  Clock::time_point moved_at_{};  ///< when chunks were last acknowledged, or there were none before

  std::unordered_map<std::uint64_t, Outgoing> outgoing_;
  std::deque<std::uint64_t> small_, large_;  ///< tickets with something unsent, in order of push
  std::deque<Chunk> unacked_;
  std::size_t resend_ = 0;  ///< index in unacked_ of the first chunk this connection has not got
  std::uint64_t sent_chunks_ = 0, acked_chunks_ = 0;  ///< sequence of the last chunk made, acknowledged
  std::uint64_t early_used_ = 0, their_credit_ = 0;
  std::set<std::uint64_t> announced_;  ///< the other side waits for them, and they have not been pushed yet
  Remembered unwanted_;  ///< the other side does not want them
  std::unordered_map<std::uint64_t, std::uint64_t>
      early_left_;  ///< payloads gone from outgoing_ whose early bytes have not been given back

  std::unordered_map<std::uint64_t, Incoming> incoming_;
  Remembered withdrawn_;  ///< will not come, and nobody has asked for them yet
  std::size_t dropped_ = 0;  ///< entries of incoming_ that only wait for chunks on their way
  std::uint64_t received_chunks_ = 0, reported_chunks_ = 0, unreported_bytes_ = 0, stored_bytes_ = 0;
};

}  // namespace flexrack::wire
