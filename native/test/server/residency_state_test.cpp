// The rules of turns on a device that has granted more than it has: no clock, so what is tried is the rules and nothing
// else.
#include <doctest/doctest.h>

#include <vector>

#include "server/leases.h"
#include "server/residency_state.h"

namespace residency_test {
namespace {

using namespace flexrack::server;

constexpr std::uint64_t kMiB = 1 << 20, kMillisecond = 1'000'000, kSecond = 1'000'000'000;
constexpr std::uint64_t kBytesOfMillisecond = 1 * kMiB;  // what is swapped in that time

/// Sessions whose messages and swaps happen as they should.
struct Device {
  ResidencyState state;
  std::uint64_t now = kSecond;
  std::vector<std::uint32_t> members;

  explicit Device(std::uint64_t capacity) { state.capacity = capacity; }

  std::uint32_t add(std::uint64_t bytes) {
    Id lease{};
    lease[0] = static_cast<std::uint8_t>(members.size() + 1);
    const auto member = state.join({static_cast<std::int32_t>(members.size() + 1), 0, 1}, lease, now);
    members.push_back(member);
    REQUIRE(state.ask(member, bytes, now));
    REQUIRE(state.hold(member, bytes, true));
    return member;
  }
  Resident& of(std::uint32_t member) { return state.members[member]; }

