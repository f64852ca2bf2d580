#include "backend/cuda/launch_clock.h"

#include <algorithm>

namespace flexrack::backend::cuda {
namespace {

constexpr std::size_t kMostTimed = 1 << 16;
/// Between two looks: a part of what launches take, so that the device is idle for no more than that part of a slice
/// before it is known to be free.
constexpr auto kShortestRest = std::chrono::nanoseconds(20'000), kLongestRest = std::chrono::nanoseconds(200'000);
constexpr int kPartOfLaunch = 32;

}  // namespace

void LaunchClock::add(std::uint32_t device, CUcontext context, CUstream stream, TimedLaunch launch) {
  const std::lock_guard guard(shared_->lock);
  shared_->lanes[{context, stream, device}].push_back(std::move(launch));
  ++shared_->launches;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

bool LaunchClock::has_room() {
  const std::lock_guard guard(shared_->lock);
  return shared_->launches < kMostTimed;
}

std::function<void()> LaunchClock::opener(const Latch& latch) const {
  return [latch, shared = shared_] {
    latch.open();
    const std::lock_guard guard(shared->lock);
    if (shared->is_resting) shared->changed.notify_one();
  };
}

bool LaunchClock::close(std::chrono::milliseconds patience) {
  bool is_over = true;
  {
    std::unique_lock guard(shared_->lock);
    is_over = shared_->fewer.wait_for(guard, patience, [this] { return shared_->launches == 0; });
    shared_->is_closed = true;
    shared_->changed.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  // The device may still come to their latches: what they hold is left to the end of the process.
  if (!is_over) static_cast<void>(new auto(std::move(shared_->lanes)));
  return is_over;
}

/// What the device says. Two events of a stream that has failed have no time between them.
std::uint64_t LaunchClock::time_of(const TimedLaunch& launch) const {
  float milliseconds = 0;
  auto* const elapsed = driver_.cuEventElapsedTime_v2 ? driver_.cuEventElapsedTime_v2 : driver_.cuEventElapsedTime;
  if (!elapsed || elapsed(&milliseconds, launch.start, launch.end) != CUDA_SUCCESS || !(milliseconds > 0)) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

/// Takes what is over. False: nothing that was let go is left, so somebody will say when there is. The lock is not held
/// while the driver is asked.
bool LaunchClock::look(std::unique_lock<std::mutex>& guard) {
  struct Sum {
    std::uint64_t nanoseconds = 0, longest = 0;
    std::uint32_t count = 0;
  };
  std::vector<std::pair<Lane, CUevent>> first;
  std::vector<TimedLaunch> over;
  std::map<std::uint32_t, Sum> sums;
  const auto is_let_go = [](const TimedLaunch& one) { return one.latch.is_open(); };
  for (const auto& [lane, launches] : shared_->lanes) {
    if (is_let_go(launches.front())) first.emplace_back(lane, launches.front().end);
  }
  bool is_one_left = false;
  for (auto& [lane, end] : first) {
    guard.unlock();
    driver_.cuCtxSetCurrent(lane.context);
    guard.lock();
    // Only this thread takes launches away.
    auto& launches = shared_->lanes.at(lane);
    while (!launches.empty() && is_let_go(launches.front())) {
      auto& launch = launches.front();   // stays where it is while others are added behind it
      guard.unlock();
      const bool is_over = driver_.cuEventQuery(launch.end) != CUDA_ERROR_NOT_READY;
      const auto took = is_over ? time_of(launch) : 0;
      guard.lock();
      if (!is_over) {
        is_one_left = true;
        break;
      }
      over.push_back(std::move(launch));
      launches.pop_front();
      auto& sum = sums[lane.device];
      sum.nanoseconds += took;
      sum.longest = std::max(sum.longest, took);
      ++sum.count;
    }
    if (launches.empty()) shared_->lanes.erase(lane);
  }
  if (!over.empty()) {
    guard.unlock();
    for (const auto& [device, sum] : sums) {
      finished_(device, sum.nanoseconds, sum.count, sum.longest);
      usual_ = (usual_ + std::chrono::nanoseconds(sum.nanoseconds / sum.count)) / 2;
    }
    for (auto& one : over) {
      one.latch.recycle();
      HostSide::give_back(*one.host, {one.start, one.end});
    }
    driver_.cuCtxSetCurrent(nullptr);
    const auto count = over.size();
    over.clear();   // contexts may end now
    guard.lock();
    shared_->launches -= count;
    shared_->fewer.notify_all();
  }
  return is_one_left;
}

void LaunchClock::run() {
  std::unique_lock guard(shared_->lock);
  auto rest = kShortestRest;
  while (!shared_->is_closed) {
    const auto before = shared_->launches;
    const bool is_one_left = look(guard);
    if (shared_->is_closed) break;
    if (shared_->launches < before) {
      rest = kShortestRest;
      if (!is_one_left) continue;   // what was let go meanwhile
    }
    if (is_one_left) {
      shared_->changed.wait_for(guard, rest);
      rest =
          std::min(rest * 2, std::clamp<std::chrono::nanoseconds>(usual_ / kPartOfLaunch, kShortestRest, kLongestRest));
      continue;
    }
    shared_->is_resting = true;
    shared_->changed.wait(guard, [this] {
      return shared_->is_closed || std::any_of(shared_->lanes.begin(), shared_->lanes.end(),
                                               [](const auto& lane) { return lane.second.front().latch.is_open(); });
    });
    shared_->is_resting = false;
  }
}

}  // namespace flexrack::backend::cuda
