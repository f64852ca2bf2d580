// The heap that malloc and free of kernels work on: a region of device memory that the driver sets aside.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace flexrack::sim::exec {

class Heap {
 public:
  /// The region is an allocation of the MemoryMap.
  Heap(std::uint64_t address, std::uint64_t size);

  /// 16-byte aligned; 0: no room. Any thread.
  std::uint64_t allocate(std::uint64_t size);
  /// False: nothing was allocated there. free(0) is for the caller to ignore.
  bool release(std::uint64_t address);
  std::uint64_t used() const;

 private:
  mutable std::mutex lock_;
  std::map<std::uint64_t, std::uint64_t> free_;  ///< address to bytes; neighbours are merged
  std::map<std::uint64_t, std::uint64_t> taken_;
  std::uint64_t used_ = 0;
};

}  // namespace flexrack::sim::exec
