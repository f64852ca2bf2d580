// What replicated_link.cpp, replica_calls.cpp and replica_payloads.cpp share: one session at two servers.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "client/cuda/keyed_hash.h"
#include "client/cuda/replica_notices.h"
#include "client/cuda/replica_rules.h"
#include "client/cuda/replicated_link.h"

namespace flexrack::client::cuda {

class ReplicatedLink final : public wire::Link {
 public:
  ReplicatedLink(const std::vector<std::string>& nodes, const ReplicaSettings& settings, wire::Receiver& receiver);
  ~ReplicatedLink() override;
  /// Before anything else. Throws wire::Error where neither can be reached.
  void begin(const ReplicaConnect& connect);

  std::uint64_t send(std::uint16_t op, std::uint16_t flags, const std::function<void(wire::Bytes&)>& encode) override;
  void flush() override;
  std::uint64_t ticket() override { return next_ticket_.fetch_add(1) * 2 + 1; }
  void push(std::uint64_t ticket, wire::View data, wire::Done done, bool wait) override;
  void land(std::uint64_t ticket, std::span<std::uint8_t> into, wire::Done done) override;
  void cancel(std::uint64_t ticket) override;
  bool wait(const std::function<bool()>& ready) override;
  void run() override {}
  void wake() override;
  bool is_over() const override { return is_over_.load(std::memory_order_acquire); }
  wire::View session_id() const override;
  void close() override;

 private:
  struct Side final : wire::Receiver {
    ReplicatedLink* all = nullptr;
    std::size_t number = 0;
    std::string node;
    std::unique_ptr<wire::Link> link;
    std::atomic<bool> is_alive{false};
    bool is_closed = false;            ///< the monitor's own
    void on_frame(const wire::Header& header, wire::View body) override { all->on_frame(number, header, body); }
    void on_over(std::string_view why) override { all->lose(number, why); }
  };
  struct Call {
    std::uint16_t op = 0;
    bool is_answered = false;          ///< the process has it
    std::array<std::uint64_t, 2> sequence{};  ///< 0: never sent there
    std::array<std::optional<ReplicaAnswer>, 2> answer;
  };
  struct Read {
    std::span<std::uint8_t> into;
    std::unique_ptr<std::uint8_t[]> copy;  ///< of the server that is not `direct`
    wire::Done done;
    std::size_t direct = 0;            ///< whose bytes land where the process wants them
    std::uint64_t address = 0, number = 0;
    enum class State : std::uint8_t { none, coming, here, failed };
    std::array<State, 2> state{};
    std::array<KeyedHash::Value, 2> hash{};
    bool is_told = false, is_cancelled = false;
  };
  struct Push {
    wire::Done done;
    int left = 0;
    bool has_arrived = false;
  };

  // ---- replica_calls.cpp
  void on_frame(std::size_t from, const wire::Header& header, wire::View body);
  std::string take_reply(std::size_t from, const wire::Header& header, wire::View body, ReplicaFrames& out);
  std::string settle(std::uint64_t number, ReplicaFrames& out);
  void answer(std::uint64_t number, Call& call, std::size_t from, ReplicaFrames& out);
  std::array<std::uint64_t, 2> send_to_both(std::uint16_t op, std::uint16_t flags, const wire::Bytes& body);
  void enter(std::uint64_t number, std::uint16_t op, const std::array<std::uint64_t, 2>& sequence);
  void deliver(ReplicaFrames& frames);
  std::string excess_of(std::size_t from) const;
  std::optional<std::size_t> silent_side() const;
  bool is_expected(const Call& call, std::size_t side) const {
    return sides_[side].is_alive && call.sequence[side] != 0;
  }

  // ---- replica_payloads.cpp
  void arrived(std::uint64_t ticket, std::size_t from, bool has_arrived);
  void settle_read(std::uint64_t ticket);
  bool is_ending(const Read& read, std::size_t side) const;
  std::optional<bool> outcome_of_one(Read& read);
  std::string text_of(const Read& read) const;
  void settle_reads_without(std::size_t lost);
  void handed_over(std::uint64_t ticket, bool has_arrived);

  // ---- replicated_link.cpp
  /// One is not there any more.
  void lose(std::size_t side, std::string_view why);
  /// They differ in that.
  void differ(const std::string& what, bool is_refusal = false);
  void finish(std::string_view why);
  void watch();

  const ReplicaSettings settings_;
  const KeyedHash hash_;               ///< of what is read; its key is this session's, and no server has it
  wire::Receiver& receiver_;
  std::array<Side, 2> sides_;
  std::atomic<std::size_t> first_{0};  ///< whose word counts
  std::atomic<bool> is_over_{false}, is_closing_{false};
  std::atomic<std::uint64_t> next_ticket_{1};
  std::atomic<std::size_t> unflushed_{0};

  // In this order where several are held.
  std::recursive_mutex handing_;       ///< while frames are handed to the process: one at a time
  std::mutex order_;                   ///< while a message is put on both links: the same order on both
  std::mutex lock_;                    ///< of all that follows; nothing of others is called under it
  std::condition_variable changed_;
  std::uint64_t last_ = 0;             ///< number of the last message of the process
  std::size_t unnumbered_ = 0;         ///< calls on their way whose numbers are not known here yet
  std::map<std::uint64_t, Call> calls_;
  std::array<std::unordered_map<std::uint64_t, std::uint64_t>, 2> numbers_;   ///< of calls, by a link's own
  std::array<std::unordered_map<std::uint64_t, ReplicaAnswer>, 2> early_;     ///< answers before that
  std::array<std::size_t, 2> early_bytes_{};
  ReplicaNotices notices_;
  std::unordered_map<std::uint64_t, Read> reads_;
  std::uint64_t last_read_ = 0;
  std::unordered_map<std::uint64_t, Push> pushes_;
  std::string why_;
  std::thread monitor_;
};

/// This thread is inside of something that reads a link: it must wait for no link.
class ReplicaReading {
 public:
  ReplicaReading() { ++depth; }
  ~ReplicaReading() { --depth; }
  ReplicaReading(const ReplicaReading&) = delete;
  static bool is_here() { return depth > 0; }

 private:
  static inline thread_local int depth = 0;
};

}  // namespace flexrack::client::cuda
