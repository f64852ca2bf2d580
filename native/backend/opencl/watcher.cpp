#include "backend/opencl/watcher.h"

#include <atomic>
#include <vector>

#include "backend/opencl/native_library.h"

namespace flexrack::backend::opencl {
namespace {
/// How often what is awaited is looked at although the driver said nothing: bounds a wait on an event that failed
/// silently.
constexpr auto kSweepEvery = std::chrono::milliseconds(250);
}  // namespace

struct Watcher::Awaited {
  Watcher* watcher;
  cl_event event;
  Over over;
  std::atomic<bool> has_fired{false};
  /// One for the driver's callback, which may never come, and one for each sweep that looks at it.
  std::atomic<int> references{1};
  Awaited* next = nullptr;
  Awaited* previous = nullptr;

  void drop() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    native().clReleaseEvent(event);
    delete this;
  }
};

Watcher::Watcher() : sweeper_([this] { run(); }) {}

Watcher::~Watcher() {
  {
    const std::lock_guard guard(lock_);
    is_closed_ = true;
  }
  changed_.notify_all();
  sweeper_.join();
}

void Watcher::await(cl_event event, Over over) {
  const auto& cl = native();
  cl.clRetainEvent(event);
  auto* awaited = new Awaited{this, event, std::move(over)};
  {
    const std::lock_guard guard(lock_);
    awaited->next = first_;
    if (first_) first_->previous = awaited;
    first_ = awaited;
  }
  const auto status = cl.clSetEventCallback(event, CL_COMPLETE, &Watcher::on_complete, awaited);
  if (status == CL_SUCCESS) return;
  fire(awaited, status);
  awaited->drop();
}

void Watcher::on_complete(cl_event event, cl_int status, void* data) {
  auto* awaited = static_cast<Awaited*>(data);
  // Asked, not believed: called back late for an event that failed, PoCL says that it completed.
  const auto real = status < 0 ? status : event_status(event);
  awaited->watcher->fire(awaited, real > 0 ? CL_COMPLETE : real);
  awaited->drop();
}

void Watcher::fire(Awaited* awaited, cl_int status) {
  if (awaited->has_fired.exchange(true)) return;
  if (status < 0) has_seen_failure_ = true;
  awaited->over(status);
  awaited->over = nullptr;
  const std::lock_guard guard(lock_);
  (awaited->previous ? awaited->previous->next : first_) = awaited->next;
  if (awaited->next) awaited->next->previous = awaited->previous;
  if (!first_) changed_.notify_all();
}

void Watcher::look() {
  has_seen_failure_ = true;
  {
    const std::lock_guard guard(lock_);
    is_requested_ = true;
  }
  changed_.notify_all();
}

bool Watcher::settle(std::chrono::milliseconds within) {
  std::unique_lock guard(lock_);
  return changed_.wait_for(guard, within, [this] { return first_ == nullptr; });
}

void Watcher::run() {
  std::unique_lock guard(lock_);
  while (!is_closed_) {
    // Not woken by await(): that would cost each of them a system call.
    changed_.wait_for(guard, kSweepEvery, [this] { return is_closed_ || is_requested_; });
    is_requested_ = false;
    if (is_closed_) return;
    guard.unlock();
    sweep();
    guard.lock();
  }
}

void Watcher::sweep() {
  std::vector<Awaited*> all;
  {
    const std::lock_guard guard(lock_);
    for (auto* awaited = first_; awaited; awaited = awaited->next) {
      awaited->references.fetch_add(1, std::memory_order_relaxed);
      all.push_back(awaited);
    }
  }
  // The driver is asked outside the lock: it may be calling back for one of them right now, with a lock of its own
  // held.
  for (auto* awaited : all) {
    const auto status = awaited->has_fired ? CL_COMPLETE : event_status(awaited->event);
    if (status < 0) fire(awaited, status);
    awaited->drop();
  }
}

cl_int event_status(cl_event event) {
  cl_int status = 0;
  const auto requested =
      native().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return requested == CL_SUCCESS ? status : requested;
}

}  // namespace flexrack::backend::opencl
