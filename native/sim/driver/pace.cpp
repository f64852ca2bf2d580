#include "sim/driver/pace.h"

#include <algorithm>
#include <thread>

#include "sim/driver/settings.h"

namespace flexrack::sim {
using std::chrono::steady_clock;

void sleep_until(steady_clock::time_point time) {
  if (time > steady_clock::now()) std::this_thread::sleep_until(time);
}

void pass_latency() {
  const auto latency = settings().latency;
  if (latency.count() > 0) sleep_until(steady_clock::now() + latency);
}

steady_clock::time_point CopyEngine::reserve(std::uint64_t bytes) {
  const auto now = steady_clock::now();
  const auto rate = settings().bytes_per_nanosecond;
  if (rate <= 0) return now;
  const auto takes = static_cast<std::int64_t>(static_cast<double>(bytes) / rate);
  const auto from = now.time_since_epoch().count();
  auto before = busy_until_.load();
  std::int64_t until = 0;
  do {
    until = std::max<std::int64_t>(from, before) + takes;
  } while (!busy_until_.compare_exchange_weak(before, until));
  return steady_clock::time_point(steady_clock::duration(until));
}

}  // namespace flexrack::sim
