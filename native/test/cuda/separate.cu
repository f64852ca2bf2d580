// nvcc: -rdc=true
// with: parts/numbers.cu
// Kernels that use functions, variables and constants of another file: linked for the device, or at load where only PTX
// is there.
#include "program.h"

extern __device__ int calls;
extern __constant__ int weights[4];
extern __device__ int weighted(const int* values);
extern __device__ int (*chosen)(int);
extern __global__ void negate(int* values);

__global__ void weigh(const int* values, int* sums) {
  sums[threadIdx.x] = weighted(values + 4 * threadIdx.x) + weights[0];
}
__global__ void through_pointer(int* values) { values[threadIdx.x] = chosen(values[threadIdx.x]); }

int main() {
  const auto values = program::random_ints(4 * 32, 40, 10);
  const program::Device<int> on_values(values), sums(32);
  weigh<<<1, 32>>>(on_values, sums);
  CHECK(cudaGetLastError());
  std::vector<int> right(32, 1);
  for (int i = 0; i < 128; ++i)
    right[i / 4] += values[i] * (i % 4 == 0 ? 1 : i % 4 == 1 ? 10 : i % 4 == 2 ? 100 : 1000);
  program::expect(sums.read() == right, "a kernel calls a function of another file");
  int count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  program::expect(count == 32, "and shares a variable with it");
  negate<<<1, 32>>>(sums);
  through_pointer<<<1, 32>>>(sums);
  CHECK(cudaGetLastError());
  for (auto& value : right) value *= -3;
  program::expect(sums.read() == right, "kernels of both run, and calls go through pointers");
  program::print_checksum("sums", right);
  return program::verdict();
}
