#include "server/broker.h"

#include <algorithm>
#include <ctime>
#include <memory>

#include "server/folder.h"
#include "server/supported_apis.h"

namespace flexrack::server {
namespace {

constexpr auto kSampleEvery = std::chrono::milliseconds(250);
constexpr std::size_t kSamples = 5;  // five points, a second between the first and the last
constexpr std::size_t kMostConnections = 1024;

std::string lease_text(const Id& lease) { return "lease " + wire::to_hex(lease); }

}  // namespace

Broker::Broker(Loop& loop, Log& log, BrokerSettings settings, std::vector<backend::DeviceReport> devices)
    : loop_(loop),
      log_(log),
      settings_(std::move(settings)),
      leases_(std::move(devices), settings_.grace, settings_.most_swapped),
      worker_pool_(loop, log,
                   {settings_.root, settings_.runtime, settings_.grace, settings_.is_fabric_trusted, settings_.spare,
                    settings_.backend}),
      lease_keepers_(loop, log,
                     {[this](const Id& lease) {
                        if (leases_.hold(lease)) log_.line(lease_text(lease) + " is held");
                      },
                      [this](const Id& lease, bool closed) {
                        log_.line(lease_text(lease) + (closed ? " lost its holder" : " hears nothing of its holder"));
                        leases_.lose(lease, closed, Clock::now());
                        watch_deadlines();
                      },
                      [this](const Id& lease) { release(lease, "given back by its holder", [] {}); }}),
      moves_(worker_pool_, lease_keepers_),
      started_(std::time(nullptr)) {
  worker_pool_.on_gone = [this](const Worker& worker) { worker_gone(worker); };
  worker_pool_.on_move_word = [this](const Worker& worker, const wire::Json& word) { moves_.hear(worker, word); };
}

void Broker::take_over() {
  for (const auto& device : leases_.devices())
    schedulers_.push_back(SchedulerFile::open_or_create(scheduler_path(settings_.runtime, device.native_id)));
  for (const auto& device : leases_.devices())
    if (settings_.most_swapped > 0)
      residencies_.push_back(ResidencyFile::open_or_create(residency_path(settings_.runtime, device.native_id)));
  if (const auto text = read_private_file(settings_.root + "/leases.json")) {
    const auto saved = wire::Json::parse(*text);
    if (!saved) log_.line("leases.json is damaged: its leases are lost");
    for (const auto& id : leases_.restore(saved.value_or(wire::Json()), Clock::now()))
      log_.line("lease " + id + " does not fit this machine any more");
  }
  for (const auto& [id, lease] : leases_.all()) open_books(lease);
  settle_capacity();
  worker_pool_.adopt([this](const Id& lease) { return leases_.find(lease) != nullptr; });
  worker_pool_.keep_spare();
  watch_deadlines();
  sample();
}

std::optional<wire::Bytes> Broker::judge(const PendingConnection& pending) {
  const auto& preamble = pending.preamble;
  const auto refuse = [&](wire::Turned turned, std::string_view why) {
    turn_away(log_, pending, turned, why);
    return std::nullopt;
  };
  if (preamble.version_min > wire::kVersion || preamble.version_max < wire::kVersion)
    return refuse(wire::Turned::version, "speaks another version of the protocol");
  const auto* lease = leases_.find(preamble.lease);
  if (preamble.peer == 0 && lease == nullptr)
    return refuse(wire::Turned::unknown_lease, "there is no such lease, or it is over");
  if (!may_use_transport(pending)) return refuse(wire::Turned::transport, "not on that transport from there");
  // A peer link is between two workers: its key and its session say whose it is, and the dialling side knows no lease
  // of ours.
  if (preamble.peer != 0) return judge_peer(pending);
  if (preamble.is_resume() && worker_pool_.find(preamble.session) == nullptr) worker_pool_.hear_all(preamble.lease);
  if (const auto why = objection(pending)) return refuse(why->first, why->second);
  return wire::Bytes(lease->key.begin(), lease->key.end());
}

std::optional<wire::Bytes> Broker::judge_peer(const PendingConnection& pending) {
  const auto& preamble = pending.preamble;
  auto* worker = worker_pool_.find(preamble.session);
  if (worker == nullptr ||
      (preamble.kind != wire::ConnectionKind::peer && preamble.kind != wire::ConnectionKind::bulk)) {
    turn_away(log_, pending, wire::Turned::unknown_session, "there is no such session for a peer");
    return std::nullopt;
  }
  worker_pool_.hear(*worker);  // it tells of a peer before the peer can know
  const auto found = worker->peers.find(preamble.peer);
  if (found != worker->peers.end()) return found->second;
  turn_away(log_, pending, wire::Turned::unknown_session, "no such peer is expected");
  return std::nullopt;
}

std::optional<std::pair<wire::Turned, std::string_view>> Broker::objection(const PendingConnection& pending) const {
  const auto& preamble = pending.preamble;
  if (preamble.kind == wire::ConnectionKind::keeper) return std::nullopt;
  const auto* worker = worker_pool_.find(preamble.session);
  if (worker != nullptr && worker->lease != preamble.lease)
    return std::pair(wire::Turned::unknown_session, "the session is another lease's");
  if (preamble.kind != wire::ConnectionKind::command || preamble.is_resume()) {
    if (worker == nullptr) return std::pair(wire::Turned::unknown_session, "there is no such session, or it is over");
    return std::nullopt;
  }
  if (worker != nullptr) return std::pair(wire::Turned::replayed, "the session is there already");
  if (moves_.is_moving(preamble.lease))
    return std::pair(wire::Turned::full, "the lease is on its way to another server");
  if (worker_pool_.workers().size() + lease_keepers_.count() >= kMostConnections ||
      worker_pool_.count(preamble.lease) >= WorkerPool::kMostOfALease) {
    return std::pair(wire::Turned::full, "the lease has as many sessions as it may");
  }
  return std::nullopt;
}

void Broker::enter(PendingConnection pending) {
  const auto& preamble = pending.preamble;
  const auto who = pending.address + " lease " + wire::to_hex(preamble.lease);
  if (!replay_guard_.add(pending.mark)) return log_.refused("plays again what another connection has said", who);
  if (preamble.peer != 0) {
    auto* worker = worker_pool_.find(preamble.session);
    if (worker != nullptr) worker_pool_.pass(*worker, std::move(pending));
    return;
  }
  // Both may have changed since it was judged; the client tries again, and is told.
  const auto* lease = leases_.find(preamble.lease);
  if (lease == nullptr) return log_.refused("there is no such lease, or it is over", who);
  if (const auto why = objection(pending)) return log_.refused(why->second, who);
  if (preamble.kind == wire::ConnectionKind::keeper)
    return lease_keepers_.admit(*lease, supported_api(leases_.devices()[lease->shares.front().device].api),
                                std::move(pending));
  auto* worker = worker_pool_.find(preamble.session);
  if (worker == nullptr) return begin_session(*lease, std::move(pending));
  if (!worker_pool_.pass(*worker, std::move(pending)))
    log_.line("worker " + std::to_string(worker->mark.pid) + " takes no connection");
}

bool Broker::may_use_transport(const PendingConnection& pending) const {
  switch (pending.preamble.transport) {
    case wire::Transport::tls: return true;
    case wire::Transport::tcp: return pending.is_local || settings_.is_fabric_trusted;
    case wire::Transport::shm: return pending.address == "unix";
  }
  return false;
}

/// Of each device, for sessions that take turns: what leases that keep their memory have not.
void Broker::settle_capacity() {
  for (std::size_t i = 0; i < residencies_.size(); ++i)
    residencies_[i].locked([&](ResidencyState& state) {
      const auto total = leases_.devices()[i].memory;
      state.capacity = total - std::min(total, leases_.kept(i));
      state.step(ResidencyFile::now());
      ++state.changes;
      return 0;
    });
}

std::variant<Id, Denial> Broker::grant(const Wish& wish) {
  const auto is_asked = [&](const std::string& id) {
    return wish.ids.empty() || std::find(wish.ids.begin(), wish.ids.end(), id) != wish.ids.end();
  };
  if (wish.oversubscribe)
    for (std::size_t i = 0; i < residencies_.size(); ++i)
      if (is_asked(leases_.devices()[i].native_id) &&
          residencies_[i].locked([](ResidencyState& state) { return state.is_thrashing(ResidencyFile::now()); }))
        return Denial{"unavailable", "sessions that take turns on device " + leases_.devices()[i].native_id +
                                         " do not come to their turns in time: no more of them for now"};
  auto outcome = leases_.grant(wish, Clock::now(), std::time(nullptr));
  if (const auto* id = std::get_if<Id>(&outcome); id && !wish.oversubscribe) {
    // Sessions that take turns have the memory perhaps: they are asked to leave it.
    for (const auto& share : leases_.find(*id)->shares) {
      if (residencies_.empty()) break;
      const auto total = leases_.devices()[share.device].memory;
      const auto left = total - std::min(total, leases_.kept(share.device));
      if (residencies_[share.device].locked(
              [&](ResidencyState& state) { return state.make_room(left, ResidencyFile::now()); }))
        continue;
      leases_.end(*id);
      settle_capacity();
      return Denial{"unavailable", "sessions that take turns on device " + leases_.devices()[share.device].native_id +
                                       " are asked to make room: ask again"};
    }
  }
  if (const auto* id = std::get_if<Id>(&outcome)) {
    const auto& lease = *leases_.find(*id);
    try {
      open_books(lease);
      save();
    } catch (const std::exception& error) {
      books_.erase(*id);
      leases_.end(*id);
      settle_capacity();
      return Denial{"internal", error.what()};
    }
    log_.line(lease_text(*id) + " granted to " + lease.owner + " for " + lease.purpose);
    watch_deadlines();
  }
  return outcome;
}

bool Broker::renew(const Id& lease) {
  const bool known = leases_.renew(lease, Clock::now());
  watch_deadlines();
  return known;
}

bool Broker::release(const Id& lease, std::string_view why, std::function<void()> done) {
  if (!leases_.begin_end(lease)) return false;
  log_.line(lease_text(lease) + " ended: " + std::string(why));
  try {
    save();
  } catch (const std::exception& error) { log_.line(std::string("leases.json cannot be written: ") + error.what()); }
  moves_.call_off(lease, why);  // before its holder hears of the end, which has it go on with what it holds beside it
  lease_keepers_.dismiss(lease);
  worker_pool_.end(lease, why, [this, lease, done = std::move(done)] {
    leases_.end(lease);
    settle_capacity();
    lease_keepers_.settle(lease);
    books_.erase(lease);
    unlink(accounting_path(settings_.runtime, lease).c_str());
    done();
  });
  return true;
}

bool Broker::move(const Id& lease, const wire::Json& to, std::chrono::milliseconds rest, LeaseMoves::Done done) {
  if (leases_.find(lease) == nullptr || moves_.is_moving(lease)) return false;
  const auto where = to["node"].text().empty() ? to["address"].text() : to["node"].text();
  log_.line(lease_text(lease) + " is to go to " + where);
  moves_.begin(lease, to, rest, [this, lease, where, done = std::move(done)](const LeaseMoves::Outcome& outcome) {
    if (!outcome.why.empty()) {
      log_.line(lease_text(lease) + " stays: " + outcome.why);
      return done(outcome);
    }
    if (!release(lease, "it went to " + where, [done, outcome] { done(outcome); })) done(outcome);
  });
  return true;
}

void Broker::stop_all(std::function<void()> done) {
  std::vector<Id> ids;
  for (const auto& [id, lease] : leases_.all()) ids.push_back(id);
  for (const auto& id : ids) release(id, "the daemon is stopped", [] {});
  await_none(std::move(done));
}

void Broker::await_none(std::function<void()> done) {
  // Those that were ending already are waited for too.
  if (leases_.all().empty() && worker_pool_.workers().empty()) return done();
  loop_.after(std::chrono::milliseconds(5), [this, done = std::move(done)] { await_none(done); });
}

Broker::Turns Broker::turns(std::size_t device, const Lease* of) const {
  Turns found;
  if (device >= residencies_.size()) return found;
  residencies_[device].locked([&](const ResidencyState& state) {
    for (std::uint32_t i = 0; i < state.used_members; ++i) {
      const auto& one = state.members[i];
      if (one.owner.pid == 0 || (of && one.lease != of->id)) continue;
      found.physical += one.physical();
      found.swapped += one.swapped;
      found.count += one.turns;
      found.standing = std::max(found.standing, state.standing(i, ResidencyFile::now()));
    }
    return 0;
  });
  return found;
}

std::uint64_t Broker::used(const Id& lease, std::size_t share) const {
  const auto found = books_.find(lease);
  return found == books_.end() ? 0 : found->second.accounting.used(share);
}

std::uint64_t Broker::used_by(const Worker& worker) const {
  const auto found = books_.find(worker.lease);
  return found == books_.end() ? 0 : found->second.accounting.used_by(worker.mark);
}

std::optional<double> Broker::longest_launch(const Id& lease, std::size_t share) const {
  const auto found = books_.find(lease);
  const auto micros = found == books_.end() ? std::nullopt : found->second.accounting.longest_launch(share);
  return micros ? std::optional(static_cast<double>(*micros) / 1e6) : std::nullopt;
}

double Broker::utilization(const Id& lease, std::size_t share) const {
  const auto found = books_.find(lease);
  return found == books_.end() ? 0 : found->second.accounting.utilization(share).value_or(0);
}

void Broker::open_books(const Lease& lease) {
  const auto path = accounting_path(settings_.runtime, lease.id);
  std::vector<std::uint64_t> limits;
  for (const auto& share : lease.shares) limits.push_back(share.whole ? MemoryAccounting::kUnlimited : share.memory);
  if (access(path.c_str(), F_OK) == 0) {
    try {
      auto accounting = MemoryAccounting::take_over(path);
      accounting.clear_dead();
      books_.emplace(lease.id, Books{std::move(accounting), {}});
      return;
    } catch (const std::exception& error) {
      log_.line(std::string("the memory accounting of a lease is made anew: ") + error.what());
    }
  }
  books_.emplace(lease.id, Books{MemoryAccounting::create(path, limits), {}});
}

void Broker::save() { replace_file(settings_.root + "/leases.json", leases_.save().write() + "\n"); }

void Broker::watch_deadlines() {
  loop_.cancel(deadline_);
  deadline_ = 0;
  const auto next = leases_.next_deadline();
  if (!next) return;
  deadline_ = loop_.at(*next, [this] {
    for (const auto& id : leases_.overdue(Clock::now())) {
      const bool was_held = leases_.find(id)->state == LeaseState::lost;
      release(id, was_held ? "its holder did not come back" : "nobody held it", [] {});
    }
    watch_deadlines();
  });
}

void Broker::sample() {
  for (auto& [id, books] : books_) {
    auto& samples = books.samples;
    auto& now = samples.emplace_back(Books::Sample{Clock::now(), {}});
    for (std::size_t i = 0; i < books.accounting.devices(); ++i) now.busy.push_back(books.accounting.busy(i));
    if (samples.size() > kSamples) samples.erase(samples.begin());
    if (samples.size() == 1) continue;
    const auto& first = samples.front();
    const auto& last = samples.back();
    const auto span = std::chrono::duration<double, std::nano>(last.at - first.at).count();
    for (std::size_t i = 0; i < last.busy.size(); ++i)
      books.accounting.show_utilization(i, static_cast<double>(last.busy[i] - first.busy[i]) / span);
  }
  loop_.after(kSampleEvery, [this] { sample(); });
}

void Broker::worker_gone(const Worker& worker) {
  const auto found = books_.find(worker.lease);
  if (found != books_.end()) found->second.accounting.clear_dead();
  for (auto& scheduler : schedulers_) scheduler.clear_dead();
  for (auto& residency : residencies_) residency.clear_dead();
  moves_.gone(worker);
}

void Broker::begin_session(const Lease& lease, PendingConnection pending) {
  // Its proof may be a recording from before this broker began: a process for each of some, not for any number.
  if (worker_pool_.count_unproven() >= WorkerPool::kMostUnproven)
    return log_.refused("too many sessions that prove nothing", pending.address + " " + lease_text(lease.id));
  try {
    worker_pool_.start(lease, leases_.devices(), std::move(pending));
  } catch (const std::exception& error) { log_.line(std::string("no worker could be started: ") + error.what()); }
}

}  // namespace flexrack::server
