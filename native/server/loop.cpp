#include "server/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace flexrack::server {

Loop::Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_.is_open() || !wake_.is_open()) throw std::system_error(errno, std::generic_category(), "epoll");
  watch(wake_.get(), EPOLLIN, [this](std::uint32_t) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(wake_.get(), &count, sizeof count);
  });
}

void Loop::watch(int fd, std::uint32_t events, Ready ready) {
  forget(fd);
  const auto number = next_++;
  epoll_event event{};
  event.events = events;
  event.data.u64 = number;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  watches_[number] = std::make_shared<Watch>(Watch{fd, std::move(ready)});
  by_fd_[fd] = number;
}

void Loop::forget(int fd) {
  const auto found = by_fd_.find(fd);
  if (found == by_fd_.end()) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  watches_.erase(found->second);
  by_fd_.erase(found);
}

std::uint64_t Loop::at(Clock::time_point when, std::function<void()> action) {
  const auto number = next_++;
  timers_.emplace(std::pair(when, number), std::move(action));
  timer_times_[number] = when;
  return number;
}

void Loop::cancel(std::uint64_t timer) {
  const auto found = timer_times_.find(timer);
  if (found == timer_times_.end()) return;
  timers_.erase({found->second, timer});
  timer_times_.erase(found);
}

void Loop::post(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(action));
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto wrote = write(wake_.get(), &one, sizeof one);
}

void Loop::stop() {
  post([this] { stopped_ = true; });
}

void Loop::run() {
  std::array<epoll_event, 64> events{};
  while (!stopped_) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), until_next_timer());
    if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "epoll_wait");
    for (int i = 0; i < count; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      const std::uint64_t number =
          event.data.u64;  // a copy: the kernel's struct is packed, and a reference into it is not aligned
      const auto found = watches_.find(number);
      if (found == watches_.end()) continue;  // forgotten by one before it in this round
      const auto held = found->second;
      held->ready(event.events);
    }
    run_posted();
    run_timers();
  }
}

int Loop::until_next_timer() const {
  if (timers_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000));
}

void Loop::run_timers() {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto node = timers_.extract(timers_.begin());
    timer_times_.erase(node.key().second);
    node.mapped()();
  }
}

void Loop::run_posted() {
  std::vector<std::function<void()>> actions;
  {
    const std::lock_guard lock(mutex_);
    actions.swap(posted_);
  }
  for (const auto& action : actions) action();
}

}  // namespace flexrack::server
