// Cooperative groups: barriers over the whole grid, tiles of a warp, and coalesced threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "program.h"

namespace cg = cooperative_groups;

/// Steps of a one-dimensional heat equation, all in one launch: every step needs the whole of the last.
__global__ void diffuse(float* now, float* next, int count, int steps) {
  const auto grid = cg::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (auto i = grid.thread_rank(); i < count; i += grid.size()) {
      const float left = i > 0 ? now[i - 1] : 0, right = i + 1 < count ? now[i + 1] : 0;
      next[i] = 0.25f * left + 0.5f * now[i] + 0.25f * right;
    }
    grid.sync();
    float* const other = now;
    now = next;
    next = other;
  }
}

/// Sums by tiles of several sizes, and a count by those threads of a warp that took a branch.
__global__ void tiles(const int* values, int* sums_of_8, int* sums_of_32, int* odd_before) {
  const auto block = cg::this_thread_block();
  const int i = static_cast<int>(cg::this_grid().thread_rank());
  const auto eight = cg::tiled_partition<8>(block);
  const int sum = cg::reduce(eight, values[i], cg::plus<int>());
  if (eight.thread_rank() == 0) sums_of_8[i / 8] = sum;
  const auto warp = cg::tiled_partition<32>(block);
  int mine = values[i];
  for (int offset = warp.size() / 2; offset > 0; offset /= 2) mine += warp.shfl_down(mine, offset);
  if (warp.thread_rank() == 0) sums_of_32[i / 32] = mine;
  odd_before[i] = -1;
  if (values[i] % 2) {
    const auto odd = cg::coalesced_threads();
    odd_before[i] = static_cast<int>(odd.thread_rank());
  }
  block.sync();
}

int main() {
  int device = 0, can = 0, processors = 0, blocks = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device));
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, diffuse, 128, 0));
  program::expect(can == 1 && blocks > 0, "the device can launch cooperatively");

  int count = 2000, steps = 21;
  std::vector<float> now(count, 0.0f), next(count);
  for (int i = 0; i < count; i += 100) now[i] = static_cast<float>(i + 1);
  program::Device<float> on_now(now), on_next(count);
  float *now_pointer = on_now, *next_pointer = on_next;
  void* arguments[] = {&now_pointer, &next_pointer, &count, &steps};
  const int grid = processors * blocks < 8 ? processors * blocks : 8;
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(diffuse), dim3(grid), dim3(128), arguments, 0, nullptr));
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < count; ++i)
      next[i] = 0.25f * (i > 0 ? now[i - 1] : 0) + 0.5f * now[i] + 0.25f * (i + 1 < count ? now[i + 1] : 0);
    now.swap(next);
  }
  const auto found = on_next.read();
  bool is_right = true;
  for (int i = 0; i < count; ++i) is_right &= program::is_near(found[i], now[i], 1e-4);
  program::expect(is_right, "a grid waits for itself between steps");
  std::printf("heat: %016llx\n", program::checksum(found.data(), found.size() * sizeof(float)));

  const auto too_many = cudaLaunchCooperativeKernel(reinterpret_cast<void*>(diffuse), dim3(processors * blocks + 1),
                                                    dim3(128), arguments, 0, nullptr);
  std::printf("more blocks than fit at once: %s\n", cudaGetErrorName(too_many));
  program::expect(too_many == cudaErrorCooperativeLaunchTooLarge, "they are refused");
  (void)cudaGetLastError();

  const auto values = program::random_ints(512, 12, 100);
  const program::Device<int> on_values(values), of_8(64), of_32(16), before(512);
  tiles<<<4, 128>>>(on_values, of_8, of_32, before);
  CHECK(cudaGetLastError());
  std::vector<int> right_8(64), right_32(16), right_before(512, -1);
  for (int i = 0; i < 512; ++i) {
    right_8[i / 8] += values[i], right_32[i / 32] += values[i];
    if (values[i] % 2 == 0) continue;
    right_before[i] = 0;
    for (int other = i / 32 * 32; other < i; ++other) right_before[i] += values[other] % 2;
  }
  program::expect(of_8.read() == right_8 && of_32.read() == right_32, "tiles sum as the CPU");
  program::expect(before.read() == right_before, "threads that took a branch are counted in order");
  return program::verdict();
}