  /// Who is asked to leave does, and who may come comes.
  void carry_on() {
    for (bool is_any = true; is_any;) {
      is_any = false;
      state.step(now);
      for (const auto member : members) {
        auto& one = of(member);
        if (one.owner.pid == 0) continue;
        if (one.phase == Phase::leaving) {
          const auto took = one.mapped / kBytesOfMillisecond * kMillisecond;
          now += took;
          state.went(member, took, now);
          is_any = true;
        } else if (one.phase == Phase::in && one.swapped > 0) {
          const auto took = one.swapped / kBytesOfMillisecond * kMillisecond;
          now += took;
          state.is_back(member, took, now);
          is_any = true;
        }
      }
      if (is_any) check();
    }
  }
  void check() const {
    std::uint64_t physical = 0;
    for (const auto& one : state.members) {
      physical += one.physical();
      CHECK(one.physical() <= one.room);
    }
    CHECK(physical <= state.capacity);
    CHECK(state.room_in_use() <= state.capacity);
  }
  /// It has something to do: whether it may.
  bool wants(std::uint32_t member) {
    auto& one = of(member);
    const bool may = one.phase == Phase::in && one.swapped == 0;
    if (may) one.last_active = now;
    else if (one.phase == Phase::out && one.wanted == 0) state.ask(member, one.pinned + one.mapped + one.swapped, now);
    carry_on();
    return may;
  }
};

TEST_CASE("sessions that fit beside each other never leave") {
  Device device(100 * kMiB);
  const auto one = device.add(40 * kMiB), other = device.add(50 * kMiB);
  for (int i = 0; i < 1000; ++i) {
    CHECK(device.wants(one));
    CHECK(device.wants(other));
    device.now += 10 * kMillisecond;
  }
  CHECK(device.of(one).turns + device.of(other).turns == 0);
}

TEST_CASE("four of three quarters each have turns alike, and a tenth of the time goes to swaps") {
  Device device(100 * kMiB);
  std::vector<std::uint32_t> all;
  for (int i = 0; i < 4; ++i) {
    // The ones before are idle by then.
    device.now += kSecond;
    Id lease{};
    lease[0] = static_cast<std::uint8_t>(i + 1);
    const auto member = device.state.join({i + 1, 0, 1}, lease, device.now);
    device.members.push_back(member);
    device.state.ask(member, 75 * kMiB, device.now);
    device.carry_on();
    REQUIRE(device.state.hold(member, 75 * kMiB, true));
    all.push_back(member);
  }
  std::vector<std::uint64_t> used(4);
  const auto begun = device.now;
  bool is_thrashing = false;
  while (device.now < begun + 40 * kSecond) {
    for (int i = 0; i < 4; ++i)
      if (device.wants(all[static_cast<std::size_t>(i)])) used[static_cast<std::size_t>(i)] += kMillisecond;
    device.now += kMillisecond;
    is_thrashing = is_thrashing || device.state.is_thrashing(device.now);
  }
  CHECK_FALSE(is_thrashing);
  const auto lasted = device.now - begun;
  std::uint64_t sum = 0;
  for (const auto one : used) {
    CHECK(one > lasted / 5);
    sum += one;
  }
  CHECK(sum > lasted * 87 / 100);
  CHECK(device.of(all[0]).turns > 4);
}

TEST_CASE("the processes of one lease do not take all places") {
  Device device(100 * kMiB);
  const Id many{1}, other{2};
  std::int32_t process = 0;
  for (std::size_t i = 0; i < kResidentsOfLease; ++i)
    REQUIRE(device.state.join({++process, 0, 1}, many, device.now) != ResidencyState::kNone);
  CHECK(device.state.join({++process, 0, 1}, many, device.now) == ResidencyState::kNone);
  CHECK_FALSE(device.state.has_room_for(many));
  CHECK(device.state.join({++process, 0, 1}, other, device.now) != ResidencyState::kNone);
  device.state.leave(0, device.now);
  CHECK(device.state.join({++process, 0, 1}, many, device.now) == 0);
}

TEST_CASE("who does nothing leaves first, the one that was used last the longest ago") {
  Device device(100 * kMiB);
  const auto idle = device.add(30 * kMiB), busy = device.add(30 * kMiB), quiet = device.add(30 * kMiB);
  device.now += 20 * kSecond;
  device.of(quiet).last_active = device.now - kSecond;
  device.of(busy).last_active = device.now;
  Id lease{};
  const auto next = device.state.join({9, 0, 1}, lease, device.now);
  device.members.push_back(next);
  CHECK_FALSE(device.state.ask(next, 35 * kMiB, device.now));
  CHECK(device.of(idle).phase == Phase::leaving);
  CHECK(device.of(quiet).phase == Phase::in);
  CHECK(device.of(busy).phase == Phase::in);
  device.carry_on();
  CHECK(device.of(idle).physical() == 0);
  CHECK(device.of(idle).swapped == 30 * kMiB);
  CHECK(device.of(next).room == 35 * kMiB);
}

TEST_CASE("nobody leaves for one whom that would not help, and what is pinned stays") {
  Device device(100 * kMiB);
  const auto stuck = device.add(40 * kMiB), pinned = device.add(40 * kMiB);
  device.of(pinned).mapped = 0;
  device.of(pinned).pinned = 40 * kMiB;
  device.now += kSecond;
  Id lease{};
  const auto next = device.state.join({9, 0, 1}, lease, device.now);
  device.members.push_back(next);
  device.state.ask(next, 70 * kMiB, device.now);
  CHECK(device.of(stuck).phase == Phase::in);  // 40 + 20 would not do
  device.now += 60 * kSecond;
  CHECK(device.state.standing(next, device.now) == Standing::thrashes);  // it is told
  CHECK(device.state.is_thrashing(device.now));
  device.state.leave(pinned, device.now);  // killed: its numbers are free
  device.carry_on();
  CHECK(device.of(next).room == 70 * kMiB);
  CHECK_FALSE(device.state.is_thrashing(device.now));
}

TEST_CASE("two that both wait for more do not wait for each other") {
  Device device(100 * kMiB);
  const auto one = device.add(50 * kMiB), other = device.add(50 * kMiB);
  CHECK_FALSE(device.state.ask(one, 75 * kMiB, device.now));
  device.now += kMillisecond;
  device.state.ask(other, 75 * kMiB, device.now);
  device.carry_on();
  const bool has_one = device.of(one).room == 75 * kMiB, has_other = device.of(other).room == 75 * kMiB;
  CHECK(has_one != has_other);
}

TEST_CASE("turns that are too short for what they cost are told, and become whole ones") {
  Device device(100 * kMiB);
  const auto one = device.add(75 * kMiB);
  Id lease{};
  const auto other = device.state.join({9, 0, 1}, lease, device.now);
  device.members.push_back(other);
  device.now += kSecond;
  device.state.ask(other, 75 * kMiB, device.now);
  device.carry_on();
  REQUIRE(device.state.hold(other, 75 * kMiB, true));
  // Each does a little, then thinks for longer than it takes to be idle, and so does the other.
  bool is_told = false;
  for (int i = 0; i < 20 && !is_told; ++i) {
    for (const auto member : {one, other}) {
      for (int k = 0; k < 1000 && !device.wants(member); ++k) device.now += kMillisecond;
      device.now += 350 * kMillisecond;
      is_told = is_told || device.state.is_thrashing(device.now);
    }
  }
  CHECK(is_told);
  device.now += 60 * kSecond;
  CHECK_FALSE(device.state.is_thrashing(device.now));
}

TEST_CASE("a lease that keeps its memory has room made for it") {
  Device device(100 * kMiB);
  const auto one = device.add(60 * kMiB);
  device.now += kSecond;
  CHECK_FALSE(device.state.make_room(30 * kMiB, device.now));
  CHECK(device.state.capacity == 100 * kMiB);
  device.carry_on();
  CHECK(device.of(one).physical() == 0);
  CHECK(device.state.make_room(30 * kMiB, device.now));
  CHECK(device.state.capacity == 30 * kMiB);
}

TEST_CASE("leases beyond the memory there is: as much as the host has for them, each fitting by itself") {
  flexrack::backend::DeviceReport report{"gpu", "a", "b", "c", "cuda"};
  report.memory = 1000;
  Leases leases({report}, std::chrono::seconds(1), 3000);
  const auto now = Clock::now();
  const auto granted = [&](const Wish& wish) { return std::holds_alternative<Id>(leases.grant(wish, now, 0)); };
  Wish wish{.memory = 750, .oversubscribe = true};
  for (int i = 0; i < 4; ++i) CHECK(granted(wish));
  CHECK_FALSE(granted(wish));  // the host's memory is granted
  CHECK(leases.oversubscribed(0).granted == 3000);
  CHECK(leases.free(0).memory == 250);  // the largest must fit beside leases that keep their memory
  CHECK_FALSE(granted(Wish{.memory = 251, .compute = 1}));
  const auto saved = leases.save();
  Leases later({report}, std::chrono::seconds(1), 3000);
  CHECK(later.restore(saved, now).empty());
  CHECK(later.oversubscribed(0).granted == 3000);

  Leases none({report}, std::chrono::seconds(1));
  CHECK_FALSE(std::holds_alternative<Id>(none.grant(wish, now, 0)));
  Leases some({report}, std::chrono::seconds(1), 3000);
  CHECK_FALSE(std::holds_alternative<Id>(some.grant(Wish{.oversubscribe = true}, now, 0)));  // how much?
  CHECK(std::holds_alternative<Id>(some.grant(Wish{.memory = 400, .compute = 100}, now, 0)));
  CHECK_FALSE(std::holds_alternative<Id>(some.grant(wish, now, 0)));  // 600 are left
}

}  // namespace
}  // namespace residency_test
