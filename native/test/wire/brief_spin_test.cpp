// When a thread that waits looks for a moment before it sleeps.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "wire/brief_spin.h"

using flexrack::wire::BriefSpin;
using namespace std::chrono_literals;

TEST_CASE("who waits for short answers looks, and a look for nothing is paid by eight short waits") {
  BriefSpin spin;
  CHECK(!spin.expects_little());
  spin.waited(false, 60us);
  CHECK(spin.expects_little());
  spin.waited(true, 30us);
  CHECK(spin.expects_little());
  spin.waited(true, 400us);
  for (int i = 0; i < 8; ++i) {
    CHECK(!spin.expects_little());
    spin.waited(false, 60us);
  }
  CHECK(!spin.expects_little());
  spin.waited(false, 60us);
  CHECK(spin.expects_little());
  // Long ones count as well: a pause between bursts costs nothing, a slow peer ends it.
  for (int i = 0; i < 7; ++i) spin.waited(false, 60us);
  spin.waited(false, 10ms);
  CHECK(spin.expects_little());
  for (int i = 0; i < 7; ++i) spin.waited(false, 10ms);
  CHECK(!spin.expects_little());
}

TEST_CASE("nobody looks where more threads want to run than there are processors") {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < std::thread::hardware_concurrency() + 2; ++i)
    busy.emplace_back([&] {
      while (!is_over) continue;
    });
  while (BriefSpin::has_free_cores()) std::this_thread::sleep_for(5ms);
  BriefSpin spin;
  for (int i = 0; i < 100; ++i) spin.waited(false, 60us);
  CHECK((spin.expects_little() && !spin.is_worth_it()));
  is_over = true;
  for (auto& thread : busy) thread.join();
}
