// Prefix sums of any length: within a warp by shuffles, within a block by shared memory, over blocks by scanning their
// sums.
#include "program.h"

constexpr int kThreads = 256;

__device__ unsigned scan_warp(unsigned value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) value += other;
  }
  return value;
}

/// Inclusive within each block; the block's sum into `sums`.
__global__ void scan_blocks(const unsigned* in, unsigned* out, unsigned* sums, int count) {
  __shared__ unsigned of_warps[kThreads / 32];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  unsigned value = scan_warp(i < count ? in[i] : 0);
  if (threadIdx.x % 32 == 31) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    const unsigned sum = scan_warp(threadIdx.x < kThreads / 32 ? of_warps[threadIdx.x] : 0);
    if (threadIdx.x < kThreads / 32) of_warps[threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= 32) value += of_warps[threadIdx.x / 32 - 1];
  if (i < count) out[i] = value;
  if (threadIdx.x == kThreads - 1) sums[blockIdx.x] = value;
}

__global__ void add_sums(unsigned* values, const unsigned* sums, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (blockIdx.x > 0 && i < count) values[i] += sums[blockIdx.x - 1];
}

void scan(const unsigned* in, unsigned* out, int count) {
  const int blocks = (count + kThreads - 1) / kThreads;
  const program::Device<unsigned> sums(blocks);
  scan_blocks<<<blocks, kThreads>>>(in, out, sums, count);
  if (blocks > 1) {
    scan(sums, sums, blocks);
    add_sums<<<blocks, kThreads>>>(out, sums, count);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

int main(int count, char** arguments) {
  for (const int size : {1, 32, 255, 256, 257, 5000, 70001 * program::scale(count, arguments)}) {
    const auto random = program::random_ints(size, 7, 1000);
    const std::vector<unsigned> values(random.begin(), random.end());
    const program::Device<unsigned> in(values), out(size);
    scan(in, out, size);
    const auto scanned = out.read();
    unsigned sum = 0;
    bool is_right = true;
    for (int i = 0; i < size; ++i) is_right &= scanned[i] == (sum += values[i]);
    std::printf("%d elements, the last sum %u\n", size, scanned.back());
    program::expect(is_right, "sums are the CPU's");
  }
  return program::verdict();
}
