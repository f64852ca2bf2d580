// The conditions of a graph: values that its kernels set, and that its conditional nodes go by.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

namespace flexrack::sim::exec {

/// Which there are is said before the first kernel runs; from then on any thread may use it.
class Conditions {
 public:
  void add(std::uint64_t handle) { values_.try_emplace(handle, 0U); }
  /// What cudaGraphSetConditional does. False: the graph has no such condition.
  bool set(std::uint64_t handle, std::uint32_t value) {
    const auto found = values_.find(handle);
    if (found == values_.end()) return false;
    found->second.store(value, std::memory_order_release);
    return true;
  }
  /// 0 for one that there is not.
  std::uint32_t value(std::uint64_t handle) const {
    const auto found = values_.find(handle);
    return found == values_.end() ? 0 : found->second.load(std::memory_order_acquire);
  }

 private:
  std::map<std::uint64_t, std::atomic<std::uint32_t>> values_;
};

}  // namespace flexrack::sim::exec
