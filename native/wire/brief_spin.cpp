#include "wire/brief_spin.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>

namespace flexrack::wire {
namespace {

/// proc_loadavg(5): "0.20 0.18 0.12 1/80 11206", of which the 1 is the threads that run or want to, now.
bool ask() {
  cpu_set_t mine;
  const int processors = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 128> text{};
  const auto size = read(file, text.data(), text.size() - 1);
  close(file);
  int running = 0;
  return processors > 1 && size > 0 && std::sscanf(text.data(), "%*f %*f %*f %d/", &running) == 1 &&
         running <= processors;
}

}  // namespace

bool BriefSpin::has_free_cores() {
  static std::atomic<Clock::rep> asked_at{0};
  static std::atomic<bool> answer{false};
  constexpr Clock::duration kFor = std::chrono::milliseconds(20);
  const auto now = Clock::now().time_since_epoch().count();
  auto before = asked_at.load(std::memory_order_relaxed);
  if (now - before > kFor.count() && asked_at.compare_exchange_strong(before, now)) answer = ask();
  return answer;
}

}  // namespace flexrack::wire
