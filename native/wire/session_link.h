// The link of both sides: commands, payloads, and what keeps them going over one connection after another.
#pragma once

#include <poll.h>

#include <deque>
#include <optional>
#include <thread>

#include "wire/accept.h"
#include "wire/brief_spin.h"
#include "wire/bulk.h"
#include "wire/frame_reader.h"
#include "wire/handshake.h"
#include "wire/outbox.h"

namespace flexrack::wire {

/// A secured connection of the command path with what has been read from it.
struct Connection {
  explicit Connection(std::unique_ptr<Channel> c) : channel(std::move(c)) {}
  std::unique_ptr<Channel> channel;
  FrameReader reader;
};

/// A connection that both sides have said hello on.
struct Greeted {
  std::unique_ptr<Channel> channel;
  Hello theirs;
  Transport transport = Transport::tls;  ///< as it was dialled
};

class SessionLink final : public ServerLink {
 public:
  /// Dials a connection of that kind (command stands for the link's own kind) with that hello of ours. Throws Error.
  /// Null on the server's side.
  using Redial = std::function<Greeted(ConnectionKind kind, bool is_resume, const Hello& mine)>;
  /// The server says where the session goes on (kMoved); from now on that is dialled first. False: it makes no sense.
  using Moved = std::function<bool(std::string_view where)>;

  SessionLink(const Preamble& preamble, View key, const Limits& limits, Receiver& receiver, Redial redial,
              Moved moved = nullptr);
  ~SessionLink() override;
  /// The first connection, hello exchanged. Starts the threads.
  void begin(Greeted first);
  /// Goes on with a session of another process (link_moving.cpp), whose client is still to come. Throws Error.
  void begin(View state);

  std::uint64_t send(std::uint16_t op, std::uint16_t flags, const std::function<void(Bytes&)>& encode) override;
  void flush() override;
  std::uint64_t send_at_once(std::uint16_t op, std::uint16_t flags, const std::function<void(Bytes&)>& encode) override;
  void await_room() override;
  std::uint64_t ticket() override;
  void push(std::uint64_t ticket, View data, Done done, bool wait) override;
  void land(std::uint64_t ticket, std::span<std::uint8_t> into, Done done) override;
  void cancel(std::uint64_t ticket) override;
  bool wait(const std::function<bool()>& ready) override;
  void run() override;
  void wake() override;
  bool is_over() const override;
  std::chrono::milliseconds away() const override;
  View session_id() const override { return preamble_.session; }
  void close() override;
  void attach(int fd, const Preamble& preamble, const Begun& begun) override;

  // ---- link_moving.cpp
  void park() override;
  void unpark() override;
  bool is_settled() override;
  bool was_ended() const override { return was_ended_; }
  std::optional<Bytes> freeze() override;
  void thaw() override;
  void redirect(std::string_view where) override;

 private:
  using Clock = std::chrono::steady_clock;
  /// A frame that came while the link was parked.
  struct Deferred {
    Header header;
    Bytes body;
  };
  struct Threads {
    std::thread keeper, pump, bulk_reader, bulk_writer;
  };

  // ---- link_reading.cpp
  bool read_ready(const std::shared_ptr<Connection>& connection, std::chrono::milliseconds patience);
  int wait_for_either(pollfd (&both)[2], std::chrono::milliseconds patience);
  bool read_batch(Connection& connection);
  bool take_frame(const Header& header, View body);
  bool take_own_frame(const Header& header, View body);
  void wake_locked();
  bool read_as_leader(std::unique_lock<std::mutex>& guard);
  void finish();

  // ---- link_moving.cpp
  bool defer(const Header& header, View body);
  bool hand_out_deferred();
  void begin_threads();

  // ---- link_keeping.cpp: the threads, connections lost and found
  void keep();
  void keep_connection();
  void pump();
  bool dial_again(std::unique_lock<std::mutex>& guard);
  void read_bulk();
  bool dial_bulk();
  void install(Greeted greeted);
  std::shared_ptr<Connection> connection_now();
  void lose(const Connection* connection, bool by_silence);
  void end(std::string_view why);
  void check_silence();
  Hello my_hello(ConnectionKind kind);
  void write_pending();
  void arm();
  void tell(std::uint16_t op, View body, bool is_numbered, bool now);
  bool is_foreign() const;
  bool is_reading_here() const;
  bool is_client() const { return redial_ != nullptr; }

  const Preamble preamble_;
  const Bytes key_;
  const Limits limits_;
  Receiver& receiver_;
  const Redial redial_;
  const Moved moved_;
  const unsigned process_;           ///< which fork this link belongs to
  Outbox outbox_;
  Bulk bulk_;
  std::atomic<std::uint64_t> next_ticket_{1};

  std::mutex write_lock_;            ///< held while the command connection is written to
  std::shared_ptr<Connection> writing_;  ///< under write_lock_; null: nothing can be written now

  std::mutex handing_;  ///< of a server: held while a frame is taken
  bool is_parked_ = false, is_frozen_ = false;  ///< under handing_
  bool is_adopted_ = false;                     ///< another process's, whose client has not come yet; under handing_
  std::deque<Deferred> deferred_;               ///< under handing_
  std::size_t deferred_bytes_ = 0;              ///< under handing_
  std::atomic<bool> is_holding_back_{false};    ///< so many are deferred that no more are acknowledged

  mutable std::mutex lock_;
  std::condition_variable changed_;  ///< whose turn it is to read, connections, the end
  std::shared_ptr<Connection> connection_;
  Clock::time_point lost_at_{};
  bool lost_by_silence_ = false;
  bool is_reading_ = false, is_polling_ = false, is_finished_ = false, is_finishing_ = false, is_pump_deep_ = false;
  int waiters_ = 0;
  BriefSpin spin_;                   ///< of the thread that reads
  std::uint64_t turns_ = 0;          ///< counts reads by waiting threads, so that the pump sees that somebody does
  std::string why_;
  std::atomic<bool> is_over_{false}, is_closing_{false}, was_ended_{false};
  int wake_fd_ = -1;

  std::atomic<std::uint64_t> received_{0}, acknowledged_{0};
  std::atomic<std::uint64_t> unacknowledged_bytes_{0};
  std::atomic<Clock::rep> heard_{0}, said_{0};
  Clock::time_point ticked_at_{};    ///< the keeper's own

  std::atomic<int> keeper_{0};       ///< a futex: 0 asleep until told, 1 awake
  std::atomic<bool> has_appended_{false};
  std::unique_ptr<Threads> threads_ = std::make_unique<Threads>();
};

}  // namespace flexrack::wire
