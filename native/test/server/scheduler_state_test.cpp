// The scheduler's rules on a simulated device: no clock, so what is measured is the rules and nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "server/scheduler_state.h"

namespace {

using namespace flexrack::server;

constexpr std::uint64_t kMicrosecond = 1000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;

/// A client in a loop: launches `burst` kernels, waits for all of them, thinks, and again.
struct LoopingClient {
  std::uint64_t kernel = 0;
  std::uint64_t think = 0;
  std::size_t burst = 1;
  std::uint64_t starts = 0, stops = UINT64_MAX;
  bool is_stuck = false;  ///< never lets a launch go that waits, as a stopped process does

  std::uint32_t member = 0;
  std::size_t queued = 0, outstanding = 0;
  std::uint64_t next_burst = 0, used = 0;
};

/// A device that runs one kernel after the other, in the order they came.
class Simulation {
 public:
  SchedulerState scheduler;

  std::size_t add(LoopingClient client, std::uint8_t lease, std::uint32_t weight, bool capped = false) {
    Id id{};
    id[0] = lease;
    client.member = scheduler.join({static_cast<std::int32_t>(clients_.size() + 1), 0, 1}, id, weight, capped, now_);
    client.next_burst = client.starts;
    clients_.push_back(client);
    return clients_.size() - 1;
  }

  void run(std::uint64_t until) {
    while (now_ < until) {
      for (auto& client : clients_) begin_burst(client);
      for (auto& client : clients_) {
        if (!client.is_stuck) let_go(client);
      }
      now_ = std::min(until, next_event());
      while (!device_.empty() && device_.front().ends <= now_) {
        auto& client = clients_[device_.front().client];
        const auto duration = client.kernel;
        device_.pop_front();
        --client.outstanding;
        client.used += duration;
        if (client.outstanding == 0 && client.queued == 0) client.next_burst = now_ + client.think;
        scheduler.finish(client.member, duration, now_);
      }
    }
  }

  double share(std::size_t client) const {
    return static_cast<double>(clients_[client].used) / static_cast<double>(now_);
  }
  LoopingClient& client(std::size_t index) { return clients_[index]; }
  std::uint64_t now() const { return now_; }

 private:
  struct Running {
    std::size_t client;
    std::uint64_t ends;
  };

  void launch(LoopingClient& client) {
    const auto free = device_.empty() ? now_ : std::max(now_, device_.back().ends);
    device_.push_back({static_cast<std::size_t>(&client - clients_.data()), free + client.kernel});
    ++client.outstanding;
  }

  void begin_burst(LoopingClient& client) {
    if (client.next_burst > now_ || now_ >= client.stops) return;
    client.next_burst = UINT64_MAX;
    for (std::size_t i = 0; i < client.burst; ++i) {
      if (client.queued == 0 && scheduler.enter(client.member, now_)) {
        launch(client);
      } else {
        scheduler.wait(client.member);
        ++client.queued;
      }
    }
  }

  void let_go(LoopingClient& client) {
    while (client.queued > 0 && scheduler.enter_waiting(client.member, now_)) {
      --client.queued;
      launch(client);
    }
  }

  std::uint64_t next_event() {
    auto next = scheduler.step(now_);
    for (const auto& client : clients_) {
      if (now_ < client.stops) next = std::min(next, client.next_burst);
    }
    if (!device_.empty()) next = std::min(next, device_.front().ends);
    return std::max(next, now_ + 1);
  }

