#include "sim/driver/command.h"

#include "sim/driver/context.h"
#include "sim/driver/worker.h"

namespace flexrack::sim {

Command::Command() = default;
Command::~Command() = default;
void Command::destroy(Command* command) { delete command; }

Ref<Command> Command::make(Ref<Context> context, Worker* worker, std::function<void()> work, bool is_always_done) {
  auto made = Ref<Command>::adopt(new Command);
  made->head_.references = 1;
  made->context_ = std::move(context);
  made->worker_ = worker;
  made->work_ = std::move(work);
  made->is_always_done_ = is_always_done;
  return made;
}

Ref<Command> Command::marker(Ref<Context> context) { return make(std::move(context), nullptr, nullptr); }

Ref<Command> Command::for_caller(Ref<Context> context, std::function<void()> work) {
  auto made = make(std::move(context), nullptr, std::move(work));
  made->is_for_caller_ = true;
  return made;
}

Ref<Command> Command::awaited(Ref<Context> context, Worker* worker, std::function<bool()> is_over) {
  auto made = make(std::move(context), worker, nullptr);
  made->awaited_ = std::move(is_over);
  return made;
}

void Command::submit(std::span<const Ref<Command>> before) {
  for (const auto& other : before) {
    if (!other || other->is_over()) continue;
    const std::lock_guard guard(other->lock_);
    if (other->is_over()) continue;
    pending_.fetch_add(1, std::memory_order_relaxed);
    other->dependents_.emplace_back(this);
  }
  prerequisite_over();
}

void Command::prerequisite_over() {
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) dispatch();
}

void Command::dispatch() {
  if (is_for_caller_) {
    state_.store(State::ready, std::memory_order_release);
    state_.notify_all();
  } else if (worker_) {
    worker_->post(Ref<Command>(this));
  } else {
    // Long chains of these would nest as deep as they are long.
    thread_local std::vector<Ref<Command>>* chained = nullptr;
    if (chained) {
      chained->emplace_back(this);
      return;
    }
    std::vector<Ref<Command>> chain{Ref<Command>(this)};
    chained = &chain;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const auto next = std::move(chain[i]);
      next->run();
    }
    chained = nullptr;
  }
}

void Command::run() {
  if (work_ && (is_always_done_ || !context_->has_failed())) {
    try {
      work_();
    } catch (...) { context_->fail_from_exception(); }
  }
  finish();
}

bool Command::try_run() {
  try {
    if (awaited_ && !context_->has_failed() && !awaited_()) return false;
  } catch (...) { context_->fail_from_exception(); }
  run();
  return true;
}

void Command::finish() {
  std::vector<Ref<Command>> dependents;
  work_ = nullptr;
  awaited_ = nullptr;
  const auto context = std::move(context_);
  {
    const std::lock_guard guard(lock_);
    time_ = std::chrono::steady_clock::now();
    dependents.swap(dependents_);
    state_.store(State::over, std::memory_order_release);
  }
  state_.notify_all();
  for (const auto& next : dependents) next->prerequisite_over();
}

void Command::wait() {
  for (;;) {
    auto state = state_.load(std::memory_order_acquire);
    if (state == State::over) return;
    if (is_for_caller_ && state == State::ready) {
      if (state_.compare_exchange_strong(state, State::running, std::memory_order_acq_rel)) run();
      continue;
    }
    state_.wait(state, std::memory_order_acquire);
  }
}

}  // namespace flexrack::sim
