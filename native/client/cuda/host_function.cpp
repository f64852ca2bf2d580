#include "client/cuda/host_function.h"

#include <unordered_map>

#include "client/callback_thread.h"
#include "client/cuda/driver.h"
#include "client/cuda/stream.h"

namespace flexrack::client::cuda {
namespace {

/// Never destroyed, as its thread runs until the process is gone.
struct HostFunctions {
  CallbackThread thread;
  std::mutex lock;
  std::unordered_map<std::uint64_t, HostFunction> functions;
  std::uint64_t last_number = 0;
};

HostFunctions& host_functions() {
  static auto& all = *new HostFunctions;
  return all;
}

}  // namespace

std::uint64_t add_host_function(HostFunction function) {
  auto& all = host_functions();
  const std::lock_guard guard(all.lock);
  const auto number = ++all.last_number;
  all.functions.emplace(number, std::move(function));
  return number;
}

void remove_host_function(std::uint64_t number) {
  HostFunction gone;
  auto& all = host_functions();
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
    auto& all = host_functions();
    const std::lock_guard guard(all.lock);
    const auto found = all.functions.find(number);
    if (found == all.functions.end()) return;
    if (!server.inbox.begin_run()) return server.session->abandon();
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
    server.inbox.end_run();
    server.session->send(cu::RanHostFunction{.run = run});
    server.session->link().flush();
  });
}

void run_on_host_thread(std::function<void()> action) { host_functions().thread.run(std::move(action)); }

}  // namespace flexrack::client::cuda
