// What a kernel asks of its system: printing, memory, assertions, textures, cooperation of all blocks.
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>

extern "C" __global__ void print(float scale) {
  printf("thread %d of %u: %5.2f %s %lld %c%%\n", threadIdx.x, blockDim.x, threadIdx.x * scale, "text", 1LL << 40, 'x');
  if (threadIdx.x == 0) printf("no arguments\n");
}

extern "C" __global__ void asserts(int limit) { assert(threadIdx.x < limit && "too many"); }

extern "C" __global__ void heap(int* out) {
  int* memory = (int*)malloc(64 * sizeof(int));
  for (int i = 0; i < 64; ++i) memory[i] = i * threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += memory[i];
  out[threadIdx.x] = sum;
  free(memory);
}

extern "C" __global__ void fetch(cudaTextureObject_t texture, cudaTextureObject_t line, float* out, int w, int h) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * w + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f) + tex1Dfetch<float>(line, x);
}

extern "C" __global__ void surface(cudaSurfaceObject_t s, int w) {
  const int x = threadIdx.x, y = threadIdx.y;
  float v;
  surf2Dread(&v, s, x * 4, y);
  surf2Dwrite(v * 2 + y, s, x * 4, y);
}

extern "C" __global__ void grid_sync(int* data, int rounds) {
  auto grid = cooperative_groups::this_grid();
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const int next = data[(i + 1) % n];
    grid.sync();
    data[i] = next + 1;
    grid.sync();
  }
}

extern "C" __global__ void groups(int* out) {
  namespace cg = cooperative_groups;
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = threadIdx.x;
  for (int d = 4; d > 0; d /= 2) v += tile.shfl_down(v, d);
  if (threadIdx.x % 3 == 0) {
    auto active = cg::coalesced_threads();
    v += 1000 * active.size() + 100000 * active.thread_rank();
  }
  out[threadIdx.x] = v;
}

__device__ int last;
__constant__ float weights[4] = {0.5f, 1.5f, -2.0f, 8.0f};
extern "C" __global__ void last_block(const float* in, float* out, int* order) {
  __shared__ bool is_last;
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x] * weights[threadIdx.x % 4];
  __threadfence();
  if (threadIdx.x == 0) is_last = atomicAdd(&last, 1) == gridDim.x - 1;
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < gridDim.x * blockDim.x; ++i) sum += out[i];
    out[gridDim.x * blockDim.x] = sum;
    *order = blockIdx.x;
  }
}
