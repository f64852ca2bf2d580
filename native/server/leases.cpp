#include "server/leases.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "server/file_schemas.h"

namespace flexrack::server {
namespace {

constexpr std::uint32_t kWholeCompute = 1000;
constexpr std::size_t kLongestText = 200;

std::string clean(std::string_view text) {
  std::string out(text.substr(0, kLongestText));
  for (auto& c : out) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  }
  return out;
}

bool has_deadline(const Lease& lease) { return lease.state == LeaseState::granted || lease.state == LeaseState::lost; }

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

std::string_view name_of(LeaseState state) {
  switch (state) {
    case LeaseState::granted: return "granted";
    case LeaseState::held: return "held";
    case LeaseState::lost: return "lost";
    case LeaseState::ending: return "ending";
  }
  return "unknown";
}

Leases::Leases(std::vector<backend::DeviceReport> devices, std::chrono::milliseconds grace, std::uint64_t most_swapped)
    : devices_(std::move(devices)), grace_(grace), most_swapped_(most_swapped) {}

const Lease* Leases::find(const Id& id) const {
  const auto found = leases_.find(id);
  return found == leases_.end() || found->second.state == LeaseState::ending ? nullptr : &found->second;
}

Free Leases::free(std::size_t device) const {
  Free left{devices_[device].memory, kWholeCompute};
  std::uint64_t largest = 0;
  for (const auto& [id, lease] : leases_) {
    for (const auto& share : lease.shares) {
      if (share.device != device) continue;
      if (lease.is_oversubscribed) largest = std::max(largest, share.memory);
      else left.memory -= std::min(left.memory, share.memory);
      left.compute -= std::min(left.compute, share.compute);
    }
  }
  left.memory -= std::min(left.memory, largest);
  return left;
}

std::uint64_t Leases::kept(std::size_t device) const {
  std::uint64_t sum = 0;
  for (const auto& [id, lease] : leases_)
    for (const auto& share : lease.shares)
      if (share.device == device && !lease.is_oversubscribed) sum += share.memory;
  return sum;
}

std::uint64_t Leases::swapped_left() const {
  auto left = most_swapped_;
  for (const auto& [id, lease] : leases_)
    for (const auto& share : lease.shares)
      if (lease.is_oversubscribed) left -= std::min(left, share.memory);
  return left;
}

Oversubscribed Leases::oversubscribed(std::size_t device) const {
  Oversubscribed found;
  for (const auto& [id, lease] : leases_)
    for (const auto& share : lease.shares)
      if (lease.is_oversubscribed && share.device == device) {
        found.granted += share.memory;
        found.largest = std::max(found.largest, share.memory);
      }
  const auto total = devices_[device].memory;
  found.free = std::min(swapped_left(), total - std::min(total, kept(device)));
  return found;
}

std::variant<Id, Denial> Leases::grant(const Wish& wish, Clock::time_point now, std::int64_t unix_now) {
  if (leases_.size() >= kMost) return Denial{"limit", "there are " + std::to_string(kMost) + " leases already"};
  const auto count = wish.ids.empty() ? wish.count : wish.ids.size();
  if (count == 0 || count > devices_.size()) {
    return Denial{count == 0 ? "invalid" : "unavailable",
                  counted(count, "device") + " asked for, this machine has " + std::to_string(devices_.size())};
  }

  if (wish.oversubscribe) {
    if (most_swapped_ == 0) return Denial{"unavailable", "this daemon grants no memory beyond what its devices have"};
    if (count != 1) return Denial{"invalid", "a lease that takes turns has one device"};
    if (wish.whole || (!wish.memory && !wish.compute))
      return Denial{"invalid", "oversubscribe: with memory or fraction, which says how much"};
  }

  std::vector<std::size_t> candidates;
  for (const auto& id : wish.ids) {
    const auto found =
        std::find_if(devices_.begin(), devices_.end(), [&](const auto& device) { return device.native_id == id; });
    const auto index = static_cast<std::size_t>(found - devices_.begin());
    if (found == devices_.end()) return Denial{"unknown_device", "no device " + clean(id)};
    if (std::find(candidates.begin(), candidates.end(), index) != candidates.end())
      return Denial{"invalid", "device " + clean(id) + " twice"};
    candidates.push_back(index);
  }
  if (wish.ids.empty()) {
    candidates.resize(devices_.size());
    std::iota(candidates.begin(), candidates.end(), std::size_t{0});
    // The fullest first, so that whole devices stay free for those who want one.
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](std::size_t a, std::size_t b) { return free(a).compute < free(b).compute; });
  }

  Lease lease;
  std::optional<Denial> why;
  for (const auto device : candidates) {
    if (lease.shares.size() == count) break;
    const auto share = share_of(wish, device);
    if (const auto* denial = std::get_if<Denial>(&share)) {
      if (denial->code == "invalid") return *denial;
      why = *denial;
    } else if (fits(std::get<Share>(share), wish.oversubscribe)) {
      lease.shares.push_back(std::get<Share>(share));
    } else if (wish.oversubscribe && std::get<Share>(share).memory > swapped_left()) {
      why = Denial{"unavailable", "of the host's memory for leases that take turns " + std::to_string(swapped_left()) +
                                      " bytes are left"};
    }
  }
  if (lease.shares.size() < count) {
    if (why && lease.shares.empty() && candidates.size() == 1) return *why;
    return Denial{"unavailable",
                  counted(count, "device") + " asked for, that much is free on " + std::to_string(lease.shares.size())};
  }
  std::sort(lease.shares.begin(), lease.shares.end(),
            [](const Share& a, const Share& b) { return a.device < b.device; });

  lease.id = random_token<Id>();
  lease.key = random_token<Key>();
  lease.owner = clean(wish.owner);
  lease.purpose = clean(wish.purpose);
  lease.created = unix_now;
  lease.cap = wish.cap;
  lease.is_oversubscribed = wish.oversubscribe;
  lease.ends = now + kHoldWithin;
  const auto id = lease.id;
  leases_.emplace(id, std::move(lease));
  return id;
}

