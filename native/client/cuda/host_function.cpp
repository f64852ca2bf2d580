#include "client/cuda/host_function.h"

#include <condition_variable>
#include <deque>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "client/cuda/driver.h"
#include "client/cuda/stream.h"

namespace flexrack::client::cuda {
namespace {

/// Never destroyed: the thread runs until the process is gone.
struct Line {
  std::mutex lock;
  std::condition_variable comes;
  std::deque<std::function<void()>> actions;
  bool is_running = false;
  std::unordered_map<std::uint64_t, HostFunction> functions;
  std::uint64_t last_number = 0;
};

Line& line() {
  static auto& the_line = *new Line;
  return the_line;
}

void run_all() {
  auto& waiting = line();
  std::unique_lock guard(waiting.lock);
  for (;;) {
    waiting.comes.wait(guard, [&] { return !waiting.actions.empty(); });
    const auto action = std::move(waiting.actions.front());
    waiting.actions.pop_front();
    guard.unlock();
    action();
    guard.lock();
  }
}

}  // namespace

std::uint64_t add_host_function(HostFunction function) {
  auto& all = line();
  const std::lock_guard guard(all.lock);
  const auto number = ++all.last_number;
  all.functions.emplace(number, std::move(function));
  return number;
}

void remove_host_function(std::uint64_t number) {
  HostFunction gone;
  auto& all = line();
  {
    const std::lock_guard guard(all.lock);
    const auto found = all.functions.find(number);
    if (found == all.functions.end()) return;
    gone = std::move(found->second);
    all.functions.erase(found);
  }
  if (gone.work) gone.work->finish(false);
}

void run_host_function(CudaServer& server, std::uint64_t number, std::uint64_t run, CUresult status) {
  HostFunction function;
  {
    auto& all = line();
    const std::lock_guard guard(all.lock);
    const auto found = all.functions.find(number);
    if (found == all.functions.end()) return;
    function = found->second;
    if (function.is_once) all.functions.erase(found);
  }
  run_on_host_thread([&server, function = std::move(function), run, status] {
    wait_for(function.behind);
    if (!is_ending()) {
      function.run(status);
      sync_epoch.fetch_add(1, std::memory_order_relaxed);
    }
    // First what comes after it in this process, then the stream.
    if (function.work) function.work->finish(true);
    server.session->send(cu::RanHostFunction{.run = run});
    server.session->link().flush();
  });
}

void run_on_host_thread(std::function<void()> action) {
  auto& waiting = line();
  {
    const std::lock_guard guard(waiting.lock);
    waiting.actions.push_back(std::move(action));
    if (!waiting.is_running) {
      try {
        std::thread(run_all).detach();
        waiting.is_running = true;
      } catch (const std::system_error&) {  // no thread to be had: the next one tries again
      }
    }
  }
  waiting.comes.notify_one();
}

}  // namespace flexrack::client::cuda
