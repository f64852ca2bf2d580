// A block under way, and a cluster of them: all that is needed to go on with it on any thread. One thread at a time
// runs it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/exec/grid.h"
#include "sim/exec/warp.h"

namespace flexrack::sim::exec {

class Cluster;

/// A barrier of bar.sync and its kin.
struct Barrier {
  std::uint32_t arrived = 0;      ///< threads
  std::uint32_t expected = 0;     ///< 0: all of the block that have not ended
  std::uint32_t waiting_warps = 0;
  std::uint32_t holding = 0;      ///< of bar.red: threads whose predicate holds
};

enum class Outcome : std::uint8_t {
  over,
  slice,    ///< there is more to do
  polls,    ///< all that can run waits for what others write
  fault,
};

class Block {
 public:
  static constexpr unsigned kBarriers = 16;
  static constexpr unsigned kClusterBarrier = kBarriers;  ///< Strand::waits_for of those

  explicit Block(Grid& grid);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// All threads at the kernel's start.
  void start(const Dim3& at, Cluster& cluster, std::uint32_t rank);
  /// Lets the warps run in turn, each until it waits. `once`: until each has had its turn.
  Outcome run(Worker& worker, std::int64_t instructions, bool once);
  bool is_over() const { return live_ == 0; }
  /// No warp can run, and nobody else can change that but blocks of the same cluster.
  bool is_stuck() const { return ready_ == 0 && live_ != 0; }

  // ---- for handlers
  Grid& grid() { return grid_; }
  Cluster& cluster() { return *cluster_; }
  Worker& worker() { return *worker_; }
  const Dim3& at() const { return at_; }
  std::uint32_t rank() const { return rank_; }
  std::byte* shared() { return shared_.get(); }
  std::uint32_t shared_bytes() const { return grid_.shared_bytes; }
  std::uint32_t local_bytes() const { return grid_.local_bytes; }
  std::uint32_t live_threads() const { return live_; }

  Join* new_join(const Join& join);
  void free_join(Join* join) { free_joins_.push_back(join); }
  Frame* new_frame(std::size_t bytes);
  void free_frame(Frame* frame) { free_frames_.push_back(frame); }

  Barrier& barrier(unsigned number) { return barriers_[number]; }
  /// Lets all that wait at a barrier go on, and makes it new.
  void complete(unsigned number);
  /// The same for strands that wait at a barrier of the cluster.
  void wake_cluster_waiters();
  void threads_ended(unsigned count);
  void fail(Fault fault) { grid_.fail(std::move(fault)); }

 private:
  void wake(unsigned number, const Barrier& over);

  Grid& grid_;
  Cluster* cluster_ = nullptr;
  Worker* worker_ = nullptr;
  Dim3 at_;
  std::uint32_t rank_ = 0, live_ = 0;
  std::uint32_t ready_ = 0;  ///< warps that may be able to run
  unsigned next_ = 0;        ///< the warp whose turn it is
  AlignedBytes shared_, registers_;
  std::unique_ptr<std::byte[], void (*)(std::byte*)> local_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::array<Barrier, kBarriers> barriers_;
  std::vector<std::unique_ptr<Join>> joins_;
  std::vector<Join*> free_joins_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<Frame*> free_frames_;
};

/// Blocks that are under way together; most often one. What is handed from thread to thread.
class Cluster {
 public:
  explicit Cluster(Grid& grid);

  void start(std::uint64_t number);
  Outcome run(Worker& worker, std::int64_t instructions, bool once = false);
  Dim3 at() const { return at_; }
  std::size_t size() const { return blocks_.size(); }
  Block& block(std::size_t rank) { return *blocks_[rank]; }

  /// barrier.cluster: `threads` more have come. The phase that they wait to see the end of.
  std::uint32_t arrive(std::uint32_t threads);
  std::uint32_t phase() const { return phase_; }
  void threads_ended();

 private:
  bool complete_if_all_are_there();

  Grid& grid_;
  Dim3 at_;
  std::uint32_t arrived_ = 0, phase_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace flexrack::sim::exec
