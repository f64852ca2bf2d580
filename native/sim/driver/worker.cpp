#include "sim/driver/worker.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <thread>

namespace flexrack::sim {

bool start_thread(const char* name, std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = true;
  try {
    std::thread thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name);
    thread.detach();
  } catch (const std::system_error&) { is_started = false; }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

bool Worker::start() {
  // Counted as idle from the start: what was just queued is for it.
  ++threads_;
  ++idle_;
  if (start_thread(name_, [this] { run(); })) return true;
  --threads_;
  --idle_;
  return false;
}

void Worker::post(Ref<Command> command) {
  {
    const std::lock_guard guard(lock_);
    const auto later = [&](const Ref<Command>& other) { return other->priority > command->priority; };
    const auto place =
        queue_.empty() || !later(queue_.back()) ? queue_.end() : std::find_if(queue_.begin(), queue_.end(), later);
    queue_.insert(place, command);
    if (idle_ < queue_.size() && threads_ < most_threads_ && !start() && threads_ == 0) {
      queue_.erase(std::find(queue_.begin(), queue_.end(), command));
    } else {
      changed_.notify_one();
      return;
    }
  }
  // No thread to be had at all: better here than never.
  command->run();
}

void Worker::run() {
  std::unique_lock guard(lock_);
  for (;;) {
    changed_.wait(guard, [&] { return !queue_.empty(); });
    auto command = std::move(queue_.front());
    queue_.pop_front();
    --idle_;
    guard.unlock();
    command->run();
    command = nullptr;
    guard.lock();
    ++idle_;
  }
}

}  // namespace flexrack::sim
