#include "client/callback_thread.h"

#include <system_error>
#include <thread>

namespace flexrack::client {

void CallbackThread::run(std::function<void()> action) {
  {
    const std::lock_guard guard(lock_);
    actions_.push_back(std::move(action));
    if (!is_running_) {
      try {
        std::thread([this] { work(); }).detach();
        is_running_ = true;
      } catch (const std::system_error&) {  // no thread to be had: the next action tries again
      }
    }
  }
  comes_.notify_one();
}

void CallbackThread::work() {
  std::unique_lock guard(lock_);
  for (;;) {
    comes_.wait(guard, [this] { return !actions_.empty(); });
    const auto action = std::move(actions_.front());
    actions_.pop_front();
    guard.unlock();
    action();
    guard.lock();
  }
}

}  // namespace flexrack::client
