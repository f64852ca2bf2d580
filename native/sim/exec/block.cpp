#include "sim/exec/block.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "sim/exec/barrier.h"
#include "sim/exec/lower.h"

namespace flexrack::sim::exec {
namespace {

constexpr std::int64_t kWarpSlice = 32768;  ///< instructions of a warp before others have a turn
constexpr std::int64_t kShortSlice = 20;    ///< of one whose neighbours go to the memory beside

/// Threads side by side go to memory side by side, which costs least while it is all there: warps go through a loop
/// together. Not where they may wait for memory: that is found out by a look at it again and again in one slice.
std::int64_t slice_of(const ptx::Function& kernel, std::uint32_t warps) {
  const auto may_wait = [](const ptx::Instruction& from) {
    return from.op == ptx::Op::call || from.op == ptx::Op::atom ||
           (from.op == ptx::Op::ld && from.order != ptx::Order::weak);
  };
  const bool is_long = warps == 1 || std::any_of(kernel.code.begin(), kernel.code.end(), may_wait);
  return is_long ? kWarpSlice : kShortSlice;
}

std::unique_ptr<std::byte[], void (*)(std::byte*)> zeroed(std::size_t bytes) {
  // calloc: big pieces are pages that are never touched where a kernel does not use its stack.
  auto* memory = static_cast<std::byte*>(std::calloc(std::max<std::size_t>(bytes, 1), 1));
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, [](std::byte* old) { std::free(old); }};
}

}  // namespace

void Aligned::Free::operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }

AlignedBytes Aligned::make(std::size_t size) {
  const std::size_t bytes = std::max<std::size_t>((size + 63) / 64 * 64, 64);
  auto* memory = static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64}));
  std::memset(memory, 0, bytes);
  return AlignedBytes(memory);
}

Grid::Grid(const Launch& of, Image& in, MemoryMap& map, Printer& to)
    : launch(of),
      image(in),
      memory(map),
      printer(to),
      code(in.code(*of.kernel)),
      threads(static_cast<std::uint32_t>(of.block.count())),
      warps((threads + kLanes - 1) / kLanes),
      slice(slice_of(*of.kernel, warps)) {
  const auto& kernel = *of.kernel;
  dynamic_shared_at =
      of.dynamic_shared_bytes != 0 ? std::max(kernel.dynamic_shared_offset, kernel.shared_bytes) : kernel.shared_bytes;
  shared_bytes = dynamic_shared_at + of.dynamic_shared_bytes;
  local_bytes = kernel.local_bytes + stack_of(in.module(), kernel, of.stack_bytes);
  // An odd number of cache lines: the threads' frames do not meet in the same sets.
  local_stride = local_bytes == 0 ? 0 : (local_bytes + 63) / 64 * 64 | 64;
  clusters = {of.grid.x / of.cluster.x, of.grid.y / of.cluster.y, of.grid.z / of.cluster.z};
  if (of.is_cooperative) workspace = map.borrow_workspace();
}

Grid::~Grid() {
  if (workspace != 0) memory.return_workspace(workspace);
}

bool Grid::go_together() const {
  return is_scattered.load(std::memory_order_relaxed) && launch.cluster.count() == 1 && shared_bytes == 0 &&
         local_stride == 0 && slice == kShortSlice;
}

void Grid::fail(Fault fault) {
  const std::scoped_lock held(lock_);
  if (!fault_) fault_ = std::move(fault);
  is_stopping = true;
}

std::optional<Fault> Grid::take_fault() {
  const std::scoped_lock held(lock_);
  return std::move(fault_);
}

Block::Block(Grid& grid)
    : grid_(grid),
      shared_(Aligned::make(grid.shared_bytes)),
      registers_(Aligned::make(std::size_t{grid.launch.kernel->frame_bytes} * grid.warps)),
      local_(zeroed(std::size_t{grid.local_stride} * grid.warps * kLanes)) {
  const std::size_t frame = grid.launch.kernel->frame_bytes;
  for (std::uint32_t i = 0; i < grid.warps; ++i) {
    auto warp = std::make_unique<Warp>();
    warp->block = this;
    warp->index = i;
    warp->root.registers = registers_.get() + i * frame;
    warp->shared_memory = shared_.get(), warp->shared_end = shared_.get() + grid.shared_bytes;
    warp->local_memory = local_.get() + std::size_t{i} * kLanes * grid.local_stride;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto thread = grid.launch.block.at(i * kLanes + lane);
      warp->thread[0][lane] = thread.x, warp->thread[1][lane] = thread.y, warp->thread[2][lane] = thread.z;
    }
    warps_.push_back(std::move(warp));
  }
}

void Block::start(const Dim3& at, Cluster& cluster, std::uint32_t rank) {
  at_ = at;
  cluster_ = &cluster;
  rank_ = rank;
  live_ = grid_.threads;
  ready_ = grid_.warps == 32 ? ~0U : (1U << grid_.warps) - 1;
  next_ = 0;
  barriers_.fill({});
  for (auto& warp : warps_) {
    const std::uint32_t left = grid_.threads - warp->index * kLanes;
    warp->start(grid_.code, left >= kLanes ? kAllLanes : (1U << left) - 1);
  }
}

