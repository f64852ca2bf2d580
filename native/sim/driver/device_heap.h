// Device memory: pages of the process, accounted for each device.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

namespace flexrack::sim {

/// Memory of one device. Thread-safe.
class DeviceHeap {
 public:
  static constexpr std::uint64_t kGranularity = 512;  ///< what sizes are rounded up to, and the alignment of addresses

  explicit DeviceHeap(std::uint64_t capacity) : capacity_(capacity) {}
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  static std::uint64_t charged(std::uint64_t size) { return (size + kGranularity - 1) / kGranularity * kGranularity; }

  /// The address; 0 where the device (or the host) has not that much left.
  std::uint64_t allocate(std::uint64_t size);
  /// The same at an address that another process's heap has chosen; 0 too where something is there.
  std::uint64_t allocate_at(std::uint64_t address, std::uint64_t size);
  void free(std::uint64_t address, std::uint64_t size);

  /// Only counts: for memory that lies elsewhere. False where the device has not that much left.
  bool charge(std::uint64_t size);
  void refund(std::uint64_t size) { used_.fetch_sub(charged(size)); }

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t used() const { return used_.load(); }

 private:
  std::uint64_t take_small(std::uint64_t size);
  void put_small(std::uint64_t address, std::uint64_t size);
  bool take_pages(std::uint64_t first, std::uint64_t end);
  void put_pages(std::uint64_t first, std::uint64_t end);

  const std::uint64_t capacity_;
  std::atomic<std::uint64_t> used_{0};
  std::mutex lock_;
  std::map<std::uint64_t, std::uint64_t>
      blocks_;  ///< address of each block of small allocations, and the bytes taken in it
  std::map<std::uint64_t, std::uint64_t> gaps_;  ///< free ranges in blocks: address and size
  std::set<std::uint64_t> placed_;  ///< addresses that allocate_at() gave
  std::map<std::uint64_t, std::uint32_t> placed_pages_;  ///< pages below them: how many allocations touch each
};

}  // namespace flexrack::sim
