// Threads for waits: more waits than threads, of which the first need the last to be over.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "backend/cuda/waiters.h"

using flexrack::backend::cuda::Waiters;

TEST_CASE("waits that can be asked for do not wait for a thread that another one has") {
  constexpr int kMany = 1000;
  struct State {
    std::atomic<int> is_open{0}, over{0};
  };
  const auto state = std::make_shared<State>();
  Waiters waiters;
  for (int i = 0; i < kMany; ++i) {
    waiters.run_when([state] { return state->is_open.load() != 0; },
                     [state] { state->is_open.wait(0), ++state->over; });
  }
  // What all of them wait for is behind all of them.
  waiters.run_when([] { return true; },
                   [state] {
                     state->is_open = 1;
                     state->is_open.notify_all();
                   });
  for (int i = 0; i < 6000 && (state->over != kMany || waiters.any()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(state->over == kMany);
  CHECK_FALSE(waiters.any());
  state->is_open = 1;
  state->is_open.notify_all();
  CHECK(waiters.close(std::chrono::seconds(30)));
}
