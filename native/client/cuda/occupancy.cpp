// How many blocks fit: asked once, then known.
#include <algorithm>

#include "client/cuda/kernel.h"
#include "client/cuda/launch.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

enum Question : std::uint64_t { kBlocks, kSharedBytes };

/// `ask(value)` where it has not been asked before. An attribute that is set makes all answers of its kernel old:
/// setting them forgets them.
template <class Ask>
CUresult answer(const KernelAt& kernel, const std::array<std::uint64_t, 4>& question, std::uint64_t& value, Ask&& ask) {
  {
    const std::lock_guard guard(kernel.lock);
    if (const auto known = kernel.answers.find(question); known != kernel.answers.end())
      return value = known->second, CUDA_SUCCESS;
  }
  const auto status = ask();
  if (status != CUDA_SUCCESS) return status;
  const std::lock_guard guard(kernel.lock);
  kernel.answers[question] = value;
  return status;
}

CUresult blocks(Call& call, const KernelAt& kernel, int block, std::size_t shared, unsigned flags,
                std::uint64_t& count) {
  return answer(kernel, {kBlocks, static_cast<std::uint64_t>(block), shared, flags}, count, [&] {
    cu::OccupancyMaxActiveBlocksPerMultiprocessorWithFlags message;
    message.func = kernel.handle;
    message.block_size = block;
    message.dynamic_smem_size = shared;
    message.flags = flags;
    message.context = call.context();
    return call.ask(message, [&](const auto& reply) { count = static_cast<std::uint64_t>(reply.num_blocks); });
  });
}

cu::Grid grid_of(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

CUresult clusters(int* count, CUfunction function, const CUlaunchConfig* config, bool is_active) {
  Call call;
  call.needs(count);
  call.needs(config);
  const auto* kernel = call.kernel(function);
  if (!call.is_good()) return call.error();
  cu::OccupancyOfClusters message;
  const auto stream = call.stream(config->hStream);
  LaunchAttributes taken;
  const auto attributes = call.list(config->attrs, config->numAttrs);
  if (call.is_good()) take_launch_attributes(call, attributes, taken);
  if (!call.is_good()) return call.error();
  message.context = stream->context_handle;
  message.kernel = kernel->handle;
  message.grid = grid_of(config->gridDimX, config->gridDimY, config->gridDimZ);
  message.block = grid_of(config->blockDimX, config->blockDimY, config->blockDimZ);
  message.shared_bytes = config->sharedMemBytes;
  message.is_active = is_active;
  message.stream = stream->handle;
  message.attributes = taken.reported;
  // Kernels and devices do not change: the same question, byte for byte, has the same answer.
  wire::Bytes question;
  encode(question, message);
  const std::string key(question.begin(), question.end());
  {
    const std::lock_guard guard(kernel->lock);
    if (const auto known = kernel->cluster_answers.find(key); known != kernel->cluster_answers.end()) {
      *count = known->second;
      return CUDA_SUCCESS;
    }
  }
  return call.ask(message, [&](const auto& reply) {
    *count = reply.value;
    const std::lock_guard guard(kernel->lock);
    kernel->cluster_answers[key] = reply.value;
  });
}

}  // namespace

CUresult check_cooperative(const CUctx_st& context, const KernelAt& kernel, const Shape& shape) {
  Call call;
  call.use(const_cast<CUcontext>(&context));
  std::uint64_t count = 0;
  const auto threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
  if (const auto status = blocks(call, kernel, threads, shape.shared_bytes, 0, count); status != CUDA_SUCCESS)
    return status;
  const auto processors =
      static_cast<std::uint64_t>(context.device->attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  const auto wanted = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  return wanted > count * processors ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags) {
  Call call;
  call.needs(numBlocks);
  call.check(blockSize > 0);
  const auto* kernel = call.kernel(func);
  if (!call.is_good()) return call.error();
  std::uint64_t count = 0;
  const auto status = blocks(call, *kernel, blockSize, dynamicSMemSize, flags, count);
  if (status == CUDA_SUCCESS) *numBlocks = static_cast<int>(count);
  return status;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
  return cuda::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize) {
  Call call;
  call.needs(dynamicSmemSize);
  const auto* kernel = call.kernel(func);
  if (!call.is_good()) return call.error();
  std::uint64_t size = 0;
  const auto status = answer(
      *kernel, {kSharedBytes, static_cast<std::uint64_t>(numBlocks), static_cast<std::uint64_t>(blockSize), 0}, size,
      [&] {
        std::size_t reported = 0;
        const auto requested = plain::cuOccupancyAvailableDynamicSMemPerBlock(&reported, func, numBlocks, blockSize);
        size = reported;
        return requested;
      });
  if (status == CUDA_SUCCESS) *dynamicSmemSize = size;
  return status;
}

/// The block with the most threads on a multiprocessor; of several the largest. All sizes in whole warps are tried, as
/// the shared memory of a block may depend on its size in any way.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags) {
  Call call;
  call.needs(minGridSize);
  call.needs(blockSize);
  const auto* kernel = call.kernel(func);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  const auto& device = *now->device;
  const int warp = std::max(device.attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32), 1);
  int most = std::min(static_cast<int>(device.most_threads),
                      kernel->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK].load());
  if (blockSizeLimit > 0) most = std::min(most, blockSizeLimit);
  int best_threads = 0, best_block = 0, best_count = 0;
  for (int block = (most + warp - 1) / warp * warp; block > 0; block -= warp) {
    const int size = std::min(block, most);
    std::uint64_t count = 0;
    const auto shared = blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(size) : dynamicSMemSize;
    if (const auto status = blocks(call, *kernel, size, shared, flags, count); status != CUDA_SUCCESS) return status;
    const auto threads = static_cast<int>(count) * size;
    if (threads > best_threads) best_threads = threads, best_block = size, best_count = static_cast<int>(count);
    if (best_threads == device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)) break;
  }
  *blockSize = best_block;
  *minGridSize = best_count * device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                          int blockSizeLimit) {
  return cuda::cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                         dynamicSMemSize, blockSizeLimit, 0);
}

CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func, const CUlaunchConfig* config) {
  return clusters(clusterSize, func, config, false);
}

CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func, const CUlaunchConfig* config) {
  return clusters(numClusters, func, config, true);
}

}  // namespace flexrack::client::cuda
