// Makes commands take the time that FLEXRACK_SIM_LATENCY_US and FLEXRACK_SIM_BANDWIDTH_GBPS say.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace flexrack::sim {

/// Passes the time from when a command could start to when it does.
void pass_latency();

/// One thing that moves bytes: what it is given follows what it was given before. Thread-safe.
class CopyEngine {
 public:
  /// Takes the place behind what the engine has to do already and gives the time when that many bytes have passed; now,
  /// without a limit.
  std::chrono::steady_clock::time_point reserve(std::uint64_t bytes);

 private:
  std::atomic<std::int64_t> busy_until_{0};
};

/// Never early; late by what the system's timers are late.
void sleep_until(std::chrono::steady_clock::time_point time);

}  // namespace flexrack::sim
