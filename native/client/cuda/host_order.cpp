#include "client/cuda/host_order.h"

#include <algorithm>

#include "client/session.h"

namespace flexrack::client::cuda {
namespace {

std::atomic<std::size_t> under_way{0};

void prune(HostWorks& works) {
  std::erase_if(works, [](const auto& work) { return work->is_over(); });
}

}  // namespace

HostWork::HostWork(Session& session, bool writes) : session_(session), writes_(writes) {
  under_way.fetch_add(1, std::memory_order_relaxed);
}

HostWork::~HostWork() {
  if (!is_over()) under_way.fetch_sub(1, std::memory_order_relaxed);
}

void HostWork::finish(bool is_good) {
  std::vector<std::function<void()>> actions;
  {
    const std::lock_guard guard(lock_);
    if (is_over()) return;
    if (!is_good) is_good_.store(false, std::memory_order_relaxed);
    is_over_.store(true, std::memory_order_release);
    actions.swap(actions_);
  }
  under_way.fetch_sub(1, std::memory_order_relaxed);
  for (const auto& action : actions) action();
  session_.link().wake();
}

void HostWork::then(std::function<void()> action) {
  {
    const std::lock_guard guard(lock_);
    if (!is_over()) return actions_.push_back(std::move(action));
  }
  action();
}

bool has_host_work() { return under_way.load(std::memory_order_relaxed) != 0; }

void HostOrder::add(const std::shared_ptr<HostWork>& work) {
  const std::lock_guard guard(lock_);
  prune(works_);
  works_.push_back(work);
}

void HostOrder::add(const HostWorks& works) {
  const std::lock_guard guard(lock_);
  prune(works_);
  for (const auto& work : works) {
    if (!work->is_over() && std::find(works_.begin(), works_.end(), work) == works_.end()) works_.push_back(work);
  }
}

void HostOrder::set(HostWorks works) {
  const std::lock_guard guard(lock_);
  works_ = std::move(works);
}

HostWorks HostOrder::unfinished() {
  const std::lock_guard guard(lock_);
  prune(works_);
  return works_;
}

HostWorks only_writing(HostWorks works) {
  std::erase_if(works, [](const auto& work) { return !work->writes(); });
  return works;
}

bool wait_for(const HostWorks& works) {
  bool is_good = true;
  for (const auto& work : works) {
    if (!work->is_over() && !work->session().wait([&] { return work->is_over(); })) return false;
    is_good &= work->is_good();
  }
  return is_good;
}

void after(const HostWorks& works, std::function<void()> action) {
  const auto left = std::make_shared<std::atomic<std::size_t>>(works.size() + 1);
  const auto shared = std::make_shared<std::function<void()>>(std::move(action));
  const auto count_down = [left, shared] {
    if (left->fetch_sub(1) == 1) (*shared)();
  };
  for (const auto& work : works) work->then(count_down);
  count_down();
}

}  // namespace flexrack::client::cuda
