#include "server/admin_operations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "server/supported_apis.h"
#include "server/version.h"
#include "wire/boot.h"

namespace flexrack::server {
namespace {

using wire::Json;

double part(std::uint32_t thousandths) { return static_cast<double>(thousandths) / 1000.0; }

std::int64_t seconds_until(Clock::time_point when) {
  return std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::seconds>(when - Clock::now()).count());
}

// A part of a device as thousandths: at least one, where it is more than nothing.
std::optional<std::uint32_t> thousandths(const Json& value) {
  const double given = value.number();
  if (!value.is_number() || !(given > 0) || given > 1) return std::nullopt;
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::lround(given * 1000)));
}

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::in: return "in";
    case Standing::out: return "out";
    case Standing::waits: return "waits";
    case Standing::thrashes: return "thrashes";
  }
  return "in";
}

bool is_given(const Json& request, std::string_view name) { return request.has(name) && !request[name].is_null(); }

}  // namespace

Json AdminOperations::error(std::string_view code, std::string_view message) {
  return Json::Members{{"error", Json::Members{{"code", code}, {"message", message}}}};
}

void AdminOperations::carry_out(const Json& request, const Respond& respond) {
  const auto& op = request["op"].text();
  if (op == "status") return respond(ok(status()));
  if (op == "devices") return respond(ok(Json::Members{{"devices", devices()}}));
  if (op == "leases") return respond(ok(Json::Members{{"leases", leases()}}));
  if (op == "lease") return respond(lease(request));
  if (op == "renew") return respond(renew(request));
  if (op == "release") return release(request, respond);
  if (op == "move") return move(request, respond);
  if (op == "stop") return stop(respond);
  respond(error("unknown_op", "no operation of that name"));
}

Json AdminOperations::status() const {
  const auto& settings = broker_.settings();
  Json::Members refused;
  for (const auto& [reason, count] : broker_.log().refusals()) refused.emplace_back(reason, count);
  return Json::Members{{"version", kProgramVersion},
                       {"protocol", static_cast<int>(wire::kVersion)},
                       {"speaks", supported_revisions()},
                       {"pid", static_cast<std::int64_t>(getpid())},
                       {"started", broker_.started()},
                       {"uptime_seconds", static_cast<std::int64_t>(std::time(nullptr)) - broker_.started()},
                       {"boot_id", wire::boot_id()},
                       {"root", settings.root},
                       {"address", settings.address},
                       {"port", static_cast<int>(settings.port)},
                       {"unix", settings.unix_path},
                       {"admin", settings.admin},
                       {"backend", settings.backend.name},
                       {"transport", settings.transport},
                       {"grace_seconds", static_cast<std::int64_t>(settings.grace.count() / 1000)},
                       {"devices", static_cast<std::uint64_t>(broker_.leases().devices().size())},
                       {"leases", static_cast<std::uint64_t>(broker_.leases().all().size())},
                       {"sessions", static_cast<std::uint64_t>(broker_.worker_pool().workers().size())},
                       {"connections", static_cast<std::uint64_t>(broker_.worker_pool().workers().size() +
                                                                  broker_.lease_keepers().count())},
                       {"refused", std::move(refused)}};
}

Json AdminOperations::devices() const {
  Json::List list;
  const auto& all = broker_.leases().devices();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto free = broker_.leases().free(i);
    std::uint64_t used = 0;
    double utilization = 0;
    bool whole = false;
    Json::List lease_keepers;
    for (const auto& [id, lease] : broker_.leases().all()) {
      for (std::size_t k = 0; k < lease.shares.size(); ++k) {
        if (lease.shares[k].device != i) continue;
        used += broker_.used(id, k);
        utilization += broker_.utilization(id, k);
        whole = whole || lease.shares[k].whole;
        lease_keepers.push_back(wire::to_hex(id));
      }
    }
    list.push_back(Json::Members{{"index", static_cast<std::uint64_t>(i)},
                                 {"id", all[i].native_id},
                                 {"name", all[i].name},
                                 {"vendor", all[i].vendor},
                                 {"driver", all[i].driver},
                                 {"api", all[i].api},
                                 {"memory", all[i].memory},
                                 {"compute_units", all[i].compute_units},
                                 {"capability", all[i].capability.empty() ? Json() : Json(all[i].capability)},
                                 {"leased", Json::Members{{"memory", all[i].memory - free.memory},
                                                          {"compute", part(1000 - free.compute)},
                                                          {"whole", whole}}},
                                 {"free", Json::Members{{"memory", free.memory}, {"compute", part(free.compute)}}},
                                 {"oversubscribed", oversubscribed(i)},
                                 {"used", used},
                                 {"utilization", std::min(1.0, utilization)},
                                 {"leases", std::move(lease_keepers)}});
  }
  return list;
}

