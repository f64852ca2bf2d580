// Launches without end, with arguments of every size and alignment, grids of every shape, and shared memory by the
// launch.
#include "program.h"

__global__ void count_up(int* counter) { atomicAdd(counter, 1); }
__global__ void append(unsigned* list, unsigned value) { *list = *list * 31 + value; }

struct alignas(16) Vector {
  float x, y, z, w;
};
struct Large {
  unsigned values[1000];
};
struct Mixed {
  char a;
  double b;
  short c;
};

__global__ void sum_large(Large large, unsigned* sum) {
  __shared__ unsigned all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < 1000; i += blockDim.x) atomicAdd(&all, large.values[i]);
  __syncthreads();
  if (threadIdx.x == 0) *sum = all;
}
__global__ void mixed(char a, short b, int c, long long d, float e, double f, Vector g, Mixed h, bool i, double* out) {
  *out = a + b + c + static_cast<double>(d) + e + f + g.x + 2 * g.y + 3 * g.z + 4 * g.w + h.a + h.b + h.c + i;
}
__global__ void where(unsigned* found, int height, int width) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  found[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread + height * width;
}
__global__ void reverse(int* values) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

int main(int count, char** arguments) {
  const int launches = 10000 * program::scale(count, arguments);
  const program::Device<int> counter(std::vector<int>{0});
  for (int i = 0; i < launches; ++i) count_up<<<1, 1>>>(counter);
  CHECK(cudaGetLastError());
  program::expect(counter.read()[0] == launches, "every launch ran once");

  const program::Device<unsigned> list(std::vector<unsigned>{1});
  unsigned right = 1;
  for (unsigned i = 0; i < 2000; ++i) append<<<1, 1>>>(list, i), right = right * 31 + i;
  std::printf("in order: %08x\n", list.read()[0]);
  program::expect(list.read()[0] == right, "in the order of their stream");

  Large large;
  unsigned sum = 0;
  for (unsigned i = 0; i < 1000; ++i) sum += large.values[i] = i * i;
  const program::Device<unsigned> on_sum(1);
  sum_large<<<1, 128>>>(large, on_sum);
  CHECK(cudaGetLastError());
  program::expect(on_sum.read()[0] == sum, "4000 bytes by value");

  const program::Device<double> out(1);
  mixed<<<1, 1>>>(-1, 2, 300, -(1ll << 40), 0.5f, 0.25, Vector{1, 2, 3, 4}, Mixed{5, 6.5, 7}, true, out);
  CHECK(cudaGetLastError());
  const double wanted = -1 + 2 + 300 - static_cast<double>(1ll << 40) + 0.5 + 0.25 + 30 + 18.5 + 1;
  std::printf("mixed: %a\n", out.read()[0]);
  program::expect(out.read()[0] == wanted, "arguments of every alignment");

  const dim3 grid(3, 4, 5), block(7, 3, 2);
  const program::Device<unsigned> found(60 * 42);
  where<<<grid, block>>>(found, 6, 7);
  CHECK(cudaGetLastError());
  const auto places = found.read();
  bool is_right = true;
  for (unsigned i = 0; i < places.size(); ++i) is_right &= places[i] == i / 42 * 1000 + i % 42 + 42;
  program::expect(is_right, "grids and blocks of three dimensions");

  for (const int size : {32, 500, 1024}) {
    auto values = program::random_ints(size, 20, 1000);
    const program::Device<int> on_values(values);
    reverse<<<1, size, size * sizeof(int)>>>(on_values);
    CHECK(cudaGetLastError());
    is_right &= on_values.read() == std::vector<int>(values.rbegin(), values.rend());
  }
  program::expect(is_right, "shared memory as large as the launch says");
  int most = 0;
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  const program::Device<int> on_values(std::vector<int>{1, 2, 3, 4});
  reverse<<<1, 4, most>>>(on_values);
  CHECK(cudaGetLastError());
  program::expect(on_values.read() == std::vector<int>{4, 3, 2, 1}, "as much of it as the device has");
  return program::verdict();
}
