#include "server/residency_state.h"

#include <algorithm>

namespace flexrack::server {
namespace {

/// Before anything was measured: 10 GB/s.
constexpr std::uint64_t kFirstBytes = 10;
/// Of what was measured, so much is remembered: bytes.
constexpr std::uint64_t kMostRemembered = std::uint64_t{64} << 30;

}  // namespace

bool ResidencyState::has_room_for(const Id& lease) const {
  return std::ranges::count_if(members, [&](const Resident& one) { return one.owner.pid != 0 && one.lease == lease; }) <
         static_cast<std::ptrdiff_t>(kResidentsOfLease);
}

std::uint32_t ResidencyState::join(const ProcessMark& owner, const Id& lease, std::uint64_t now) {
  const auto place =
      std::find_if(members.begin(), members.end(), [](const Resident& one) { return one.owner.pid == 0; });
  if (place == members.end() || !has_room_for(lease)) return kNone;
  *place = {};
  place->owner = owner;
  place->lease = lease;
  place->last_active = now;
  const auto index = static_cast<std::uint32_t>(place - members.begin());
  used_members = std::max(used_members, index + 1);
  return index;
}

void ResidencyState::leave(std::uint32_t member, std::uint64_t now) {
  members[member] = {};
  while (used_members > 0 && members[used_members - 1].owner.pid == 0) --used_members;
  ++changes;
  step(now);
}

bool ResidencyState::ask(std::uint32_t member, std::uint64_t room, std::uint64_t now) {
  auto& self = members[member];
  self.last_active = now;
  if (self.phase == Phase::in && room <= self.room) return self.wanted = 0, true;
  if (self.phase == Phase::leaving) return false;
  if (self.wanted == 0) {
    self.wanted_since = now;
    // It is back sooner than its turn would have been over: then that one was too short.
    if (self.phase == Phase::out && self.turns > 0) {
      const bool is_soon = now - std::min(now, self.left_at) < turn_of(self);
      self.short_turns = self.was_short != 0 && is_soon ? self.short_turns + 1 : 0;
      if (self.short_turns >= kShortTurns) self.last_short = now;
      self.was_short = 0;
    }
  }
  self.wanted = std::max<std::uint64_t>(room, 1);
  step(now);
  return self.wanted == 0;
}

bool ResidencyState::hold(std::uint32_t member, std::uint64_t bytes, bool can_leave) {
  auto& self = members[member];
  const auto then = self.physical() + bytes;
  if (then < bytes) return false;
  if (then > self.room) {
    const auto more = then - self.room, used = room_in_use();
    if (used > capacity || more > capacity - used) return false;
    self.room = then;
  }
  (can_leave ? self.mapped : self.pinned) += bytes;
  return true;
}

void ResidencyState::let_go(std::uint32_t member, std::uint64_t bytes, bool can_leave) {
  auto& self = members[member];
  auto& of = can_leave ? self.mapped : self.pinned;
  const auto given = std::min(bytes, of);
  of -= given;
  self.room -= std::min(given, self.room);
  ++changes;
}

void ResidencyState::moved(std::uint64_t bytes, std::uint64_t took) {
  moved_bytes += bytes;
  moved_ns += took;
  if (moved_bytes > kMostRemembered) moved_bytes /= 2, moved_ns /= 2;
}

void ResidencyState::went(std::uint32_t member, std::uint64_t took, std::uint64_t now) {
  auto& self = members[member];
  if (self.was_short == 0) self.short_turns = 0;
  moved(self.mapped, took);
  self.swapped += self.mapped;
  self.mapped = 0;
  self.room = self.pinned;
  self.phase = Phase::out;
  self.left_at = now;
  ++self.turns;
  // What it waited for it has to ask for again, with all that it has now.
  self.wanted = 0;
  ++changes;
  step(now);
}

void ResidencyState::is_back(std::uint32_t member, std::uint64_t took, std::uint64_t now) {
  auto& self = members[member];
  moved(self.swapped, took);
  self.mapped += self.swapped;
  self.swapped = 0;
  self.came = self.last_active = now;
}

void ResidencyState::stays(std::uint32_t member, bool is_stuck, std::uint64_t now) {
  auto& self = members[member];
  self.phase = Phase::in;
  self.is_stuck = is_stuck ? 1 : 0;
  if (is_stuck) self.stuck_until = now + kStuck;
  else self.last_active = now;
  step(now);
}

std::uint64_t ResidencyState::room_in_use() const {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < used_members; ++i) sum += members[i].room;
  return sum;
}

std::uint64_t ResidencyState::cost_of(std::uint64_t bytes) const {
  const auto all = static_cast<double>(2 * bytes);
  return moved_bytes == 0 || moved_ns == 0
             ? 2 * bytes / kFirstBytes
             : static_cast<std::uint64_t>(all * static_cast<double>(moved_ns) / static_cast<double>(moved_bytes));
}

std::uint64_t ResidencyState::turn_of(const Resident& one) const {
  return std::max(kLeastTurn, kCosts * cost_of(one.mapped + one.swapped));
}

