// cuOccupancy*.
#include "sim/driver/occupancy.h"

#include <algorithm>

#include "sim/driver/failure.h"

namespace flexrack::sim {
namespace {

std::uint64_t up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Shared memory that a block takes: in units of 256 bytes, 128 from compute capability 8.0 on.
std::uint64_t shared_of(const KernelFacts& facts, std::uint64_t dynamic) {
  return up(static_cast<std::uint64_t>(facts.shared_bytes) + dynamic +
                static_cast<std::uint64_t>(model().shared_bytes_reserved),
            model().major >= 8 ? 128 : 256);
}

void potential_block_size(int* grid, int* block, CUfunction handle, CUoccupancyB2DSize shared_of_block,
                          size_t fixed_shared, int limit) {
  require(grid && block);
  const auto context = current();
  const auto function = function_of(handle, context);
  auto most = function->facts.max_threads;
  if (limit > 0) most = std::min(most, limit);
  int best_threads = 0, best_size = 0, best_blocks = 0;
  for (int size = static_cast<int>(up(static_cast<std::uint64_t>(most), 32)); size > 0; size -= 32) {
    const auto threads = std::min(size, most);
    const auto shared = shared_of_block ? shared_of_block(threads) : fixed_shared;
    const auto blocks = resident_blocks(function->facts, static_cast<std::uint64_t>(threads), shared);
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads;
    best_size = threads;
    best_blocks = blocks;
  }
  require(best_size > 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  *block = best_size;
  *grid = best_blocks * context->device.multiprocessors;
}

CUresult max_blocks(int* blocks, CUfunction handle, int size, size_t shared, unsigned flags) {
  return call([&] {
    require(blocks && size > 0 && flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE);
    const auto function = function_of(handle);
    *blocks = resident_blocks(function->facts, static_cast<std::uint64_t>(size), shared);
  });
}

/// Blocks of a launch's cluster; 1 where it says nothing.
std::uint64_t cluster_of(const CUlaunchConfig& config, const FunctionSettings& settings) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto& one = config.attrs[i];
    if (one.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      return std::uint64_t{one.value.clusterDim.x} * one.value.clusterDim.y * one.value.clusterDim.z;
  }
  return static_cast<std::uint64_t>(std::max(1, settings.cluster[0])) *
         static_cast<std::uint64_t>(std::max(1, settings.cluster[1])) *
         static_cast<std::uint64_t>(std::max(1, settings.cluster[2]));
}

}  // namespace

int resident_blocks(const KernelFacts& facts, std::uint64_t threads, std::uint64_t dynamic_shared) {
  if (threads == 0 || threads > static_cast<std::uint64_t>(facts.max_threads)) return 0;
  const auto& is = model();
  const auto warps = (threads + 31) / 32;
  const auto shared = shared_of(facts, dynamic_shared);
  if (static_cast<std::uint64_t>(facts.shared_bytes) + dynamic_shared >
      static_cast<std::uint64_t>(is.shared_bytes_block))
    return 0;
  const auto registers = up(static_cast<std::uint64_t>(facts.registers) * 32, 256) * up(warps, 4);
  auto most = std::min<std::uint64_t>(static_cast<std::uint64_t>(is.blocks),
                                      static_cast<std::uint64_t>(is.threads) / 32 / warps);
  if (shared > 0) most = std::min(most, static_cast<std::uint64_t>(is.shared_bytes) / shared);
  if (registers > 0) most = std::min(most, std::uint64_t{65536} / registers);
  return static_cast<int>(most);
}

}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int size, size_t shared) {
  return max_blocks(blocks, function, size, shared, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int size, size_t shared,
                                                              unsigned int flags) {
  return max_blocks(blocks, function, size, shared, flags);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of_block, size_t shared, int limit) {
  return call([&] { potential_block_size(grid, block, function, shared_of_block, shared, limit); });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of_block, size_t shared, int limit,
                                                   unsigned int flags) {
  return call([&] {
    require(flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE);
    potential_block_size(grid, block, function, shared_of_block, shared, limit);
  });
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle, int blocks, int size) {
  return call([&] {
    require(bytes && blocks > 0 && size > 0);
    const auto& facts = function_of(handle)->facts;
    const auto fixed = static_cast<std::uint64_t>(facts.shared_bytes + model().shared_bytes_reserved);
    const auto each = static_cast<std::uint64_t>(model().shared_bytes) / static_cast<std::uint64_t>(blocks) / 256 * 256;
    require(resident_blocks(facts, static_cast<std::uint64_t>(size), 0) >= blocks && each >= fixed);
    *bytes = std::min(each - fixed, static_cast<std::uint64_t>(model().shared_bytes_block - facts.shared_bytes));
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle, const CUlaunchConfig* config) {
  return call([&] {
    require(size && config);
    const auto function = function_of(handle);
    *size = model().major < 9 ? 1 : function->settings().non_portable_cluster ? 16 : 8;
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
  return call([&] {
    require(clusters && config && (config->attrs || config->numAttrs == 0));
    const auto context = current();
    const auto function = function_of(handle, context);
    const auto of = cluster_of(*config, function->settings());
    require(of > 0 && (of == 1 || model().major >= 9), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    const auto threads = std::uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
    const auto blocks =
        resident_blocks(function->facts, threads, config->sharedMemBytes) * context->device.multiprocessors;
    *clusters = blocks / static_cast<int>(of);
  });
}

}  // extern "C"
