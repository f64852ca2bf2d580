// How the benches take times: medians of rounds, and no more rounds than a slow link has patience for.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace flexrack::bench {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline constexpr double kPatience = 4;   ///< seconds: then two rounds are enough

/// Median over `rounds` of the seconds a call of `action` takes: `count` calls and one `after` a round, the first round
/// not counted.
inline double per_call(
    int rounds, int count, const std::function<void()>& action, const std::function<void()>& after = [] {}) {
  std::vector<double> times;
  const auto begun = seconds();
  for (int round = -1; round < rounds && (times.size() < 2 || seconds() - begun < kPatience); round++) {
    const auto start = seconds();
    for (int i = 0; i < count; i++) action();
    after();
    if (round >= 0) times.push_back((seconds() - start) / count);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace flexrack::bench
