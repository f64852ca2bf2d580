// Memory pools: what cuMemAllocAsync takes from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "gen/cuda/cuda.h"
#include "sim/driver/object.h"

namespace flexrack::sim {

struct Allocation;
class Context;
struct Device;

/// Thread-safe. Memory that was freed stays with the pool up to its threshold, and is used again.
class Pool : public Object<Pool> {
 public:
  enum class Kind : std::uint8_t { default_pool, own };
  Pool(Device& device, Kind kind, std::uint64_t most = 0);
  ~Pool();
  CUmemoryPool handle() { return reinterpret_cast<CUmemoryPool>(this); }

  Device& device;
  const Kind kind;

  /// Throws CUDA_ERROR_OUT_OF_MEMORY. Kernels may use it from now on.
  std::shared_ptr<Allocation> allocate(const Ref<Context>& context, std::uint64_t size);
  /// Gives back to the device what is not used, all but so many bytes.
  void trim(std::uint64_t keep);

  /// CU_MEMPOOL_ATTR_*: false for a number that is no attribute, or one that cannot be set so.
  bool get(CUmemPool_attribute which, void* value);
  bool set(CUmemPool_attribute which, const void* value);

  CUmemAccess_flags access(int ordinal);
  /// Throws CUDA_ERROR_INVALID_DEVICE where the pool's own device would lose it.
  void set_access(int ordinal, CUmemAccess_flags flags);

 private:
  std::uint64_t take(std::uint64_t size);
  void put(std::uint64_t address, std::uint64_t size);
  void trim_locked(std::uint64_t keep);

  const std::uint64_t most_;                   ///< bytes it may have; 0: as the device has
  std::mutex lock_;                            ///< of what follows
  std::multimap<std::uint64_t, std::uint64_t> cache_;   ///< size and address of what is not used
  std::uint64_t cached_ = 0, used_ = 0, used_high_ = 0, reserved_high_ = 0, threshold_ = 0;
  int reuse_[3] = {1, 1, 1};
  std::uint64_t devices_;                      ///< which may use it, a bit each
  std::map<std::uint64_t, std::weak_ptr<Allocation>> allocations_;
};

}  // namespace flexrack::sim
