#include "sim/exec/run.h"

#include <algorithm>
#include <new>
#include <utility>

namespace flexrack::sim::exec {
namespace {

constexpr std::int64_t kSlice =
    200'000;              ///< instructions of a block's warps before others may have the place: some milliseconds
constexpr std::uint64_t kTogether = 32;  ///< blocks that go on together
constexpr std::uint64_t kBytesTogether = 1ULL << 21;  ///< of registers, that they shall find in the cache again
constexpr std::uint64_t kFewScattered = 64;           ///< instructions for each access of lanes far from each other
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
    : grid_(launch, image, memory, printer), places_(places), total_(grid_.clusters.count()), wanted_(places) {
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
  std::uint64_t first = 0, count = 1;
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
    if (grid_.go_together()) {
      const std::uint64_t bytes = std::uint64_t{grid_.warps} * (grid_.launch.kernel->frame_bytes + sizeof(Warp));
      count = std::min({kTogether, (total_ - next_ + places_ - 1) / places_, limit_ - resident_,
                        std::max<std::uint64_t>(kBytesTogether / bytes, 1)});
    }
    first = next_;
    next_ += count;
    resident_ += count;
    ++under_way_;
    for (; taken.clusters.size() < count && !spare_.empty(); spare_.pop_back())
      taken.clusters.push_back(std::move(spare_.back()));
  }
  try {
    while (taken.clusters.size() < count) taken.clusters.push_back(std::make_unique<Cluster>(grid_));
    for (std::uint64_t i = 0; i < count; ++i) taken.clusters[i]->start(first + i);
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

/// A slice. Several have a turn of each of their warps, one after the other.
Outcome Run::run(Parked& parked, Worker& worker) {
  auto& clusters = parked.clusters;
  if (clusters.size() == 1) {
    const auto outcome = clusters.front()->run(worker, kSlice);
    if (outcome == Outcome::over) parked.over = std::exchange(clusters, {});
    return outcome;
  }
  for (const auto end = worker.instructions + kSlice; !clusters.empty() && worker.instructions < end;) {
    bool is_waiting = true;
    for (auto& cluster : clusters) {
      const auto outcome = cluster->run(worker, kSlice, true);
      if (outcome == Outcome::fault) return outcome;
      is_waiting &= outcome == Outcome::polls;
      if (outcome == Outcome::over) parked.over.push_back(std::move(cluster));
    }
    std::erase(clusters, nullptr);
    if (is_waiting) return Outcome::polls;
  }
  return clusters.empty() ? Outcome::over : Outcome::slice;
}

void Run::put(Parked parked, Outcome outcome) {
  const std::scoped_lock held(lock_);
  --under_way_;
  idle_ = outcome == Outcome::polls ? idle_ + 1 : 0;
  over_ += parked.over.size();
  resident_ -= parked.over.size();
  for (auto& cluster : parked.over) spare_.push_back(std::move(cluster));
  parked.over.clear();
  switch (outcome) {
    case Outcome::over:
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
  const auto instructions = worker.instructions, scattered = worker.ranges.scattered;
  const auto outcome = run(taken, worker);
  if ((worker.ranges.scattered - scattered) * kFewScattered > worker.instructions - instructions)
    grid_.is_scattered.store(true, std::memory_order_relaxed);
  put(std::move(taken), outcome);
  const std::scoped_lock held(lock_);
  return idle_ > resident_ + 1 && (next_ == total_ || resident_ >= limit_) ? Work::waited : Work::done;
}

}  // namespace flexrack::sim::exec
