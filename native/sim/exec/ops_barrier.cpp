// bar.sync, bar.arrive, bar.red and barriers of clusters (PTX ISA 9.0, 9.7.13.1 to 4). Threads are counted, not warps:
// lanes that come by different ways count when they come.
#include <atomic>
#include <bit>

#include "sim/exec/barrier.h"
#include "sim/exec/block.h"
#include "sim/exec/ops.h"

namespace flexrack::sim::exec {
namespace {

using u32 = std::uint32_t;

u32 first_value(const Warp& warp, At place) { return warp.registers<const u32>(place)[std::countr_zero(warp.mask)]; }

/// The predicate or number that a reduction gives.
u32 reduction(ptx::VoteMode mode, const Barrier& over) {
  switch (mode) {
    case ptx::VoteMode::all: return over.holding == over.arrived ? ~0U : 0;
    case ptx::VoteMode::any: return over.holding != 0 ? ~0U : 0;
    default: return over.holding;
  }
}

void write_result(const std::byte* registers, const Step& step, u32 lanes, const Barrier& over) {
  const auto mode = static_cast<ptx::VoteMode>(step.source->detail);
  const u32 value = reduction(mode, over);
  auto* d = reinterpret_cast<RawOf<u32>::type*>(const_cast<std::byte*>(registers) + step.d);
  if (mode == ptx::VoteMode::popc) {
    for (u32 left = lanes; left != 0; left &= left - 1) d[std::countr_zero(left)] = value;
  } else {
    *d = (*d & ~lanes) | (value & lanes);
  }
}

/// Counts the warp's lanes. True: they were the last.
bool arrive(Warp& warp, unsigned number, At threads, At predicate) {
  auto& barrier = warp.block->barrier(number);
  if (threads != kNowhere) barrier.expected = first_value(warp, threads);
  barrier.arrived += static_cast<u32>(std::popcount(warp.mask));
  if (predicate != kNowhere) barrier.holding += static_cast<u32>(std::popcount(warp.predicate(predicate) & warp.mask));
  return barrier.arrived >= (barrier.expected != 0 ? barrier.expected : warp.block->live_threads());
}

const Step* bad_number(Warp& warp, const Step* step) { return warp.unsupported(step, "there are 16 barriers"); }

const Step* synchronizes(Warp& warp, const Step* step) {
  const bool is_reduction = step->source->op == Op::bar_red;
  const unsigned number = first_value(warp, is_reduction ? step->a : step->d);
  if (number >= Block::kBarriers) return bad_number(warp, step);
  auto& barrier = warp.block->barrier(number);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (arrive(warp, number, is_reduction ? step->b : step->a, is_reduction ? step->c : kNowhere)) {
    if (is_reduction) write_result(warp.bases[0], *step, warp.mask, barrier);
    warp.block->complete(number);
    return step + 1;
  }
  barrier.waiting_warps |= 1U << warp.index;
  return warp.wait(step, Strand::State::barrier, number);
}

const Step* arrives(Warp& warp, const Step* step) {
  const unsigned number = first_value(warp, step->d);
  if (number >= Block::kBarriers) return bad_number(warp, step);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (arrive(warp, number, step->a, kNowhere)) warp.block->complete(number);
  return step + 1;
}

const Step* arrives_in_cluster(Warp& warp, const Step* step) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  warp.cluster_phase = warp.block->cluster().arrive(static_cast<u32>(std::popcount(warp.mask)));
  return step + 1;
}

const Step* waits_in_cluster(Warp& warp, const Step* step) {
  if (warp.block->cluster().phase() != warp.cluster_phase) return step + 1;
  return warp.wait(step, Strand::State::barrier, Block::kClusterBarrier);
}

}  // namespace

void write_barrier_result(const Strand& strand, const Barrier& over) {
  if (strand.at->source->op == Op::bar_red) write_result(strand.frame->registers, *strand.at, strand.mask, over);
}

Handler barrier_handler(const Instruction& from) {
  switch (from.op) {
    case Op::bar_sync:
    case Op::bar_red: return synchronizes;
    case Op::bar_arrive: return arrives;
    case Op::barrier_cluster_arrive: return arrives_in_cluster;
    case Op::barrier_cluster_wait: return waits_in_cluster;
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