bool Leases::begin_end(const Id& id) {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.state == LeaseState::ending) return false;
  found->second.state = LeaseState::ending;
  return true;
}

bool Leases::hold(const Id& id) {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.state == LeaseState::ending) return false;
  found->second.state = LeaseState::held;
  return true;
}

void Leases::lose(const Id& id, bool closed, Clock::time_point now) {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.state != LeaseState::held) return;
  found->second.state = LeaseState::lost;
  found->second.ends = now + (closed ? std::chrono::milliseconds(kReturnWithin) : grace_);
}

bool Leases::renew(const Id& id, Clock::time_point now) {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.state == LeaseState::ending) return false;
  if (found->second.state == LeaseState::granted) found->second.ends = now + kHoldWithin;
  return true;
}

std::vector<Id> Leases::overdue(Clock::time_point now) const {
  std::vector<Id> ids;
  for (const auto& [id, lease] : leases_) {
    if (has_deadline(lease) && lease.ends <= now) ids.push_back(id);
  }
  return ids;
}

std::optional<Clock::time_point> Leases::next_deadline() const {
  std::optional<Clock::time_point> next;
  for (const auto& [id, lease] : leases_) {
    if (has_deadline(lease) && (!next || lease.ends < *next)) next = lease.ends;
  }
  return next;
}

wire::Json Leases::save() const {
  wire::Json::List list;
  for (const auto& [id, lease] : leases_) {
    if (lease.state == LeaseState::ending) continue;
    wire::Json::List shares;
    for (const auto& share : lease.shares) {
      shares.push_back(wire::Json::Members{{"device", devices_[share.device].native_id},
                                           {"memory", share.memory},
                                           {"compute", share.compute},
                                           {"whole", share.whole}});
    }
    list.push_back(wire::Json::Members{{"lease", wire::to_hex(lease.id)},
                                       {"key", wire::to_hex(lease.key)},
                                       {"granted", lease.state == LeaseState::granted},
                                       {"owner", lease.owner},
                                       {"purpose", lease.purpose},
                                       {"created", lease.created},
                                       {"cap", lease.cap},
                                       {"oversubscribed", lease.is_oversubscribed},
                                       {"shares", std::move(shares)}});
  }
  return wire::Json::Members{{"schema", kGpuLeasesSchema}, {"leases", std::move(list)}};
}

