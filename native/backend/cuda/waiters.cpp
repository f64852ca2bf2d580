#include "backend/cuda/waiters.h"

namespace flexrack::backend::cuda {

Waiters::~Waiters() { close(std::chrono::milliseconds(0)); }

void Waiters::run(std::function<void()> work) {
  const auto shared = shared_;
  std::unique_lock guard(shared->lock);
  if (shared->is_closed) return;
  pending_->fetch_add(1, std::memory_order_relaxed);
  shared->work.push_back([pending = pending_, work = std::move(work)]() mutable {
    work();
    work = nullptr;
    pending->fetch_sub(1, std::memory_order_relaxed);
  });
  if (shared->work.size() <= shared->idle || shared->threads >= kMost) {
    shared->more.notify_one();
    return;
  }
  ++shared->threads;
  guard.unlock();
  try {
    // Detached: a wait that never ends must not keep the process, which is about to end with it.
    std::thread(serve, shared).detach();
  } catch (const std::system_error&) {
    guard.lock();
    --shared->threads;
    if (shared->threads > 0) return shared->more.notify_one();
    auto last = std::move(shared->work.back());
    shared->work.pop_back();
    guard.unlock();
    last();
  }
}

bool Waiters::close(std::chrono::milliseconds patience) {
  std::unique_lock guard(shared_->lock);
  shared_->is_closed = true;
  shared_->more.notify_all();
  return shared_->fewer.wait_for(guard, patience, [this] { return shared_->threads == 0; });
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
