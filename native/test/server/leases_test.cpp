// Shares and states of leases, with times that are given.
#include <doctest/doctest.h>

#include "server/file_schemas.h"
#include "server/leases.h"

namespace {

using namespace flexrack::server;
using namespace std::chrono_literals;

const Clock::time_point kStart{};
constexpr std::uint64_t kMemory = 1001;  // no round number

std::vector<flexrack::backend::DeviceReport> two_devices() {
  return {{"0:0", "one", "", "", "opencl", kMemory, 4}, {"0:1", "two", "", "", "opencl", kMemory, 4}};
}

Leases two() { return Leases(two_devices(), 30s); }

Id granted(Leases& leases, const Wish& wish) {
  const auto outcome = leases.grant(wish, kStart, 0);
  REQUIRE(std::holds_alternative<Id>(outcome));
  return std::get<Id>(outcome);
}

std::string denied(Leases& leases, const Wish& wish) {
  const auto outcome = leases.grant(wish, kStart, 0);
  const auto* denial = std::get_if<Denial>(&outcome);
  return denial == nullptr ? "granted" : denial->code;
}

TEST_CASE("whole devices are nobody else's, and what is freed can be had again") {
  auto leases = two();
  const auto first = granted(leases, {.count = 1});
  CHECK(leases.find(first)->shares.front().whole);
  CHECK(leases.free(0).memory == 0);
  CHECK(denied(leases, {.count = 2}) == "unavailable");
  CHECK(denied(leases, {.ids = {"0:0"}, .memory = 1}) == "unavailable");
  granted(leases, {.count = 1});
  CHECK(denied(leases, {.count = 1}) == "unavailable");
  CHECK(leases.begin_end(first));
  CHECK_FALSE(leases.begin_end(first));
  CHECK(leases.find(first) == nullptr);
  CHECK(leases.free(0).memory == 0);  // its workers still have it
  leases.end(first);
  granted(leases, {.ids = {"0:0"}});
}

TEST_CASE("shares add up to the device and not a byte more") {
  auto leases = two();
  const auto a = granted(leases, {.ids = {"0:0"}, .memory = 500, .compute = 500});
  CHECK_FALSE(leases.find(a)->shares.front().whole);
  CHECK(denied(leases, {.ids = {"0:0"}, .memory = 502, .compute = 500}) == "unavailable");
  CHECK(denied(leases, {.ids = {"0:0"}, .memory = 501, .compute = 501}) == "unavailable");
  granted(leases, {.ids = {"0:0"}, .memory = 501, .compute = 500});
  CHECK(leases.free(0).memory == 0);
  CHECK(leases.free(0).compute == 0);
  CHECK(denied(leases, {.ids = {"0:0"}, .memory = 1}) == "unavailable");
}

TEST_CASE("asked for one of memory and compute, the other follows; all of both is a whole device") {
  auto leases = two();
  const auto half = granted(leases, {.compute = 500});
  CHECK(leases.find(half)->shares.front().memory == kMemory / 2);
  const auto tenth = granted(leases, {.ids = {"0:1"}, .memory = 101});
  CHECK(leases.find(tenth)->shares.front().compute == 100);
  leases.end(half);
  leases.end(tenth);
  const auto crumb = granted(leases, {.memory = 1});
  CHECK(leases.find(crumb)->shares.front().compute == 1);
  leases.end(crumb);
  const auto all = granted(leases, {.memory = kMemory, .compute = 1000});
  CHECK(leases.find(all)->shares.front().whole);
}

TEST_CASE("shares go where others are already, so that whole devices stay free") {
  auto leases = two();
  const auto first = granted(leases, {.ids = {"0:1"}, .compute = 250});
  const auto second = granted(leases, {.compute = 250});
  CHECK(leases.find(second)->shares.front().device == leases.find(first)->shares.front().device);
  granted(leases, {.count = 1});
}

TEST_CASE("what cannot be meant is said") {
  auto leases = two();
  CHECK(denied(leases, {.count = 0}) == "invalid");
  CHECK(denied(leases, {.count = 3}) == "unavailable");
  CHECK(denied(leases, {.ids = {"7:7"}}) == "unknown_device");
  CHECK(denied(leases, {.ids = {"0:0", "0:0"}}) == "invalid");
  CHECK(denied(leases, {.memory = 0}) == "invalid");
  CHECK(denied(leases, {.compute = 1001}) == "invalid");
  CHECK(denied(leases, {.memory = kMemory + 1}) == "unavailable");
  CHECK(leases.all().empty());
}

TEST_CASE("a lease that nobody holds is over after half a minute; renewing starts that anew") {
  auto leases = two();
  const auto id = granted(leases, {});
  CHECK(leases.next_deadline() == kStart + 30s);
  CHECK(leases.overdue(kStart + 29s).empty());
  CHECK(leases.renew(id, kStart + 20s));
  CHECK(leases.overdue(kStart + 49s).empty());
  CHECK(leases.overdue(kStart + 50s) == std::vector{id});
  leases.end(id);
  CHECK_FALSE(leases.renew(id, kStart));
}

TEST_CASE("a holder that closed has three seconds to come back, one that is silent the grace time") {
  auto leases = two();
  const auto id = granted(leases, {});
  CHECK(leases.hold(id));
  CHECK_FALSE(leases.next_deadline());
  CHECK(leases.overdue(kStart + 1000h).empty());
  leases.lose(id, true, kStart);
  CHECK(leases.find(id)->state == LeaseState::lost);
  CHECK(leases.overdue(kStart + 3s) == std::vector{id});
  CHECK(leases.hold(id));
  leases.lose(id, false, kStart);
  CHECK(leases.overdue(kStart + 29s).empty());
  CHECK(leases.overdue(kStart + 30s) == std::vector{id});
  leases.lose(id, true, kStart + 10s);  // already lost: nothing gets shorter or longer
  CHECK(leases.next_deadline() == kStart + 30s);
}

TEST_CASE("leases survive being saved and read again, keys and shares included") {
  auto leases = two();
  const auto a = granted(leases, {.memory = 77, .compute = 10, .cap = true, .owner = "me\n", .purpose = "x"});
  const auto b = granted(leases, {.ids = {"0:1"}});
  leases.hold(b);
  auto again = two();
  CHECK(again.restore(*flexrack::wire::Json::parse(leases.save().write()), kStart).empty());
  REQUIRE(again.all().size() == 2);
  CHECK(again.find(a)->key == leases.find(a)->key);
  CHECK(again.find(a)->cap);
  CHECK(again.find(a)->owner == "me?");
  CHECK(again.find(a)->shares.front().memory == 77);
  CHECK(again.find(a)->state == LeaseState::granted);
  CHECK(again.find(b)->state == LeaseState::lost);
  CHECK(again.overdue(kStart + 29s).empty());
  CHECK(again.overdue(kStart + 30s).size() == 2);
  CHECK(again.free(0).memory == leases.free(0).memory);
}

TEST_CASE("leases of an older daemon are taken over, those of a newer one are refused") {
  auto leases = two();
  const auto id = granted(leases, {.ids = {"0:0"}});
  const auto saved = leases.save();
  REQUIRE(saved["schema"].integer() == flexrack::server::kGpuLeasesSchema);
  auto again = two();
  CHECK(again
            .restore(flexrack::wire::Json(flexrack::wire::Json::Members{{"version", 1}, {"leases", saved["leases"]}}),
                     kStart)
            .empty());
  CHECK(again.find(id) != nullptr);
  auto older = two();
  CHECK_THROWS_WITH(older.restore(flexrack::wire::Json(flexrack::wire::Json::Members{
                                      {"schema", flexrack::server::kGpuLeasesSchema + 1}, {"leases", saved["leases"]}}),
                                  kStart),
                    doctest::Contains("newer flexrack"));
  CHECK(older.all().empty());
}

TEST_CASE("a state file that does not fit the machine gives nothing away twice") {
  auto leases = two();
  granted(leases, {.ids = {"0:0"}});
  granted(leases, {.ids = {"0:1"}});
  auto devices = two_devices();
  devices.pop_back();
  Leases smaller(devices, 30s);
  CHECK(smaller.restore(leases.save(), kStart).size() == 1);
  CHECK(smaller.all().size() == 1);
  auto again = two();
  for (const auto* text :
       {"{}", "[]", "{\"leases\":[{}]}", "{\"leases\":[5,null]}", "{\"leases\":[{\"lease\":\"00\",\"key\":\"zz\"}]}"}) {
    again.restore(*flexrack::wire::Json::parse(text), kStart);
  }
  CHECK(again.all().empty());
}

}  // namespace
