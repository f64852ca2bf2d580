// What all blocks of one launch share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "sim/exec/fault.h"
#include "sim/exec/image.h"
#include "sim/exec/launch.h"
#include "sim/exec/memory_map.h"
#include "sim/exec/printer.h"
#include "sim/exec/range_cache.h"

namespace flexrack::sim::exec {

/// One thread that executes, while it is at work for one launch.
struct Worker {
  explicit Worker(MemoryMap& memory) : reader(memory) {}
  MemoryMap::Reader reader;
  RangeCache ranges;
  std::uint32_t number = 0;  ///< %smid
  std::uint64_t instructions = 0;  ///< of warps, that it carried out

  /// Between slices: ranges kept are looked up anew where memory has come or gone.
  void refresh() {
    if (reader.refresh()) ranges.clear();
  }
};

struct Grid {
  Grid(const Launch& of, Image& in, MemoryMap& map, Printer& to);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  const Launch& launch;
  Image& image;
  MemoryMap& memory;
  Printer& printer;
  const Code& code;
  std::uint32_t threads;        ///< of a block
  std::uint32_t warps;
  std::int64_t slice;           ///< instructions of a warp before the next one's turn
  std::uint32_t shared_bytes;
  std::uint32_t dynamic_shared_at;
  std::uint32_t local_bytes;    ///< of a thread: the kernel's own and the stack
  std::uint32_t local_stride;   ///< from thread to thread
  Dim3 clusters;                ///< of the grid
  std::uint64_t workspace = 0;  ///< of cooperative launches: where the runtime's headers keep the grid's barrier
                                ///< (cooperative_groups/details/driver_abi.h: %envreg1 and 2)
  std::atomic<bool> is_stopping{false};
  /// Lanes of a warp are often far from each other in memory: blocks that go on together find each other's lines.
  std::atomic<bool> is_scattered{false};

  /// Whether blocks go through memory together, as the warps of one do: where that gains much, and no thread has memory
  /// with another or waits for one.
  bool go_together() const;
  /// The first one counts.
  void fail(Fault fault);
  std::optional<Fault> take_fault();

 private:
  std::mutex lock_;
  std::optional<Fault> fault_;
};

}  // namespace flexrack::sim::exec
