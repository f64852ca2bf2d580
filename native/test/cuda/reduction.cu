// Sums, extremes and dot products: trees in shared memory, then shuffles within a warp, then one block over what the
// blocks gave.
#include <climits>

#include "program.h"

struct Sum {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Least {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Most {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class T, class Combine>
__device__ T over_warp(T value, Combine combine) {
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, __shfl_down_sync(0xffffffffu, value, offset));
  return value;
}

template <class T, class Combine>
__global__ void reduce(const T* values, T* results, int count, T identity, Combine combine) {
  extern __shared__ unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  T mine = identity;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    mine = combine(mine, values[i]);
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x >= 32) return;
  const T all = over_warp(shared[threadIdx.x], combine);
  if (threadIdx.x == 0) results[blockIdx.x] = all;
}

template <class T, class Combine>
T reduced(const std::vector<T>& values, T identity, Combine combine) {
  constexpr int kBlocks = 24, kThreads = 128;
  const program::Device<T> on_values(values), on_blocks(kBlocks), on_result(1);
  reduce<<<kBlocks, kThreads, kThreads * sizeof(T)>>>((const T*)on_values, (T*)on_blocks, (int)values.size(), identity,
                                                      combine);
  reduce<<<1, 64, 64 * sizeof(T)>>>((const T*)on_blocks, (T*)on_result, kBlocks, identity, combine);
  CHECK(cudaGetLastError());
  return on_result.read()[0];
}

template <class T, class Combine>
T on_cpu(const std::vector<T>& values, T result, Combine combine) {
  for (const auto value : values) result = combine(result, value);
  return result;
}

int main(int count, char** arguments) {
  const int size = 100003 * program::scale(count, arguments);
  const auto ints = program::random_ints(size, 5, 20000);
  const auto sum = reduced(ints, 0, Sum()), least = reduced(ints, INT_MAX, Least()),
             most = reduced(ints, INT_MIN, Most());
  std::printf("ints: sum %d, least %d, most %d\n", sum, least, most);
  program::expect(
      sum == on_cpu(ints, 0, Sum()) && least == on_cpu(ints, INT_MAX, Least()) && most == on_cpu(ints, INT_MIN, Most()),
      "ints are the CPU's");

  const std::vector<long long> wide(ints.begin(), ints.end());
  const auto wide_sum = reduced(wide, 0LL, Sum());
  std::printf("long longs: sum %lld\n", wide_sum);
  program::expect(wide_sum == on_cpu(wide, 0LL, Sum()), "long longs are the CPU's");

  const auto floats = program::random_floats(size, 6);
  const auto float_sum = reduced(floats, 0.0f, Sum()), float_most = reduced(floats, -2.0f, Most());
  const std::vector<double> doubles(floats.begin(), floats.end());
  const auto double_sum = reduced(doubles, 0.0, Sum());
  std::printf("floats: sum %a, most %a; doubles: sum %a\n", float_sum, float_most, double_sum);
  const auto right = on_cpu(doubles, 0.0, Sum());
  program::expect(program::is_near(float_sum, right, 1e-3) && float_most == on_cpu(floats, -2.0f, Most()),
                  "floats are the CPU's");
  program::expect(program::is_near(double_sum, right, 1e-12), "doubles are the CPU's");
  return program::verdict();
}
