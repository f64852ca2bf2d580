// Whose memory is on a device that has granted more than it has, and when it goes to the host's: turns, as a state in
// shared memory and steps on it (docs/adr/0081).
//
// A session has room on the device, or none but what cannot go. It asks for as much room as all of its memory takes;
// who has asked first is first. What is not free comes from others: from sessions that do nothing, the one that was
// used last the longest ago first, and from those that have had their turn. A turn is ten times what it costs to bring
// memory in and out, so that no more than a tenth of the time goes there. Nobody is asked to leave for one whom that
// would not help. Times are nanoseconds of any clock that all processes share; they are given, so that the rules can be
// tried without waiting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/liveness.h"
#include "server/token.h"

namespace flexrack::server {

inline constexpr std::size_t kResidents = 128;  ///< sessions of one device that may be swapped
/// Of one lease: its processes must not keep all others out.
inline constexpr std::size_t kResidentsOfLease = 32;

enum class Phase : std::uint32_t { out, in, leaving };

/// A session, which is a worker's. Bytes.
struct Resident {
  ProcessMark owner;
  Id lease{};
  Phase phase = Phase::out;
  std::uint32_t is_stuck = 0;  ///< it has said that it cannot leave now
  std::uint64_t pinned = 0;  ///< on the device, and stays there
  std::uint64_t mapped = 0;  ///< on the device, and can leave
  std::uint64_t swapped = 0;  ///< in the host's memory
  std::uint64_t room = 0;  ///< of the device that is kept for it: at least what it has there
  std::uint64_t wanted = 0;  ///< room that it waits for; 0: for none
  std::uint64_t wanted_since = 0, last_active = 0, came = 0, left_at = 0, stuck_until = 0;
  std::uint64_t turns = 0;
  std::uint32_t short_turns = 0;  ///< one after the other
  std::uint32_t was_short = 0;  ///< the last turn was
  std::uint64_t last_short = 0;

  std::uint64_t physical() const { return pinned + mapped; }
};

/// How a session is, for people.
enum class Standing { in, out, waits, thrashes };

class ResidencyState {
 public:
  static constexpr std::uint64_t kMillisecond = 1'000'000;
  static constexpr std::uint64_t kLeastTurn = 100 * kMillisecond;
  static constexpr std::uint64_t kLeastIdle = 50 * kMillisecond;
  static constexpr std::uint64_t kCosts = 10;  ///< times its cost that a turn lasts
  static constexpr std::uint64_t kStuck = 1000 * kMillisecond;  ///< until one that could not leave is asked again
  static constexpr std::uint64_t kPatience = 2000 * kMillisecond;
  static constexpr std::uint64_t kRemembered = 10'000 * kMillisecond;  ///< how long one counts as thrashing
  static constexpr std::uint64_t kAnnounced = 5000 * kMillisecond;
  static constexpr std::uint32_t kShortTurns = 3;  ///< so many one after the other are thrashing
  static constexpr std::uint64_t kNever = UINT64_MAX;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Takes a place; kNone when all are taken, or the lease has as many as one may.
  std::uint32_t join(const ProcessMark& owner, const Id& lease, std::uint64_t now);
  bool has_room_for(const Id& lease) const;
  /// Gives it back, and both numbers with it.
  void leave(std::uint32_t member, std::uint64_t now);

  /// It must have so much room, in all. True: it has, now.
  bool ask(std::uint32_t member, std::uint64_t room, std::uint64_t now);
  /// More of the device is used, within its room or what is free. False: that is more than there is.
  bool hold(std::uint32_t member, std::uint64_t bytes, bool can_leave);
  void let_go(std::uint32_t member, std::uint64_t bytes, bool can_leave);
  /// What could leave is in the host's memory, or it is back on the device; how long that took.
  void went(std::uint32_t member, std::uint64_t took, std::uint64_t now);
  void is_back(std::uint32_t member, std::uint64_t took, std::uint64_t now);
  /// Asked to leave, it stays: it works after all, or cannot leave for now.
  void stays(std::uint32_t member, bool is_stuck, std::uint64_t now);

  /// Moves on; returns when something may change by time alone, or kNever.
  std::uint64_t step(std::uint64_t now);

  /// Of the device, for sessions that may be swapped; what leases that keep theirs have is not in it.
  std::uint64_t capacity = 0;
  /// Room for a lease that keeps its memory: sessions make it. False: not yet; what was asked for is remembered for a
  /// while, for who asks again.
  bool make_room(std::uint64_t capacity_then, std::uint64_t now);

  /// It does something, or has done so a moment ago.
  bool is_active(std::uint32_t member, std::uint64_t now) const { return now < idle_from(members[member]); }
  std::uint64_t room_in_use() const;
  /// What bringing so many bytes out and in costs, as experience has it.
  std::uint64_t cost_of(std::uint64_t bytes) const;
  /// That of a session's memory, and how long its turn lasts at least.
  std::uint64_t turn_of(const Resident& one) const;
  Standing standing(std::uint32_t member, std::uint64_t now) const;
  bool is_thrashing(std::uint64_t now) const;

  std::array<Resident, kResidents> members{};
  std::uint32_t used_members = 0;  ///< none beyond this is in use
  std::uint64_t changes = 0;  ///< grows whenever somebody may go on, or is asked to leave
  std::uint64_t moved_bytes = 0, moved_ns = 0;  ///< of all swaps
  std::uint64_t announced = 0, announced_until = 0;  ///< capacity that is to be, until when

 private:
  std::uint64_t idle_from(const Resident& one) const;
  std::uint64_t evictable_at(const Resident& one) const;
  bool evict(std::uint64_t need, std::uint32_t but, std::uint64_t now);
  std::uint32_t first_waiting() const;
  std::uint64_t capacity_at(std::uint64_t now) const;
  void moved(std::uint64_t bytes, std::uint64_t took);
};

}  // namespace flexrack::server
