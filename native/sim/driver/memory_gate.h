// Whoever touches memory of devices says so, and its pages can be exchanged for others with the same bytes while nobody
// does.
#pragma once

#include <chrono>
#include <shared_mutex>
#include <thread>

namespace flexrack::sim {

inline std::shared_mutex& memory_gate() {
  static auto* const gate = new std::shared_mutex;
  return *gate;
}

/// The calling thread reads or writes memory of devices while one lives. They nest.
class MemoryUse {
 public:
  MemoryUse() {
    if (depth()++ == 0) memory_gate().lock_shared();
  }
  MemoryUse(const MemoryUse&) = delete;
  MemoryUse& operator=(const MemoryUse&) = delete;
  ~MemoryUse() {
    if (--depth() == 0) memory_gate().unlock_shared();
  }

 private:
  static int& depth() {
    static thread_local int count = 0;
    return count;
  }
};

/// Nobody else touches memory of devices while one lives. It tries until that is so and lets others go first: a kernel
/// may wait for another one, which must not wait for this.
class MemoryStandstill {
 public:
  MemoryStandstill() {
    while (!memory_gate().try_lock()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  MemoryStandstill(const MemoryStandstill&) = delete;
  MemoryStandstill& operator=(const MemoryStandstill&) = delete;
  ~MemoryStandstill() { memory_gate().unlock(); }
};

}  // namespace flexrack::sim
