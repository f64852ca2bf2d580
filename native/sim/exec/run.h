// One launch under way: which blocks are still to be started, and which wait to go on. Any number of threads work on it
// at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/exec/block.h"

namespace flexrack::sim::exec {

class Run {
 public:
  /// `places`: threads that may work at once.
  Run(const Launch& launch, Image& image, MemoryMap& memory, Printer& printer, unsigned places);

  enum class Work : std::uint8_t {
    done,  ///< a slice of a block
    waited,  ///< a slice, and all blocks that are under way only wait for others
    nothing,  ///< no block can be taken now
  };
  /// Takes a block, or several that go on together, works on it for a slice, and puts it back. Any thread.
  Work work(Worker& worker);
  bool has_work();
  /// All blocks are over, or have stopped.
  bool is_over();
  void stop() { grid_.is_stopping = true; }
  Grid& grid() { return grid_; }
  std::uint64_t clusters() const { return total_; }
  unsigned helpers = 0;  ///< at work for it; the pool's, under its lock

 private:
  struct Parked {
    std::vector<std::unique_ptr<Cluster>> clusters, over;
    std::uint32_t slices = 0;
  };
  bool take(Parked& taken);
  Outcome run(Parked& parked, Worker& worker);
  void put(Parked parked, Outcome outcome);

  Grid grid_;
  const unsigned places_;
  std::mutex lock_;
  std::uint64_t next_ = 0, total_ = 0;
  std::uint64_t over_ = 0;  ///< clusters
  std::uint64_t resident_ = 0;  ///< started and not over
  std::uint64_t limit_ = 0;  ///< that may be resident at once
  std::uint64_t wanted_;  ///< that shall be: grows when those that are there only wait, or never end
  std::uint64_t under_way_ = 0;  ///< taken
  std::uint64_t idle_ = 0;  ///< slices in a row in which nothing but waiting was done
  std::deque<Parked> parked_;
  std::vector<std::unique_ptr<Cluster>> spare_;
};

}  // namespace flexrack::sim::exec
