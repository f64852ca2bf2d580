#include "backend/cuda/meter.h"

namespace flexrack::backend::cuda {
namespace {

/// More often than the broker adds it up.
constexpr auto kLookEvery = std::chrono::milliseconds(100);

}  // namespace

void Meter::start(std::uint32_t device) {
  const std::lock_guard guard(lock_);
  if (is_closed_ || !watched_.try_emplace(device, Clock::now()).second) return;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_one();
}

void Meter::stop(std::uint32_t device) {
  const std::lock_guard guard(lock_);
  const auto found = watched_.find(device);
  if (found == watched_.end()) return;
  look_at(device, found->second);
  watched_.erase(found);
}

void Meter::close() {
  {
    const std::lock_guard guard(lock_);
    is_closed_ = true;
    for (auto& [device, last] : watched_) look_at(device, last);
    watched_.clear();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Meter::look_at(std::uint32_t device, Clock::time_point& last) const {
  const auto now = Clock::now();
  look_(device, now - last);
  last = now;
}

void Meter::run() {
  std::unique_lock guard(lock_);
  while (!is_closed_) {
    if (watched_.empty()) {
      changed_.wait(guard);
      continue;
    }
    changed_.wait_for(guard, kLookEvery, [this] { return is_closed_; });
    for (auto& [device, last] : watched_) look_at(device, last);
  }
}

}  // namespace flexrack::backend::cuda