Outcome Block::run(Worker& worker, std::int64_t instructions, bool once) {
  worker_ = &worker;
  std::uint32_t polling = 0;
  const std::int64_t slice = grid_.go_together() ? 1 : grid_.slice;
  while (live_ != 0) {
    if (ready_ == 0) return Outcome::polls;
    if (grid_.is_stopping.load(std::memory_order_relaxed)) return Outcome::fault;
    // The next ready warp, from the one whose turn it is.
    const auto from_next = std::rotr(ready_, static_cast<int>(next_));
    const unsigned number = (next_ + static_cast<unsigned>(std::countr_zero(from_next))) % 32;
    next_ = (number + 1) % 32;
    Warp& warp = *warps_[number];
    warp.ranges = &worker.ranges;
    const auto why = warp.run(kWarpSlice, slice);
    instructions -= kWarpSlice - warp.budget;
    worker.instructions += static_cast<std::uint64_t>(kWarpSlice - warp.budget);
    switch (why) {
      case Why::fault: return Outcome::fault;
      case Why::gone:
      case Why::waits:
        if (!warp.can_run()) ready_ &= ~(1U << number);
        polling = 0;
        break;
      case Why::polls:
        polling |= 1U << number;
        if ((ready_ & ~polling) == 0) return Outcome::polls;
        continue;
      default: polling = 0; break;
    }
    if (instructions <= 0 || (once && ready_ >> number <= 1)) return Outcome::slice;
  }
  return Outcome::over;
}

Join* Block::new_join(const Join& join) {
  if (free_joins_.empty()) {
    joins_.push_back(std::make_unique<Join>(join));
    return joins_.back().get();
  }
  Join* const made = free_joins_.back();
  free_joins_.pop_back();
  *made = join;
  return made;
}

Frame* Block::new_frame(std::size_t bytes) {
  Frame* made = nullptr;
  const auto found = std::find_if(free_frames_.rbegin(), free_frames_.rend(),
                                  [&](const Frame* frame) { return frame->capacity >= bytes; });
  if (found != free_frames_.rend()) {
    made = *found;
    free_frames_.erase(std::next(found).base());
    return made;
  }
  frames_.push_back(std::make_unique<Frame>());
  made = frames_.back().get();
  made->own = Aligned::make(bytes);
  made->registers = made->own.get();
  made->capacity = bytes;
  return made;
}

void Block::wake(unsigned number, const Barrier& over) {
  for (std::uint32_t left = over.waiting_warps; left != 0; left &= left - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(left));
    for (auto& strand : warps_[index]->others) {
      if (strand.state != Strand::State::barrier || strand.waits_for != number) continue;
      write_barrier_result(strand, over);
      strand.state = Strand::State::ready;
      ++strand.at;
    }
    ready_ |= 1U << index;
  }
}

void Block::complete(unsigned number) {
  const Barrier over = barriers_[number];
  barriers_[number] = {};
  wake(number, over);
}

void Block::wake_cluster_waiters() {
  Barrier over;
  over.waiting_warps = grid_.warps == 32 ? ~0U : (1U << grid_.warps) - 1;
  wake(kClusterBarrier, over);
}

void Block::threads_ended(unsigned count) {
  live_ -= count;
  for (unsigned i = 0; i < kBarriers; ++i) {
    const auto& barrier = barriers_[i];
    if (barrier.expected == 0 && barrier.arrived != 0 && barrier.arrived >= live_) complete(i);
  }
  if (cluster_->size() > 1) cluster_->threads_ended();
}

Cluster::Cluster(Grid& grid) : grid_(grid) {
  for (std::uint64_t i = 0; i < grid.launch.cluster.count(); ++i) blocks_.push_back(std::make_unique<Block>(grid));
}

void Cluster::start(std::uint64_t number) {
  at_ = grid_.clusters.at(number);
  arrived_ = 0;
  const auto& size = grid_.launch.cluster;
  for (std::uint32_t rank = 0; rank < blocks_.size(); ++rank) {
    const Dim3 in = size.at(rank);
    blocks_[rank]->start({at_.x * size.x + in.x, at_.y * size.y + in.y, at_.z * size.z + in.z}, *this, rank);
  }
}

Outcome Cluster::run(Worker& worker, std::int64_t instructions, bool once) {
  bool is_slice = false, is_over = true, is_stuck = true;
  for (auto& block : blocks_) {
    if (block->is_over()) continue;
    const auto outcome = block->run(worker, instructions, once);
    if (outcome == Outcome::fault) return outcome;
    is_slice |= outcome == Outcome::slice;
  }
  for (const auto& block : blocks_) {
    is_over &= block->is_over();
    is_stuck &= block->is_over() || block->is_stuck();
  }
  if (is_over) return Outcome::over;
  if (is_stuck) {
    Fault fault;
    fault.kind = Fault::Kind::deadlock;
    fault.kernel = grid_.launch.kernel->name;
    const auto stuck =
        std::find_if(blocks_.begin(), blocks_.end(), [](const auto& block) { return !block->is_over(); });
    fault.block = (*stuck)->at();
    grid_.fail(std::move(fault));
    return Outcome::fault;
  }
  return is_slice ? Outcome::slice : Outcome::polls;
}

std::uint32_t Cluster::arrive(std::uint32_t threads) {
  const auto waits_for = phase_;
  arrived_ += threads;
  complete_if_all_are_there();
  return waits_for;
}

void Cluster::threads_ended() { complete_if_all_are_there(); }

bool Cluster::complete_if_all_are_there() {
  std::uint32_t live = 0;
  for (const auto& block : blocks_) live += block->live_threads();
  if (arrived_ == 0 || arrived_ < live) return false;
  arrived_ = 0;
  ++phase_;
  for (auto& block : blocks_) block->wake_cluster_waiters();
  return true;
}

}  // namespace flexrack::sim::exec
