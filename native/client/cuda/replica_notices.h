// What two servers that carry out the same messages say unasked, made into what one would have said.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "gen/cuda/messages.h"

namespace flexrack::client::cuda {

/// A frame for the process.
struct ReplicaFrame {
  wire::Header header{};
  wire::Bytes body;
};
using ReplicaFrames = std::vector<ReplicaFrame>;

/// What is kept at most of what one server has said and the other has not yet. A server is behind by no more messages
/// than a link keeps (32 MiB), and each of those makes it say one thing: beyond that, it makes things up.
struct ReplicaLimits {
  std::size_t notices = 1 << 20;
  std::size_t printed = 64 << 20;      ///< bytes
  std::size_t early_bytes = 64 << 20;  ///< of answers whose call is not known yet
  std::size_t calls = 1 << 16;         ///< that one has answered, or says nothing of
};

/// Not for several threads at once.
class ReplicaNotices {
 public:
  /// A notice of server `from` (0 or 1), of which `first` is the one whose word counts: what the process is told now.
  ReplicaFrames take(std::size_t from, std::size_t first, const wire::Header& header, wire::View body);
  /// Only this one is left, `was_first` or not: what the process has not been told so far. Once.
  ReplicaFrames alone(std::size_t left, bool was_first);
  /// The process has run a host function: the number that each server has for that run, 0 where it has none.
  std::array<std::uint64_t, 2> runs_of(std::uint64_t run);
  /// Why server `from` says more than it can have to say. Empty: it does not.
  std::string excess_of(std::size_t from, std::size_t first, const ReplicaLimits& limits) const;

 private:
  struct Run {
    std::uint64_t number = 0;
    std::int32_t status = 0;
  };
  using Failure = std::tuple<std::uint64_t, std::uint32_t, std::int32_t>;
  void take_failure(bool is_first, const wire::Header& header, wire::View body, ReplicaFrames& out);
  void take_reached(std::size_t from, const wire::Header& header, wire::View body, ReplicaFrames& out);
  void take_printed(std::size_t from, bool is_first, wire::View body, ReplicaFrames& out);
  void take_run(std::size_t from, wire::View body, ReplicaFrames& out);
  void begin_run(std::uint64_t function, std::array<std::uint64_t, 2> numbers, std::int32_t status, ReplicaFrames& out);

  bool is_alone_ = false;
  std::map<Failure, std::size_t> failed_;            ///< told, and not said by the other one yet
  std::deque<std::pair<Failure, ReplicaFrame>> failures_;  ///< said by the other one alone so far
  struct Reached {
    std::uint64_t number = 0;
    std::int32_t status = 0;
  };
  std::array<std::map<std::uint64_t, Reached>, 2> reached_;  ///< by event: what each has reached
  std::map<std::uint64_t, std::uint64_t> told_reached_;      ///< by event: what both have, and the process knows
  std::array<std::uint64_t, 2> printed_{};           ///< bytes each has said
  std::uint64_t told_ = 0;                           ///< bytes of that the process has
  std::string ahead_;                                ///< what the other one has printed behind those
  std::array<std::map<std::uint64_t, std::deque<Run>>, 2> runs_;  ///< by function: asked for by one alone so far
  std::array<std::size_t, 2> waiting_{};  ///< how many those are
  std::map<std::uint64_t, std::array<std::uint64_t, 2>> running_;
  std::uint64_t last_run_ = 0;
};

}  // namespace flexrack::client::cuda
