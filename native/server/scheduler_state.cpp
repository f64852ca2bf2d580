#include "server/scheduler_state.h"

#include <algorithm>

namespace flexrack::server {
namespace {

constexpr std::uint64_t kWhole = 1000;
constexpr std::uint32_t kFirstWindow = 8;
constexpr std::uint64_t kFirstPause = 500'000;
constexpr std::uint64_t kSlack = 100'000;  // on top of twice the usual pause

std::uint64_t mix(std::uint64_t average, std::uint64_t sample, std::uint64_t share) {
  return average == 0 ? sample : (average * (share - 1) + sample) / share;
}

}  // namespace

std::uint32_t SchedulerState::join(const ProcessMark& owner, const Id& lease, std::uint32_t weight, bool capped,
                                   std::uint64_t now) {
  const auto place =
      std::find_if(members.begin(), members.end(), [](const SchedulerMember& member) { return member.owner.pid == 0; });
  if (place == members.end()) return kNone;
  auto tenant = std::find_if(tenants.begin(), tenants.end(),
                             [&](const SchedulerTenant& have) { return have.weight != 0 && have.lease == lease; });
  if (tenant == tenants.end()) {
    tenant = std::find_if(tenants.begin(), tenants.end(), [](const SchedulerTenant& have) { return have.weight == 0; });
    if (tenant == tenants.end()) return kNone;
    *tenant = {};
    tenant->lease = lease;
    tenant->charged = least_charged();
    tenant->refilled = now;
    tenant->pause = kFirstPause;
    tenant->window = kFirstWindow;
    tenant->last_active = now;
  }
  used_tenants = std::max(used_tenants, static_cast<std::uint32_t>(tenant - tenants.begin()) + 1);
  tenant->weight = std::clamp<std::uint32_t>(weight, 1, kWhole);
  tenant->capped = capped ? 1 : 0;
  *place = {};
  place->owner = owner;
  place->tenant = static_cast<std::uint32_t>(tenant - tenants.begin());
  const auto index = static_cast<std::uint32_t>(place - members.begin());
  used_members = std::max(used_members, index + 1);
  return index;
}

void SchedulerState::leave(std::uint32_t member, std::uint64_t now) {
  account(now);
  const auto tenant = members[member].tenant;
  members[member] = {};
  while (used_members > 0 && members[used_members - 1].owner.pid == 0) --used_members;
  const bool others = std::any_of(members.begin(), members.begin() + used_members, [&](const SchedulerMember& have) {
    return have.owner.pid != 0 && have.tenant == tenant;
  });
  if (!others) {
    if (holder == tenant) release(now);
    tenants[tenant].weight = 0;
    while (used_tenants > 0 && tenants[used_tenants - 1].weight == 0) --used_tenants;
  }
  step(now);
}

bool SchedulerState::enter(std::uint32_t member, std::uint64_t now) {
  stirred(members[member], now);
  ++members[member].waiting;  // so that the lease counts as one that wants the device
  step(now);
  const bool entered = try_enter(members[member], now);
  --members[member].waiting;
  return entered;
}

bool SchedulerState::enter_waiting(std::uint32_t member, std::uint64_t now) {
  auto& self = members[member];
  if (self.waiting == 0) return false;
  self.is_mute = 0;
  step(now);
  if (!try_enter(self, now)) return false;
  --self.waiting;
  return true;
}

void SchedulerState::finish(std::uint32_t member, std::uint64_t duration, std::uint64_t now, std::uint32_t count) {
  auto& self = members[member];
  count = std::min(count, self.flying);
  if (count == 0) return;
  account(now);
  auto& tenant = tenants[self.tenant];
  const auto flying = sum_of(self.tenant).flying;
  // While several are on the device, the time from one end to the next is what a launch takes of it, the driver's own
  // work included.
  const bool is_dense = flying > 1 && holder == self.tenant && last_finish >= slice_began && last_finish != 0;
  const auto cost = (is_dense ? now - last_finish : duration) / count;
  if (cost > 0) tenant.kernel = std::max<std::uint64_t>(1, mix(tenant.kernel, cost, 8));
  last_finish = now;
  self.flying -= count;
  self.is_mute = 0;
  tenant.last_active = now;
  const auto late = std::min(count, self.late);
  self.late -= late;
  if (late > 0 && self.late == 0) {
    // Left behind by a slice that was taken away: what it held the device for since is its own.
    const auto extra = now - std::min(now, self.late_since);
    tenant.charged += extra * kWhole / tenant.weight;
    tenant.tokens -= static_cast<std::int64_t>(extra);
  }
  for (std::uint32_t i = 0; drain_since == 0 && i < count && tenant.window < kWidest; ++i)
    tenant.window = std::min(kWidest, tenant.window + 1 + tenant.window / 16);
  step(now);
}

std::uint64_t SchedulerState::step(std::uint64_t now) {
  account(now);
  if (holder != kNone) {
    auto& tenant = tenants[holder];
    const auto sum = sum_of(holder);
    const bool out_of_tokens = tenant.capped != 0 && tenant.tokens <= 0;
    const bool contended = is_contended(now);
    if (drain_since == 0 && out_of_tokens) drain_since = now;
    if (drain_since == 0 && now + kSlice / 4 >= slice_ends &&
        !is_outranked(slice_ends > now ? slice_ends - now : 0, now))
      slice_ends += kSlice;
    if (drain_since == 0 && contended && now >= slice_ends) drain_since = now;
    // Somebody who thinks much and launches little is far behind: it need not wait for the whole slice.
    if (drain_since == 0 && contended && now >= slice_began + kShortest && is_outranked(0, now, kSlice / 2))
      drain_since = now;

    const bool is_idle = sum.flying == 0 && sum.waiting == 0;
    if (drain_since != 0) {
      if (sum.flying == 0 || now >= drain_since + kDrain) release(now);
    } else if (contended && is_idle && now >= tenant.last_active + patience_of(tenant)) {
      release(now);
    }
  }
  if (holder == kNone) choose(now);
  return next_change(now);
}

SchedulerState::Sum SchedulerState::sum_of(std::uint32_t tenant) const {
  Sum sum;
  for (std::uint32_t i = 0; i < used_members; ++i) {
    const auto& member = members[i];
    if (member.owner.pid == 0 || member.tenant != tenant) continue;
    sum.flying += member.flying - member.late;
    if (member.is_mute == 0) sum.waiting += member.waiting;
  }
  return sum;
}

bool SchedulerState::try_enter(SchedulerMember& member, std::uint64_t now) {
  if (holder != member.tenant || drain_since != 0) return false;
  auto& tenant = tenants[holder];
  const auto flying = sum_of(holder).flying;
  // Never so many on the device that they run far over the slice; one always.
  const auto left = is_contended(now) ? (slice_ends > now ? slice_ends - now : 0) : kSlice / 2;
  if (flying > 0 && (flying >= tenant.window || flying * tenant.kernel >= left)) return false;
  ++member.flying;
  used_slice = 1;
  tenant.last_active = now;
  return true;
}

void SchedulerState::stirred(SchedulerMember& member, std::uint64_t now) {
  member.is_mute = 0;
  auto& tenant = tenants[member.tenant];
  const auto sum = sum_of(member.tenant);
  if (sum.flying > 0 || sum.waiting > 0) return;
  const auto pause = now - std::min(now, tenant.last_active);
  tenant.pause = mix(tenant.pause, std::min(pause, 4 * kLongestPause), 4);
  // Who was away has saved nothing up but a slice: else it could keep everybody else out for as long as it was away.
  const auto least = least_charged();
  const auto credit = kSlice * kWhole / tenant.weight;
  if (holder != member.tenant) tenant.charged = std::max(tenant.charged, least > credit ? least - credit : 0);
}

void SchedulerState::account(std::uint64_t now) {
  const auto from = std::min(accounted, now);
  accounted = now;
  for (std::uint32_t i = 0; i < used_tenants; ++i) {
    if (tenants[i].weight != 0 && tenants[i].capped != 0) refill(tenants[i], now);
  }
  if (holder == kNone) return;
  auto& tenant = tenants[holder];
  const auto sum = sum_of(holder);
  auto until = now;
  // Kept for it while it thinks: charged as long as that was worth it.
  if (sum.flying == 0 && sum.waiting == 0) until = std::min(now, tenant.last_active + patience_of(tenant));
  if (until > from) tenant.charged += (until - from) * kWhole / tenant.weight;
  if (sum.flying > 0) tenant.tokens -= static_cast<std::int64_t>(now - from);
}

void SchedulerState::refill(SchedulerTenant& tenant, std::uint64_t now) const {
  const auto passed = now - std::min(now, tenant.refilled);
  // Whole steps only, so that nothing is lost to rounding however often this runs.
  const auto gained = passed * tenant.weight / kWhole;
  if (gained == 0) return;
  tenant.refilled += gained * kWhole / tenant.weight;
  tenant.tokens = std::min(tenant.tokens + static_cast<std::int64_t>(gained), static_cast<std::int64_t>(kSlice));
}

bool SchedulerState::may_hold(std::uint32_t tenant, std::uint64_t now) {
  auto& about = tenants[tenant];
  if (about.weight == 0) return false;
  bool wants = false;
  for (std::uint32_t i = 0; i < used_members; ++i) {
    const auto& member = members[i];
    if (member.owner.pid == 0 || member.tenant != tenant) continue;
    if (member.late > 0) return false;  // it still has the device, in a way
    wants = wants || (member.waiting > 0 && member.is_mute == 0);
  }
  if (!wants) return false;
  if (about.capped == 0) return true;
  refill(about, now);
  return about.tokens >= static_cast<std::int64_t>(kSlice / 4);
}

bool SchedulerState::is_contended(std::uint64_t now) {
  for (std::uint32_t i = 0; i < used_tenants; ++i) {
    if (i != holder && may_hold(i, now)) return true;
  }
  return false;
}

bool SchedulerState::is_outranked(std::uint64_t ahead, std::uint64_t now, std::uint64_t by) {
  const auto charged = tenants[holder].charged + ahead * kWhole / tenants[holder].weight;
  for (std::uint32_t i = 0; i < used_tenants; ++i) {
    if (i != holder && may_hold(i, now) && tenants[i].charged + by * kWhole / tenants[i].weight <= charged) return true;
  }
  return false;
}

std::uint64_t SchedulerState::patience_of(const SchedulerTenant& tenant) const {
  return tenant.pause > kLongestPause ? 0 : 2 * tenant.pause + kSlack;
}

std::uint64_t SchedulerState::least_charged() const {
  std::uint64_t least = kNever;
  for (std::uint32_t i = 0; i < used_members; ++i) {
    const auto& member = members[i];
    if (member.owner.pid == 0 || (member.waiting == 0 && member.tenant != holder)) continue;
    least = std::min(least, tenants[member.tenant].charged);
  }
  if (least != kNever) return least;
  // Nobody is active: whoever comes starts where the last one was.
  std::uint64_t most = 0;
  for (const auto& tenant : tenants) {
    if (tenant.weight != 0) most = std::max(most, tenant.charged);
  }
  return most;
}

void SchedulerState::release(std::uint64_t now) {
  auto& tenant = tenants[holder];
  if (drain_since != 0 && now > drain_since + kSlice / 2) tenant.window = std::max<std::uint32_t>(1, tenant.window / 2);
  for (std::uint32_t i = 0; i < used_members; ++i) {
    auto& member = members[i];
    if (member.owner.pid == 0 || member.tenant != holder) continue;
    if (used_slice == 0 && member.waiting > 0)
      member.is_mute = 1;  // it had the device and did nothing: stopped, or gone
    if (member.flying == 0) continue;
    member.late = member.flying;
    member.late_since = now;
  }
  holder = kNone;
  drain_since = 0;
}

void SchedulerState::choose(std::uint64_t now) {
  for (std::uint32_t i = 0; i < used_tenants; ++i) {
    if (!may_hold(i, now)) continue;
    if (holder == kNone || tenants[i].charged < tenants[holder].charged) holder = i;
  }
  if (holder == kNone) return;
  slice_began = now;
  slice_ends = now + kSlice;
  used_slice = 0;
}

std::uint64_t SchedulerState::next_change(std::uint64_t now) {
  std::uint64_t next = kNever;
  for (std::uint32_t i = 0; i < used_tenants; ++i) {
    auto& tenant = tenants[i];
    if (tenant.weight == 0 || tenant.capped == 0 || i == holder) continue;
    const auto lacking = static_cast<std::int64_t>(kSlice / 4) - tenant.tokens;
    if (lacking > 0) next = std::min(next, now + static_cast<std::uint64_t>(lacking) * kWhole / tenant.weight + 1);
  }
  if (holder == kNone) return next;
  const auto& tenant = tenants[holder];
  if (drain_since != 0) return std::min(next, drain_since + kDrain);
  next = std::min(next, slice_ends - std::min(slice_ends, kSlice / 4) > now ? slice_ends - kSlice / 4 : slice_ends);
  if (slice_began + kShortest > now) next = std::min(next, slice_began + kShortest);
  if (tenant.capped != 0 && tenant.tokens > 0) next = std::min(next, now + static_cast<std::uint64_t>(tenant.tokens));
  const auto sum = sum_of(holder);
  if (sum.flying == 0 && sum.waiting == 0)
    next = std::min(next, std::max(now + 1, tenant.last_active + patience_of(tenant)));
  return std::max(next, now + 1);
}

}  // namespace flexrack::server