std::uint64_t ResidencyState::idle_from(const Resident& one) const {
  return one.last_active + std::max(kLeastIdle, 2 * cost_of(one.mapped));
}

/// From when on it may be asked to leave; kNever: not for now.
std::uint64_t ResidencyState::evictable_at(const Resident& one) const {
  if (one.owner.pid == 0 || one.phase != Phase::in || one.room <= one.pinned) return kNever;
  const auto from = one.is_stuck != 0 ? one.stuck_until : 0;
  if (one.wanted > one.room) return from;  // it waits for more room itself
  const auto turn = one.came + turn_of(one);
  // One whose turns have been too short gets whole ones.
  const auto idle = one.short_turns >= kShortTurns ? turn : idle_from(one);
  return std::max(from, std::min(turn, idle));
}

std::uint32_t ResidencyState::first_waiting() const {
  auto first = kNone;
  for (std::uint32_t i = 0; i < used_members; ++i) {
    const auto& one = members[i];
    if (one.owner.pid == 0 || one.wanted == 0 || one.phase == Phase::leaving) continue;
    if (first == kNone || one.wanted_since < members[first].wanted_since) first = i;
  }
  return first;
}

/// Asks as many to leave as that takes; false where all who may leave now are not enough.
bool ResidencyState::evict(std::uint64_t need, std::uint32_t but, std::uint64_t now) {
  std::uint64_t found = 0;
  std::vector<std::uint32_t> who;
  for (std::uint32_t i = 0; i < used_members; ++i) {
    const auto& one = members[i];
    if (one.phase == Phase::leaving) found += one.room - one.pinned;  // on its way
    else if (i != but && evictable_at(one) <= now) who.push_back(i);
  }
  std::stable_sort(who.begin(), who.end(),
                   [&](auto a, auto b) { return members[a].last_active < members[b].last_active; });
  std::vector<std::uint32_t> chosen;
  for (const auto i : who) {
    if (found >= need) break;
    found += members[i].room - members[i].pinned;
    chosen.push_back(i);
  }
  if (found < need) return false;
  for (const auto i : chosen) {
    auto& one = members[i];
    one.was_short = one.wanted <= one.room && now < one.came + turn_of(one) ? 1 : 0;
    one.phase = Phase::leaving;
    one.is_stuck = 0;
    ++changes;
  }
  return true;
}

std::uint64_t ResidencyState::capacity_at(std::uint64_t now) const {
  return now < announced_until ? std::min(capacity, announced) : capacity;
}

std::uint64_t ResidencyState::step(std::uint64_t now) {
  const auto available = capacity_at(now);
  if (const auto used = room_in_use(); used > available) evict(used - available, kNone, now);
  auto next = announced_until > now ? announced_until : kNever;
  for (;;) {
    const auto first = first_waiting();
    if (first == kNone) break;
    auto& self = members[first];
    const auto used = room_in_use(), need = self.wanted - std::min(self.wanted, self.room);
    if (used <= available && need <= available - used) {
      self.room = std::max(self.room, self.wanted);
      self.wanted = 0;
      if (self.phase == Phase::out) self.phase = Phase::in, self.came = now;
      self.last_active = now;
      ++changes;
      continue;
    }
    if (!evict(used + need - std::min(used + need, available), first, now))
      for (std::uint32_t i = 0; i < used_members; ++i)
        if (const auto at = evictable_at(members[i]); i != first && at > now) next = std::min(next, at);
    break;
  }
  return next;
}

bool ResidencyState::make_room(std::uint64_t capacity_then, std::uint64_t now) {
  // What is kept beside what they have goes first.
  for (std::uint32_t i = 0; room_in_use() > capacity_then && i < used_members; ++i)
    if (members[i].phase == Phase::in && members[i].swapped == 0) members[i].room = members[i].physical();
  announced = capacity_then;
  announced_until = now + kAnnounced;
  step(now);
  if (room_in_use() > capacity_then) return false;
  capacity = capacity_then;
  announced_until = 0;
  return true;
}

Standing ResidencyState::standing(std::uint32_t member, std::uint64_t now) const {
  const auto& self = members[member];
  if (self.short_turns >= kShortTurns && now < self.last_short + kRemembered) return Standing::thrashes;
  if (self.wanted > self.room || (self.wanted > 0 && self.phase == Phase::out)) {
    // As long as everybody else's turns may take, twice.
    auto patience = kPatience;
    for (std::uint32_t i = 0; i < used_members; ++i)
      if (i != member && members[i].owner.pid != 0)
        patience += 2 * (turn_of(members[i]) + cost_of(members[i].mapped + members[i].swapped));
    return now > self.wanted_since + patience ? Standing::thrashes : Standing::waits;
  }
  return self.phase == Phase::out && self.swapped > 0 ? Standing::out : Standing::in;
}

bool ResidencyState::is_thrashing(std::uint64_t now) const {
  for (std::uint32_t i = 0; i < used_members; ++i)
    if (members[i].owner.pid != 0 && standing(i, now) == Standing::thrashes) return true;
  return false;
}

}  // namespace flexrack::server
