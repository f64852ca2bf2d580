#include "sim/driver/value_waits.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace flexrack::sim {

using std::chrono::microseconds, std::chrono::steady_clock;

void ValueWaits::post(Ref<Command> command) {
  {
    const std::lock_guard guard(lock_);
    is_started_ = is_started_ || start_thread("sim-wait", [this] { look(); });
    if (is_started_) {
      posted_.push_back(std::move(command));
      came_.notify_one();
      return;
    }
  }
  // No thread to be had at all: better here than never.
  while (!command->try_run()) std::this_thread::sleep_for(microseconds(200));
}

void ValueWaits::look() {
  prctl(PR_SET_TIMERSLACK, 1000);   // a nap of some microseconds would else be sixty
  std::vector<Ref<Command>> waiting;
  auto changed = steady_clock::now();
  std::unique_lock guard(lock_);
  for (;;) {
    const auto has_more = [this] { return !posted_.empty(); };
    if (waiting.empty()) {
      came_.wait(guard, has_more);
    } else {
      const auto quiet = std::chrono::duration_cast<microseconds>(steady_clock::now() - changed);
      came_.wait_for(guard, std::clamp(quiet / 8, microseconds(1), microseconds(200)), has_more);
    }
    bool has_changed = has_more();
    waiting.insert(waiting.end(), posted_.begin(), posted_.end());
    posted_.clear();
    guard.unlock();
    has_changed |= std::erase_if(waiting, [](const Ref<Command>& one) { return one->try_run(); }) > 0;
    if (has_changed) changed = steady_clock::now();
    guard.lock();
  }
}

}  // namespace flexrack::sim
