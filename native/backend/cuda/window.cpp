#include "backend/cuda/window.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace flexrack::backend::cuda {
namespace {

/// Bytes of a stream: 16 pieces as clients send them, so that some land while others are copied on.
constexpr std::size_t kWindow = std::size_t{64} << 20;
/// Copies of a context that are not over: with pieces as clients send them, 256 GiB.
constexpr std::size_t kMostUses = 1 << 16;

std::atomic<std::size_t> all_staged{0};   ///< by the process, in windows

/// Beyond this part of what may be taken at all, a stream gets no more than its first piece.
std::size_t most_staged() { return Pages::most() / 8; }

/// One after the other, not one inside the other: a chain of uses may be long.
void run_in_turn(std::function<void()> action) {
  static thread_local std::vector<std::function<void()>>* running = nullptr;
  if (running) return running->push_back(std::move(action));
  std::vector<std::function<void()>> actions;
  running = &actions;
  actions.push_back(std::move(action));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto one = std::move(actions[i]);
    one();
  }
  running = nullptr;
}

}  // namespace

bool Windows::has_room(const Window& window, std::size_t room) const {
  if (window.bytes == 0) return true;
  return window.bytes + room <= kWindow && all_staged.load(std::memory_order_relaxed) + room <= most_staged();
}

std::shared_ptr<Windows::Use> Windows::take(CUstream stream, std::size_t size, const std::shared_ptr<void>& owner) {
  auto use = std::make_shared<Use>(*this, owner, stream);
  const auto room = StagingPool::room_of(size);
  use->bytes_ = size;
  use->room_ = room;
  // The driver is asked without the lock: what it may wait for needs it.
  const auto take_new = [&](std::unique_lock<std::mutex>& guard) {
    guard.unlock();
    use->piece_ = StagingPool::take(pool_, size, owner);
    guard.lock();
    if (!use->piece_) return false;
    windows_[stream].bytes += room;
    all_staged.fetch_add(room, std::memory_order_relaxed);
    return true;
  };
  std::unique_lock guard(lock_);
  if (uses_ >= kMostUses) return nullptr;
  if (!has_room(windows_[stream], room) || !take_new(guard)) {
    auto& last = windows_[stream].last;
    const auto before = std::find_if(last.begin(), last.end(), [&](const Use* one) { return one->room_ >= room; });
    if (before != last.end()) {
      auto& one = **before;
      use->is_behind_ = true;
      use->room_ = one.room_;
      use->piece_ = one.piece_;
      one.next_ = use;
      last.erase(before);
    } else if (!take_new(guard)) {
      if (auto& window = windows_[stream]; window.last.empty()) windows_.erase(stream);
      return nullptr;
    }
  }
  ++uses_;
  use->is_over_ = false;
  windows_[stream].last.push_back(use.get());
  return use;
}

void Windows::Use::start(std::function<void()> action) {
  {
    const std::lock_guard guard(all_.lock_);
    if (is_behind_ && !is_free_) {
      action_ = std::move(action);
      return;
    }
  }
  run_in_turn(std::move(action));
}

/// Under the lock: nothing is behind it.
void Windows::remove(Use& use) {
  const auto found = windows_.find(use.stream_);
  std::erase(found->second.last, &use);
  found->second.bytes -= use.room_;
  all_staged.fetch_sub(use.room_, std::memory_order_relaxed);
  if (found->second.last.empty()) windows_.erase(found);
}

void Windows::Use::over() {
  std::shared_ptr<Use> next;
  std::function<void()> action;
  StagingPool::Held piece;   // given back without the lock
  {
    const std::lock_guard guard(all_.lock_);
    if (is_over_) return;
    is_over_ = true;
    --all_.uses_;
    piece.swap(piece_);
    next.swap(next_);
    if (next) {
      next->is_free_ = true;
      action.swap(next->action_);
    } else {
      all_.remove(*this);
    }
  }
  if (action) run_in_turn(std::move(action));
}

}  // namespace flexrack::backend::cuda
