// Device memory: pages of the process, accounted for each device.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "sim/driver/process_files.h"

namespace flexrack::sim {

/// A part of a file, both in whole pages, at an address where device memory lies; 0 where that cannot be.
std::uint64_t map_device_file(int file, std::uint64_t offset, std::uint64_t bytes);

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

  /// Pages that another process can map as well, from now on. The address stays, and so does what is there: for the
  /// moment nobody may touch it (memory_gate). Throws CUDA_ERROR_OPERATING_SYSTEM, and CUDA_ERROR_NOT_SUPPORTED for
  /// what allocate_at() gave.
  struct Pages {
    SharedFilePointer file;
    std::uint64_t offset = 0;  ///< of the address, in the file
  };
  Pages share(std::uint64_t address, std::uint64_t size, std::uint32_t device);

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
  std::map<std::uint64_t, SharedFilePointer> shared_;  ///< mappings and blocks that are files now, by their address
  std::set<std::uint64_t> placed_;  ///< addresses that allocate_at() gave
  std::map<std::uint64_t, std::uint32_t> placed_pages_;  ///< pages below them: how many allocations touch each
};

}  // namespace flexrack::sim
