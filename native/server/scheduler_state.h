// Who may launch on a shared device, and when: fair time slices by weight, as a state in shared memory and steps on it.
//
// One lease at a time has launches on the device. It keeps the device for a slice while it has something to launch, is
// charged the time it held it, and the lease with the least charged for its weight is next. A kernel cannot be
// interrupted, so a slice may run over: what it ran over is charged too, and comes back to the others. Times are
// nanoseconds of any clock that all processes share; they are given, so that the rules can be tried without waiting.
#pragma once

#include <array>
#include <cstdint>

#include "server/liveness.h"
#include "server/token.h"

namespace flexrack::server {

inline constexpr std::size_t kSchedulerTenants = 64;
inline constexpr std::size_t kSchedulerMembers = 128;

/// A lease's part of the scheduler.
struct SchedulerTenant {
  Id lease{};
  std::uint32_t weight = 0;  ///< thousandths of the device; 0: unused
  std::uint32_t capped = 0;  ///< 1: never more than its weight, even alone
  std::uint64_t charged = 0;  ///< time held, over its weight: the least is next
  std::int64_t tokens = 0;  ///< capped: time it may still use
  std::uint64_t refilled = 0;
  std::uint64_t kernel = 0;  ///< how long one launch takes, on average
  std::uint64_t pause = 0;  ///< how long it thinks between its launches, on average
  std::uint64_t last_active = 0;
  std::uint32_t window = 0;  ///< launches that may be on the device at once, as experience has it
  std::uint32_t reserved = 0;
};

/// A worker's part.
struct SchedulerMember {
  ProcessMark owner;
  std::uint32_t tenant = 0;
  std::uint32_t waiting = 0;  ///< launches that ask
  std::uint32_t flying = 0;  ///< launches on the device
  std::uint32_t late = 0;  ///< of those, how many were left behind when its slice was taken away
  std::uint32_t is_mute = 0;  ///< had a slice and did not use it: left out until it stirs
  std::uint32_t reserved = 0;
  std::uint64_t late_since = 0;
};

class SchedulerState {
 public:
  static constexpr std::uint64_t kMillisecond = 1'000'000;
  static constexpr std::uint64_t kSlice = 10 * kMillisecond;
  static constexpr std::uint64_t kShortest =
      2 * kMillisecond;  ///< of a slice that is cut for somebody who is far behind
  static constexpr std::uint64_t kLongestPause =
      4 * kMillisecond;  ///< the device is not kept for one that thinks longer
  static constexpr std::uint64_t kDrain =
      1000 * kMillisecond;  ///< after that a slice ends with launches still on the device
  static constexpr std::uint32_t kWidest = 4096;
  static constexpr std::uint64_t kNever = UINT64_MAX;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Takes a place; kNone when all are taken. The lease's weight and cap are those of the latest.
  std::uint32_t join(const ProcessMark& owner, const Id& lease, std::uint32_t weight, bool capped, std::uint64_t now);
  /// Gives it back, with everything it had on the device.
  void leave(std::uint32_t member, std::uint64_t now);

  /// A launch asks and does not wait yet. True: it is on the device now.
  bool enter(std::uint32_t member, std::uint64_t now);
  /// It was told to wait.
  void wait(std::uint32_t member) { ++members[member].waiting; }
  /// One that waits asks again. True: it is on the device now.
  bool enter_waiting(std::uint32_t member, std::uint64_t now);
  /// A launch has ended, having taken so long by its events (0: not known); or so many have, seen at once, and so long
  /// together.
  void finish(std::uint32_t member, std::uint64_t duration, std::uint64_t now, std::uint32_t count = 1);

  /// Moves on: ends slices, gives the next. Returns when something may change by time alone, or kNever.
  std::uint64_t step(std::uint64_t now);

  /// True when members of the holder wait that could go: somebody should wake them.
  bool is_holder(std::uint32_t member) const { return holder != kNone && members[member].tenant == holder; }

  std::array<SchedulerTenant, kSchedulerTenants> tenants{};
  std::array<SchedulerMember, kSchedulerMembers> members{};
  std::uint32_t used_members = 0;  ///< none beyond this is in use
  std::uint32_t used_tenants = 0;
  std::uint32_t holder = kNone;  ///< tenant that has the device
  std::uint64_t slice_began = 0, slice_ends = 0;
  std::uint64_t accounted = 0;  ///< the holder has been charged up to here
  std::uint64_t drain_since = 0;  ///< not 0: the slice is over, its launches are waited for
  std::uint64_t last_finish = 0;
  std::uint64_t used_slice = 0;  ///< 1: the holder has launched in this slice

 private:
  struct Sum {
    std::uint32_t waiting = 0, flying = 0;
  };
  Sum sum_of(std::uint32_t tenant) const;
  bool try_enter(SchedulerMember& member, std::uint64_t now);
  void stirred(SchedulerMember& member, std::uint64_t now);
  void account(std::uint64_t now);
  void refill(SchedulerTenant& tenant, std::uint64_t now) const;
  bool may_hold(std::uint32_t tenant, std::uint64_t now);
  bool is_contended(std::uint64_t now);
  /// Somebody who wants the device has been charged less, by that much of its own time, than the holder will be after
  /// `ahead`.
  bool is_outranked(std::uint64_t ahead, std::uint64_t now, std::uint64_t by = 0);
  std::uint64_t patience_of(const SchedulerTenant& tenant) const;
  std::uint64_t least_charged() const;
  void release(std::uint64_t now);
  void choose(std::uint64_t now);
  std::uint64_t next_change(std::uint64_t now);
};

}  // namespace flexrack::server