Json AdminOperations::oversubscribed(std::size_t device) const {
  const auto& leases = broker_.leases();
  if (leases.most_swapped() == 0) return {};
  const auto about = leases.oversubscribed(device);
  const auto turns = broker_.turns(device, nullptr);
  return Json::Members{{"limit", leases.most_swapped()},
                       {"granted", about.granted},
                       {"free", about.free},
                       {"physical", turns.physical},
                       {"swapped", turns.swapped},
                       {"is_thrashing", turns.standing == Standing::thrashes}};
}

Json AdminOperations::leases() const {
  Json::List list;
  for (const auto& [id, lease] : broker_.leases().all()) list.push_back(describe(lease));
  return list;
}

Json AdminOperations::lease(const Json& request) {
  const auto wish = read_wish(request);
  if (const auto* problem = std::get_if<std::string>(&wish)) return error("invalid", *problem);
  const auto outcome = broker_.grant(std::get<Wish>(wish));
  if (const auto* denial = std::get_if<Denial>(&outcome)) {
    auto answer = error(denial->code, denial->message);
    if (denial->code != "unavailable") return answer;
    auto detail = answer["error"];
    auto requested = request;
    detail.set("requested", std::move(requested)).set("devices", devices()).set("leases", leases());
    return Json::Members{{"error", std::move(detail)}};
  }
  const auto& lease = *broker_.leases().find(std::get<Id>(outcome));
  const auto& settings = broker_.settings();
  Json::List shares;
  for (std::size_t i = 0; i < lease.shares.size(); ++i) shares.push_back(share(lease, i, false));
  return ok(
      Json::Members{{"lease", wire::to_hex(lease.id)},
                    {"key", wire::to_hex(lease.key)},
                    {"state", name_of(lease.state)},
                    {"hold_within_seconds", static_cast<std::int64_t>(Leases::kHoldWithin.count())},
                    {"grace_seconds", static_cast<std::int64_t>(settings.grace.count() / 1000)},
                    {"server", Json::Members{{"address", settings.address},
                                             {"port", static_cast<int>(settings.port)},
                                             {"unix", settings.unix_path},
                                             {"boot_id", wire::boot_id()},
                                             {"transport", settings.transport},
                                             {"api", broker_.leases().devices()[lease.shares.front().device].api}}},
                    {"devices", std::move(shares)}});
}

Json AdminOperations::renew(const Json& request) {
  const auto id = token_from_hex<Id>(request["lease"].text());
  if (!id || !broker_.renew(*id)) return error("unknown_lease", "there is no such lease, or it is over");
  return ok(Json::Members{{"lease", wire::to_hex(*id)},
                          {"state", name_of(broker_.leases().find(*id)->state)},
                          {"hold_within_seconds", static_cast<std::int64_t>(Leases::kHoldWithin.count())}});
}

void AdminOperations::release(const Json& request, const Respond& respond) {
  const auto id = token_from_hex<Id>(request["lease"].text());
  const bool known = id && broker_.release(*id, "released by its owner or an administrator", [respond, id] {
    respond(ok(Json::Members{{"lease", wire::to_hex(*id)}, {"state", "ended"}}));
  });
  if (!known) respond(error("unknown_lease", "there is no such lease, or it is over"));
}

void AdminOperations::move(const Json& request, const Respond& respond) {
  constexpr std::int64_t kMostRest = 600;
  const auto id = token_from_hex<Id>(request["lease"].text());
  const auto& to = request["to"];
  const auto rest = request["rest_seconds"].integer(10);
  if (!to.is_members() || !token_from_hex<Id>(to["lease"].text()) || !token_from_hex<Key>(to["key"].text()) ||
      to["address"].text().empty() || to["port"].integer() < 1 || to["port"].integer() > 65535)
    return respond(error("invalid", "to: a server as `lease` answers, its lease and key"));
  if (rest < 0 || rest > kMostRest) return respond(error("invalid", "rest_seconds: 0 to 600"));
  const bool is_begun =
      id && broker_.move(*id, to, std::chrono::seconds(rest), [respond, id](const LeaseMoves::Outcome& outcome) {
        const Json sessions = static_cast<std::uint64_t>(outcome.sessions);
        if (outcome.why.empty())
          return respond(ok(Json::Members{{"lease", wire::to_hex(*id)},
                                          {"state", "moved"},
                                          {"sessions", sessions},
                                          {"pause_seconds", static_cast<double>(outcome.pause_ms) / 1000}}));
        respond(error(outcome.is_in_two ? "in_two" : "stays", outcome.why));
      });
  if (!is_begun)
    respond(
        error("unknown_lease", "there is no such lease, it is over, or it is on its way to another server already"));
}