std::vector<std::string> Leases::restore(const wire::Json& saved, Clock::time_point now) {
  if (const auto schema = saved["schema"].integer(1); schema > kGpuLeasesSchema) {
    throw std::runtime_error("leases.json was written by a newer flexrack (schema " + std::to_string(schema) +
                             "; this one knows up to " + std::to_string(kGpuLeasesSchema) +
                             "): serve with the version that wrote it");
  }
  std::vector<std::string> left_out;
  for (const auto& item : saved["leases"].list()) {
    auto lease = lease_from(item);
    if (!lease) {
      left_out.push_back(clean(item["lease"].text()));
      continue;
    }
    lease->ends = now + (lease->state == LeaseState::granted ? std::chrono::milliseconds(kHoldWithin) : grace_);
    leases_.emplace(lease->id, std::move(*lease));
  }
  return left_out;
}

std::variant<Share, Denial> Leases::share_of(const Wish& wish, std::size_t device) const {
  const auto total = devices_[device].memory;
  Share share{device, total, kWholeCompute, true};
  if (wish.whole || (!wish.memory && !wish.compute)) return share;
  if ((wish.memory && *wish.memory == 0) || (wish.compute && (*wish.compute == 0 || *wish.compute > kWholeCompute))) {
    return Denial{"invalid", "a share is more than nothing and at most the whole device"};
  }
  if (wish.memory && *wish.memory > total) {
    return Denial{"unavailable", "device " + devices_[device].native_id + " has " + std::to_string(total) + " bytes"};
  }
  // Asked for one of the two only: the other in proportion, and of compute never nothing.
  share.memory = wish.memory
                     ? *wish.memory
                     : total / kWholeCompute * *wish.compute + total % kWholeCompute * *wish.compute / kWholeCompute;
  // Of all that can be granted there: with as many as fit into the host's memory, each has its part of the time.
  const auto of = wish.oversubscribe ? std::max(total, most_swapped_ / devices_.size()) : total;
  const auto proportion =
      static_cast<double>(share.memory) / static_cast<double>(std::max<std::uint64_t>(of, 1)) * kWholeCompute;
  share.compute = wish.compute ? *wish.compute
                               : std::clamp<std::uint32_t>(static_cast<std::uint32_t>(proportion), 1, kWholeCompute);
  share.whole = share.memory == total && share.compute == kWholeCompute && !wish.oversubscribe;
  if (share.memory == 0) return Denial{"invalid", "that is no memory at all"};
  return share;
}

bool Leases::fits(const Share& share, bool is_oversubscribed) const {
  const auto left = free(share.device);
  const auto memory = is_oversubscribed ? oversubscribed(share.device).free : left.memory;
  return share.memory <= memory && share.compute <= left.compute;
}

std::optional<Lease> Leases::lease_from(const wire::Json& saved) const {
  const auto id = token_from_hex<Id>(saved["lease"].text());
  const auto key = token_from_hex<Key>(saved["key"].text());
  if (!id || !key || leases_.contains(*id)) return std::nullopt;
  Lease lease;
  lease.id = *id;
  lease.key = *key;
  lease.state = saved["granted"].boolean() ? LeaseState::granted : LeaseState::lost;
  lease.owner = clean(saved["owner"].text());
  lease.purpose = clean(saved["purpose"].text());
  lease.created = saved["created"].integer();
  lease.cap = saved["cap"].boolean();
  lease.is_oversubscribed = saved["oversubscribed"].boolean();
  for (const auto& item : saved["shares"].list()) {
    const auto found = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const auto& device) { return device.native_id == item["device"].text(); });
    const Share share{static_cast<std::size_t>(found - devices_.begin()),
                      static_cast<std::uint64_t>(item["memory"].integer()),
                      static_cast<std::uint32_t>(item["compute"].integer()), item["whole"].boolean()};
    if (found == devices_.end() || !fits(share, lease.is_oversubscribed)) return std::nullopt;
    lease.shares.push_back(share);
  }
  if (lease.shares.empty()) return std::nullopt;
  return lease;
}

}  // namespace flexrack::server
