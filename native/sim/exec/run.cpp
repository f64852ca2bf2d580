#include "sim/exec/run.h"

#include <algorithm>
#include <new>

namespace flexrack::sim::exec {
namespace {

constexpr std::int64_t kSlice =
    200'000;              ///< instructions of a block's warps before others may have the place: some milliseconds
constexpr std::uint32_t kPatience = 16;  ///< slices after which a block may be one that waits for a later one
constexpr std::uint64_t kMostBytes = 2ULL << 30;  ///< of blocks that are under way at once

std::uint64_t bytes_of_cluster(const Grid& grid) {
  const std::uint64_t block =
      grid.shared_bytes + std::uint64_t{grid.warps} * (grid.launch.kernel->frame_bytes + sizeof(Warp) +
                                                       kLanes * std::uint64_t{grid.local_stride});
  return std::max<std::uint64_t>(block * grid.launch.cluster.count(), 4096);
}

}  // namespace

Run::Run(const Launch& launch, Image& image, MemoryMap& memory, Printer& printer, unsigned places)
    : grid_(launch, image, memory, printer), total_(grid_.clusters.count()), wanted_(places) {
  limit_ = launch.is_cooperative ? total_ : std::max<std::uint64_t>(kMostBytes / bytes_of_cluster(grid_), places);
}

bool Run::has_work() {
  const std::scoped_lock held(lock_);
  return !grid_.is_stopping && (!parked_.empty() || next_ < total_);
}

bool Run::is_over() {
  const std::scoped_lock held(lock_);
  return under_way_ == 0 && (over_ == total_ || grid_.is_stopping);
}

bool Run::take(Parked& taken) {
  std::uint64_t number = 0;
  {
    const std::scoped_lock held(lock_);
    if (grid_.is_stopping) return false;
    const bool may_start = next_ < total_ && resident_ < limit_ && (parked_.empty() || resident_ < wanted_);
    if (!may_start) {
      if (parked_.empty()) return false;
      taken = std::move(parked_.front());
      parked_.pop_front();
      ++under_way_;
      return true;
    }
    number = next_++;
    ++resident_;
    ++under_way_;
    if (!spare_.empty()) {
      taken.cluster = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  try {
    if (taken.cluster == nullptr) taken.cluster = std::make_unique<Cluster>(grid_);
    taken.cluster->start(number);
  } catch (const std::bad_alloc&) {
    Fault fault;
    fault.kind = Fault::Kind::out_of_memory;
    fault.kernel = grid_.launch.kernel->name;
    grid_.fail(std::move(fault));
    const std::scoped_lock held(lock_);
    --under_way_;
    return false;
  }
  return true;
}

void Run::put(Parked parked, Outcome outcome) {
  const std::scoped_lock held(lock_);
  --under_way_;
  idle_ = outcome == Outcome::polls ? idle_ + 1 : 0;
  switch (outcome) {
    case Outcome::over:
      ++over_;
      --resident_;
      spare_.push_back(std::move(parked.cluster));
      break;
    case Outcome::fault: break;
    case Outcome::polls: wanted_ = std::max(wanted_, resident_ + 1); [[fallthrough]];
    case Outcome::slice:
      if (outcome == Outcome::slice && ++parked.slices % kPatience == 0) wanted_ = std::max(wanted_, resident_ + 1);
      parked_.push_back(std::move(parked));
      break;
  }
}

Run::Work Run::work(Worker& worker) {
  Parked taken;
  if (!take(taken)) return Work::nothing;
  worker.refresh();
  const auto outcome = taken.cluster->run(worker, kSlice);
  put(std::move(taken), outcome);
  const std::scoped_lock held(lock_);
  return idle_ > resident_ + 1 && (next_ == total_ || resident_ >= limit_) ? Work::waited : Work::done;
}

}  // namespace flexrack::sim::exec