void AdminOperations::stop(const Respond& respond) {
  const auto leases = broker_.leases().all().size();
  const auto sessions = broker_.worker_pool().workers().size();
  broker_.stop_all([this, respond, leases, sessions] {
    respond(ok(Json::Members{{"stopped", true},
                             {"leases_ended", static_cast<std::uint64_t>(leases)},
                             {"sessions_ended", static_cast<std::uint64_t>(sessions)}}));
    loop_.stop();
  });
}

Json AdminOperations::describe(const Lease& lease) const {
  Json::List shares, sessions;
  for (std::size_t i = 0; i < lease.shares.size(); ++i) shares.push_back(share(lease, i, true));
  for (const auto& [session, worker] : broker_.worker_pool().workers()) {
    if (worker->lease != lease.id) continue;
    sessions.push_back(Json::Members{{"session", wire::to_hex(session)},
                                     {"pid", worker->mark.pid},
                                     {"address", worker->address},
                                     {"started", worker->started},
                                     {"client_pid", worker->client_pid},
                                     {"used", broker_.used_by(*worker)}});
  }
  Json holder, ends;
  if (const auto* about = broker_.lease_keepers().find(lease.id))
    holder = Json::Members{{"address", about->address}, {"since", about->since}};
  if (lease.state == LeaseState::granted || lease.state == LeaseState::lost) ends = seconds_until(lease.ends);
  return Json::Members{{"lease", wire::to_hex(lease.id)},
                       {"state", name_of(lease.state)},
                       {"owner", lease.owner},
                       {"purpose", lease.purpose},
                       {"created", lease.created},
                       {"age_seconds", std::max<std::int64_t>(0, std::time(nullptr) - lease.created)},
                       {"holder", std::move(holder)},
                       {"ends_in_seconds", std::move(ends)},
                       {"devices", std::move(shares)},
                       {"sessions", std::move(sessions)}};
}

Json AdminOperations::share(const Lease& lease, std::size_t index, bool with_use) const {
  const auto& share = lease.shares[index];
  const auto& device = broker_.leases().devices()[share.device];
  Json described = Json::Members{{"index", static_cast<std::uint64_t>(share.device)},
                                 {"id", device.native_id},
                                 {"name", device.name},
                                 {"memory", share.memory},
                                 {"compute", part(share.compute)},
                                 {"whole", share.whole},
                                 {"cap", lease.cap},
                                 {"oversubscribed", lease.is_oversubscribed}};
  if (with_use && lease.is_oversubscribed) {
    const auto turns = broker_.turns(share.device, &lease);
    described.set("turns", Json::Members{{"physical", turns.physical},
                                         {"swapped", turns.swapped},
                                         {"count", turns.count},
                                         {"standing", name_of(turns.standing)}});
  }
  if (!with_use) return described;
  const auto longest = broker_.longest_launch(lease.id, index);
  described.set("used", broker_.used(lease.id, index))
      .set("utilization", broker_.utilization(lease.id, index))
      .set("longest_launch", longest ? Json(*longest) : Json());
  return described;
}

std::variant<Wish, std::string> read_wish(const Json& request) {
  Wish wish;
  const auto& devices = request["devices"];
  if (devices.is_list()) {
    if (devices.list().empty() || devices.list().size() > 64) return "devices: 1 to 64 of them";
    for (const auto& id : devices.list()) {
      if (!id.is_text()) return "devices: a number, or a list of ids";
      wish.ids.push_back(id.text());
    }
  } else if (is_given(request, "devices")) {
    if (!devices.is_integer() || devices.integer() < 1 || devices.integer() > 64)
      return "devices: 1 to 64, or a list of ids";
    wish.count = static_cast<std::size_t>(devices.integer());
  }
  for (const auto* name : {"whole", "cap", "oversubscribe"}) {
    if (is_given(request, name) && !request[name].is_bool()) return std::string(name) + ": true or false";
  }
  for (const auto* name : {"owner", "purpose"}) {
    if (is_given(request, name) && !request[name].is_text()) return std::string(name) + ": text";
  }
  if (is_given(request, "memory")) {
    if (!request["memory"].is_integer() || request["memory"].integer() < 1)
      return "memory: a whole number of bytes, more than nothing";
    wish.memory = static_cast<std::uint64_t>(request["memory"].integer());
  }
  for (const auto* name : {"compute", "fraction"}) {
    if (!is_given(request, name)) continue;
    wish.compute = thousandths(request[name]);
    if (!wish.compute) return std::string(name) + ": more than 0 and at most 1";
  }
  wish.whole = request["whole"].boolean();
  wish.cap = request["cap"].boolean();
  wish.oversubscribe = request["oversubscribe"].boolean();
  wish.owner = request["owner"].text();
  wish.purpose = request["purpose"].text();
  if (is_given(request, "fraction") && (wish.memory || is_given(request, "compute")))
    return "fraction is memory and compute: not beside one of them";
  if (wish.whole && (wish.memory || wish.compute)) return "whole: not beside memory, compute or fraction";
  return wish;
}

}  // namespace flexrack::server
