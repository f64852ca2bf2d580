// Special registers (PTX ISA 9.0, chapter 10).
#include <algorithm>
#include <bit>
#include <ctime>

#include "sim/exec/block.h"
#include "sim/exec/ops.h"

namespace flexrack::sim::exec {
namespace {

using ptx::Special;
using ptx::Width;

std::uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint32_t part(const Dim3& of, unsigned axis) { return axis == 0 ? of.x : axis == 1 ? of.y : of.z; }

bool within(Special special, Special first, unsigned count, unsigned& axis) {
  axis = static_cast<unsigned>(special) - static_cast<unsigned>(first);
  return axis < count;
}

/// What is the same in all lanes.
std::uint64_t uniform_value(Warp& warp, Special special) {
  Block& block = *warp.block;
  const Grid& grid = block.grid();
  const Launch& launch = grid.launch;
  unsigned axis = 0;
  if (within(special, Special::ntid_x, 3, axis)) return part(launch.block, axis);
  if (within(special, Special::ctaid_x, 3, axis)) return part(block.at(), axis);
  if (within(special, Special::nctaid_x, 3, axis)) return part(launch.grid, axis);
  if (within(special, Special::cluster_ctaid_x, 3, axis)) return part(launch.cluster.at(block.rank()), axis);
  if (within(special, Special::cluster_nctaid_x, 3, axis)) return part(launch.cluster, axis);
  if (within(special, Special::clusterid_x, 3, axis)) return part(block.cluster().at(), axis);
  if (within(special, Special::nclusterid_x, 3, axis)) return part(grid.clusters, axis);
  if (within(special, Special::envreg0, 3, axis))
    return axis == 1 ? grid.workspace >> 32 : axis == 2 ? grid.workspace & 0xffffffff : 0;
  switch (special) {
    case Special::warpid: return warp.index;
    case Special::nwarpid: return 64;
    case Special::smid: return block.worker().number;
    case Special::nsmid: return launch.sm_count;
    case Special::gridid: return launch.grid_id;
    case Special::warp_size: return kLanes;
    case Special::clock:
    case Special::clock64: return nanoseconds(CLOCK_MONOTONIC);
    case Special::clock_hi: return nanoseconds(CLOCK_MONOTONIC) >> 32;
    case Special::globaltimer:
    case Special::globaltimer_lo: return nanoseconds(CLOCK_REALTIME);
    case Special::globaltimer_hi: return nanoseconds(CLOCK_REALTIME) >> 32;
    case Special::cluster_ctarank: return block.rank();
    case Special::cluster_nctarank: return launch.cluster.count();
    case Special::is_explicit_cluster: return launch.cluster.count() > 1;
    case Special::total_smem_size:
    case Special::aggr_smem_size: return grid.shared_bytes;
    case Special::dynamic_smem_size: return launch.dynamic_shared_bytes;
    default: return 0;  // performance counters and environment registers that nobody has set
  }
}

std::uint64_t lane_value(const Warp& warp, Special special, unsigned lane) {
  switch (special) {
    case Special::tid_x: return warp.thread[0][lane];
    case Special::tid_y: return warp.thread[1][lane];
    case Special::tid_z: return warp.thread[2][lane];
    case Special::laneid: return lane;
    case Special::lanemask_eq: return 1U << lane;
    case Special::lanemask_le: return (2U << lane) - 1;
    case Special::lanemask_lt: return (1U << lane) - 1;
    case Special::lanemask_ge: return ~((1U << lane) - 1);
    default: return ~((2U << lane) - 1);  // gt
  }
}

bool is_of_lane(Special special) {
  unsigned axis = 0;
  return within(special, Special::tid_x, 3, axis) || special == Special::laneid ||
         within(special, Special::lanemask_eq, 5, axis);
}

void write(Warp& warp, const Step* step, unsigned lane, std::uint64_t value) {
  switch (step->source->o[0].width) {
    case Width::w16: warp.registers<std::uint16_t>(step->d)[lane] = static_cast<std::uint16_t>(value); break;
    case Width::w64: warp.registers<std::uint64_t>(step->d)[lane] = value; break;
    default: warp.registers<std::uint32_t>(step->d)[lane] = static_cast<std::uint32_t>(value); break;
  }
}

const Step* reads_special(Warp& warp, const Step* step) {
  const auto special = static_cast<Special>(step->source->detail);
  const bool differs = is_of_lane(special);
  if (warp.is_full() && step->source->o[0].width == Width::w32) {
    // What programs begin with: lanes that have ended may be written to.
    auto* d = warp.registers<std::uint32_t>(step->d);
    unsigned axis = 0;
    if (within(special, Special::tid_x, 3, axis)) {
      std::copy(warp.thread[axis].begin(), warp.thread[axis].end(), d);
      return step + 1;
    }
    if (!differs) {
      std::fill(d, d + kLanes, static_cast<std::uint32_t>(uniform_value(warp, special)));
      return step + 1;
    }
  }
  const std::uint64_t same = differs ? 0 : uniform_value(warp, special);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    write(warp, step, lane, differs ? lane_value(warp, special, lane) : same);
  }
  return step + 1;
}

}  // namespace

Handler special_handler(const Instruction& from) { return from.op == Op::mov_special ? reads_special : nullptr; }

}  // namespace flexrack::sim::exec
