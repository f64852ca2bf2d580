#include "sim/exec/machine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/exec/run.h"

namespace flexrack::sim::exec {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTurn = std::chrono::milliseconds(2);     ///< at one place, while others wait for it
constexpr auto kNap = std::chrono::microseconds(50);     ///< when all blocks wait for somebody else

}  // namespace

/// Places are numbers; whoever has one works. Callers who wait come before helpers.
struct Machine::Pool {
  explicit Pool(unsigned count) : places(count) {
    for (unsigned i = count; i > 0; --i) free.push_back(i - 1);
  }

  const unsigned places;
  std::mutex lock;
  std::vector<unsigned> free;
  std::condition_variable caller_wakes, helper_wakes;
  std::deque<Run*> callers;  ///< who wait for a place, first come first served
  std::list<Run*> runs;            ///< the first is the next to be helped
  std::vector<std::jthread> helpers;
  unsigned sleeping = 0;           ///< helpers
  std::atomic<unsigned> waiting{0};  ///< callers
  bool is_ending = false;

  bool take_place(Run* run, unsigned& place, std::unique_lock<std::mutex>& held);
  void give_place(unsigned place);
  void work(Run& run, unsigned place);
  void help();
  void call_helpers(const Run& run);
};

/// For a caller, in turn. False: the run is over, by helpers or a stop.
bool Machine::Pool::take_place(Run* run, unsigned& place, std::unique_lock<std::mutex>& held) {
  callers.push_back(run);
  waiting = static_cast<unsigned>(callers.size());
  bool is_over = false;
  caller_wakes.wait(held, [&] {
    is_over = run->is_over();
    return is_over || (callers.front() == run && !free.empty());
  });
  std::erase(callers, run);
  waiting = static_cast<unsigned>(callers.size());
  if (!callers.empty()) caller_wakes.notify_all();  // another is the first now
  if (is_over) return false;
  place = free.back();
  free.pop_back();
  return true;
}

/// Under the lock.
void Machine::Pool::give_place(unsigned place) {
  free.push_back(place);
  if (!callers.empty()) {
    caller_wakes.notify_all();
  } else if (sleeping != 0) {
    helper_wakes.notify_one();
  }
}

/// Until there is nothing to do, or the turn is over and others want the place.
void Machine::Pool::work(Run& run, unsigned place) {
  Worker worker(run.grid().memory);
  worker.number = place % run.grid().launch.sm_count;
  const auto end = Clock::now() + kTurn;
  for (;;) {
    const auto done = run.work(worker);
    if (done == Run::Work::nothing) return;
    if (done == Run::Work::waited) {
      if (waiting.load(std::memory_order_relaxed) != 0) return;
      std::this_thread::sleep_for(kNap);
    }
    if (Clock::now() < end) continue;
    if (waiting.load(std::memory_order_relaxed) != 0) return;
    const std::scoped_lock held(lock);
    if (runs.size() > 1) return;
  }
}

/// A helper's life.
void Machine::Pool::help() {
  std::unique_lock held(lock);
  for (;;) {
    Run* found = nullptr;
    ++sleeping;
    helper_wakes.wait(held, [&] {
      if (is_ending) return true;
      if (free.empty() || !callers.empty()) return false;
      const auto which = std::find_if(runs.begin(), runs.end(), [](Run* run) { return run->has_work(); });
      if (which == runs.end()) return false;
      found = *which;
      runs.splice(runs.end(), runs, which);  // another is first next time
      return true;
    });
    --sleeping;
    if (is_ending) return;
    const unsigned place = free.back();
    free.pop_back();
    ++found->helpers;
    held.unlock();
    work(*found, place);
    held.lock();
    --found->helpers;
    give_place(place);
    // Its caller may wait for us.
    caller_wakes.notify_all();
  }
}

/// Under the lock.
void Machine::Pool::call_helpers(const Run& run) {
  const auto more = std::min<std::uint64_t>(run.clusters() - 1, places - 1);
  while (helpers.size() < more) helpers.emplace_back([this] { help(); });
  if (more == 1) {
    helper_wakes.notify_one();
  } else if (more > 1) {
    helper_wakes.notify_all();
  }
}

Machine::Machine(unsigned places)
    : pool_(std::make_unique<Pool>(places != 0 ? places : std::max(1U, std::thread::hardware_concurrency()))) {}

Machine::~Machine() {
  {
    const std::scoped_lock held(pool_->lock);
    pool_->is_ending = true;
  }
  pool_->helper_wakes.notify_all();
}

Machine& Machine::shared() {
  static auto* const machine = new Machine();
  return *machine;
}

std::optional<Fault> Machine::run(const Launch& launch, Image& image, MemoryMap& memory, Printer& printer,
                                  std::stop_token stop) {
  Run run(launch, image, memory, printer, pool_->places);
  auto& pool = *pool_;
  std::atomic<bool> is_stopped{false};
  const std::stop_callback on_stop(stop, [&] {
    is_stopped = true;
    run.stop();
    const std::scoped_lock held(pool.lock);
    pool.caller_wakes.notify_all();
  });
  std::unique_lock held(pool.lock);
  pool.runs.push_back(&run);
  pool.call_helpers(run);
  for (unsigned place = 0; !run.is_over();) {
    if (!pool.take_place(&run, place, held)) break;
    held.unlock();
    pool.work(run, place);
    held.lock();
    pool.give_place(place);
    // All blocks may be taken: those who have them say when they are over, or put them back.
    if (!run.has_work())
      pool.caller_wakes.wait(held, [&] { return run.helpers == 0 || run.has_work() || run.is_over(); });
  }
  pool.runs.remove(&run);
  pool.caller_wakes.wait(held, [&] { return run.helpers == 0; });
  held.unlock();
  auto fault = run.grid().take_fault();
  if (!fault && is_stopped) {
    fault.emplace();
    fault->kind = Fault::Kind::stopped;
    fault->kernel = launch.kernel->name;
  }
  return fault;
}

}  // namespace flexrack::sim::exec