  std::vector<LoopingClient> clients_;
  std::deque<Running> device_;
  std::uint64_t now_ = 1;
};

bool is_about(double value, double wanted, double within = 0.05) {
  return value > wanted - within && value < wanted + within;
}

TEST_CASE("one alone gets the whole device, whatever its share") {
  Simulation simulation;
  const auto flood = simulation.add({.kernel = 20 * kMicrosecond, .burst = 1000}, 1, 250);
  simulation.run(2 * kSecond);
  CHECK(simulation.share(flood) > 0.99);
}

TEST_CASE("two at half each get half, whatever their kernels are like") {
  const std::vector<LoopingClient> kinds{
      {.kernel = 5 * kMicrosecond, .burst = 10000},                              // a flood of tiny kernels
      {.kernel = 30 * kMillisecond, .burst = 4},                                 // kernels longer than a slice
      {.kernel = 1 * kMillisecond, .burst = 100},                                // something between
      {.kernel = 2 * kMillisecond, .think = 100 * kMicrosecond, .burst = 1},     // launches one and waits for it
      {.kernel = 100 * kMicrosecond, .think = 200 * kMicrosecond, .burst = 50},  // a training step
  };
  for (std::size_t a = 0; a < kinds.size(); ++a) {
    for (std::size_t b = a; b < kinds.size(); ++b) {
      CAPTURE(a);
      CAPTURE(b);
      Simulation simulation;
      const auto first = simulation.add(kinds[a], 1, 500), second = simulation.add(kinds[b], 2, 500);
      simulation.run(3 * kSecond);
      CHECK(is_about(simulation.share(first), 0.5));
      CHECK(is_about(simulation.share(second), 0.5));
    }
  }
}

TEST_CASE("shares follow the weights") {
  Simulation simulation;
  const auto small = simulation.add({.kernel = 50 * kMicrosecond, .burst = 1000}, 1, 100);
  const auto middle = simulation.add({.kernel = 3 * kMillisecond, .burst = 10}, 2, 300);
  const auto large = simulation.add({.kernel = 500 * kMicrosecond, .burst = 100}, 3, 600);
  simulation.run(10 * kSecond);
  CHECK(is_about(simulation.share(small), 0.1, 0.02));
  CHECK(is_about(simulation.share(middle), 0.3, 0.03));
  CHECK(is_about(simulation.share(large), 0.6, 0.03));
}

TEST_CASE("several workers of one lease share what is the lease's") {
  Simulation simulation;
  const auto one = simulation.add({.kernel = 100 * kMicrosecond, .burst = 500}, 1, 500);
  const auto other = simulation.add({.kernel = 100 * kMicrosecond, .burst = 500}, 1, 500);
  const auto alone = simulation.add({.kernel = 100 * kMicrosecond, .burst = 500}, 2, 500);
  simulation.run(5 * kSecond);
  CHECK(is_about(simulation.share(one) + simulation.share(other), 0.5));
  CHECK(is_about(simulation.share(alone), 0.5));
}

TEST_CASE("a capped lease gets its share and no more, even alone") {
  for (const std::uint64_t kernel : {20 * kMicrosecond, 2 * kMillisecond, 50 * kMillisecond}) {
    CAPTURE(kernel);
    Simulation simulation;
    const auto capped = simulation.add({.kernel = kernel, .burst = 100}, 1, 250, true);
    simulation.run(10 * kSecond);
    CHECK(is_about(simulation.share(capped), 0.25, 0.02));
  }
}

TEST_CASE("what a capped lease may not use, its neighbour gets") {
  Simulation simulation;
  const auto capped = simulation.add({.kernel = 1 * kMillisecond, .burst = 100}, 1, 200, true);
  const auto open = simulation.add({.kernel = 1 * kMillisecond, .burst = 100}, 2, 200);
  simulation.run(10 * kSecond);
  CHECK(simulation.share(capped) < 0.22);
  CHECK(simulation.share(open) > 0.75);
}

TEST_CASE("who was away has not saved up more than a slice") {
  Simulation simulation;
  const auto always = simulation.add({.kernel = 1 * kMillisecond, .burst = 100}, 1, 500);
  const auto later = simulation.add({.kernel = 1 * kMillisecond, .burst = 100, .starts = 5 * kSecond}, 2, 500);
  simulation.run(5 * kSecond);
  const auto before = simulation.client(always).used;
  simulation.run(7 * kSecond);
  CHECK(is_about(static_cast<double>(simulation.client(always).used - before) / static_cast<double>(2 * kSecond), 0.5));
  CHECK(is_about(static_cast<double>(simulation.client(later).used) / static_cast<double>(2 * kSecond), 0.5));
}

TEST_CASE("one that launches now and then does not wait for whole slices of the others") {
  Simulation simulation;
  simulation.add({.kernel = 100 * kMicrosecond, .burst = 10000}, 1, 500);
  const auto rare = simulation.add({.kernel = 1 * kMillisecond, .think = 20 * kMillisecond, .burst = 1}, 2, 500);
  simulation.run(10 * kSecond);
  // Alone it would launch every 21 ms; it waits for a few milliseconds of the other's.
  CHECK(simulation.client(rare).used / kMillisecond > 10000 / 30);
}

TEST_CASE("a holder that is stopped with the device in hand holds the others up for a moment only") {
  Simulation simulation;
  const auto stuck = simulation.add({.kernel = 1 * kMillisecond, .burst = 100, .is_stuck = true}, 1, 500);
  const auto other = simulation.add({.kernel = 1 * kMillisecond, .burst = 100}, 2, 500);
  simulation.run(5 * kSecond);
  CHECK(simulation.client(stuck).queued > 0);
  CHECK(simulation.share(other) > 0.9);
}

TEST_CASE("a kernel that does not end lets the others on after a second, and is charged for it") {
  Simulation simulation;
  const auto endless = simulation.add({.kernel = 3 * kSecond, .burst = 1}, 1, 500);
  simulation.run(100 * kMillisecond);
  auto& scheduler = simulation.scheduler;
  Id id{};
  id[0] = 9;
  const auto member = scheduler.join({99, 0, 1}, id, 500, false, simulation.now());
  REQUIRE_FALSE(scheduler.enter(member, simulation.now()));
  scheduler.wait(member);
  scheduler.step(simulation.now() + 10 * kMillisecond);  // the slice ends
  CHECK_FALSE(scheduler.enter_waiting(member, simulation.now() + 500 * kMillisecond));
  CHECK(scheduler.enter_waiting(member, simulation.now() + 1100 * kMillisecond));
  const auto charged = scheduler.tenants[scheduler.members[simulation.client(endless).member].tenant].charged;
  scheduler.finish(member, kMillisecond, simulation.now() + 1200 * kMillisecond);
  scheduler.finish(simulation.client(endless).member, 3 * kSecond, simulation.now() + 2900 * kMillisecond);
  CHECK(scheduler.tenants[scheduler.members[simulation.client(endless).member].tenant].charged > charged + kSecond);
}

TEST_CASE("a worker that dies with the device in hand gives it up, and its place") {
  SchedulerState scheduler;
  Id first{}, second{};
  first[0] = 1;
  second[0] = 2;
  const auto dead = scheduler.join({1, 0, 1}, first, 500, false, 1);
  const auto alive = scheduler.join({2, 0, 1}, second, 500, false, 1);
  REQUIRE(scheduler.enter(dead, 2));
  REQUIRE_FALSE(scheduler.enter(alive, 3));
  scheduler.wait(alive);
  scheduler.leave(dead, 4);
  CHECK(scheduler.enter_waiting(alive, 5));
  CHECK(scheduler.used_members == 2);
  CHECK(scheduler.tenants[0].weight == 0);
  scheduler.finish(dead, 1, 6);  // an end that comes late is nobody's
  scheduler.finish(dead, 5, 7, 5);
  CHECK(scheduler.members[dead].flying == 0);
}

TEST_CASE("all places taken is an answer, not an overflow") {
  SchedulerState scheduler;
  Id id{};
  for (std::size_t i = 0; i < kSchedulerMembers; ++i)
    CHECK(scheduler.join({static_cast<std::int32_t>(i + 1), 0, 1}, id, 10, false, 1) == i);
  CHECK(scheduler.join({1000, 0, 1}, id, 10, false, 1) == SchedulerState::kNone);
}

}  // namespace
