#include "backend/cuda/waiters.h"

#include <algorithm>
#include <iterator>

namespace flexrack::backend::cuda {
namespace {
constexpr auto kBetweenLooks = std::chrono::microseconds(200);
}  // namespace

Waiters::~Waiters() { close(std::chrono::milliseconds(0)); }

void Waiters::run(std::function<void()> work) {
  std::unique_lock guard(shared_->lock);
  if (!shared_->is_closed) give(guard, counted(std::move(work)));
}

void Waiters::give(std::unique_lock<std::mutex>& guard, std::function<void()> work) {
  const auto shared = shared_;
  shared->work.push_back(std::move(work));
  if (shared->work.size() <= shared->idle || shared->threads >= kMost) {
    shared->more.notify_one();
    return;
  }
  if (start(guard, serve)) return;
  if (shared->threads > 0) return shared->more.notify_one();
  auto last = std::move(shared->work.back());
  shared->work.pop_back();
  guard.unlock();
  last();
}

bool Waiters::start(std::unique_lock<std::mutex>& guard, void (*what)(const std::shared_ptr<Shared>&)) {
  const auto shared = shared_;
  ++shared->threads;
  guard.unlock();
  try {
    // Detached: a wait that never ends must not keep the process, which is about to end with it.
    std::thread(what, shared).detach();
    return true;
  } catch (const std::system_error&) {
    guard.lock();
    --shared->threads;
    return false;
  }
}

std::function<void()> Waiters::counted(std::function<void()> work) {
  pending_->fetch_add(1, std::memory_order_relaxed);
  return [pending = pending_, work = std::move(work)]() mutable {
    work();
    work = nullptr;
    pending->fetch_sub(1, std::memory_order_relaxed);
  };
}

bool Waiters::is_full() const {
  const std::lock_guard guard(shared_->lock);
  return shared_->work.size() >= shared_->idle && shared_->threads >= kMost;
}

void Waiters::run_when(std::function<bool()> is_over, std::function<void()> work) {
  const auto shared = shared_;
  std::unique_lock guard(shared->lock);
  if (shared->is_closed) return;
  if (shared->work.size() < shared->idle || shared->threads < kMost) return give(guard, counted(std::move(work)));
  shared->asked.push_back({std::move(is_over), counted(std::move(work))});
  if (shared->is_asking) return;
  shared->is_asking = true;
  if (start(guard, ask)) return;
  // No thread to be had: those that there are take them when they can.
  shared->is_asking = false;
  for (auto& one : shared->asked) shared->work.push_back(std::move(one.work));
  shared->asked.clear();
  shared->more.notify_all();
}

void Waiters::ask(const std::shared_ptr<Shared>& shared) {
  std::vector<Shared::Asked> waiting;
  std::unique_lock guard(shared->lock);
  for (;;) {
    std::move(shared->asked.begin(), shared->asked.end(), std::back_inserter(waiting));
    shared->asked.clear();
    if (waiting.empty() || shared->is_given_up) break;
    guard.unlock();
    const auto over = std::erase_if(waiting, [](Shared::Asked& one) {
      if (!one.is_over()) return false;
      one.work();
      return true;
    });
    if (over == 0) std::this_thread::sleep_for(kBetweenLooks);
    guard.lock();
  }
  shared->is_asking = false;
  --shared->threads;
  shared->fewer.notify_all();
  // What they hold is a session's that is gone: it is left alone, as by a thread that waits for ever.
  if (!waiting.empty()) new std::vector<Shared::Asked>(std::move(waiting));
}

bool Waiters::close(std::chrono::milliseconds patience) {
  std::unique_lock guard(shared_->lock);
  shared_->is_closed = true;
  shared_->more.notify_all();
  const bool is_over = shared_->fewer.wait_for(guard, patience, [this] { return shared_->threads == 0; });
  // Who asks must not ask any more when the session goes.
  shared_->is_given_up = true;
  shared_->fewer.wait_for(guard, patience, [this] { return !shared_->is_asking; });
  return is_over;
}

void Waiters::serve(const std::shared_ptr<Shared>& shared) {
  std::unique_lock guard(shared->lock);
  for (;;) {
    ++shared->idle;
    shared->more.wait(guard, [&] { return shared->is_closed || !shared->work.empty(); });
    --shared->idle;
    if (shared->work.empty()) break;
    auto work = std::move(shared->work.front());
    shared->work.pop_front();
    guard.unlock();
    work();
    work = nullptr;
    guard.lock();
  }
  --shared->threads;
  shared->fewer.notify_all();
}

}  // namespace flexrack::backend::cuda
