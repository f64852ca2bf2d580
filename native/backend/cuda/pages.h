// Pages of this process, registered at the driver so that devices copy from and to them while the program goes on.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

#include "gen/cuda/driver_table.h"

namespace flexrack::backend::cuda {

/// Thread-safe. Unmaps what it has left when it ends, which is after its context has.
class Pages {
 public:
  explicit Pages(const cu::DriverTable& driver) : driver_(driver) {}
  ~Pages();
  Pages(const Pages&) = delete;

  /// Bytes that a process takes at most: half of the machine's memory, or what FLEXRACK_TEST_STAGING_BYTES says, so
  /// that tests of it need not fill machines.
  static std::size_t most();
  /// Zeros, in whole pages, for the context that is current. Null where the machine or the driver has no more, or that
  /// much is taken.
  void* take(std::size_t size);
  /// False: the driver does not let go of it, and it stays.
  bool give(void* at);

 private:
  const cu::DriverTable driver_;   ///< a copy: this may outlive the session
  std::mutex lock_;
  std::map<void*, std::size_t> taken_;
};

}  // namespace flexrack::backend::cuda
