// What kernels print, in order and with every conversion, and an assertion that fails: an error that stays.
#include <cassert>

#include "program.h"

__global__ void greet(int value) { printf("thread %d of block %d says %d\n", threadIdx.x, blockIdx.x, value); }

__global__ void conversions() {
  printf("%d %i %u %x %X %o %c|%5d|%-5d|%05d|%+d\n", -7, 8, 9u, 255, 255, 8, 'z', 42, 42, 42, 42);
  printf("%f %.2f %e %g %8.3f|%a\n", 1.5, 2.0 / 3.0, 12345.678, 1e-5, 3.14159, 1.0);
  printf("%lld %llu %llx %ld\n", -1234567890123ll, 18446744073709551615ull, 0xfedcba9876543210ull, 5l);
  printf("%s and %s, %10s|%-10s|, 100%%\n", "one", "another", "right", "left");
  printf("%hd %hx %li %p\n", (short)-3, (unsigned short)0xfedc, -77l, (void*)0);
  printf("nothing to convert\n");
}

__global__ void all_must_be_even(const int* values) { assert(values[threadIdx.x] % 2 == 0); }

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (int i = 0; i < 3; ++i) {
    greet<<<1, 4>>>(i);
    CHECK(cudaDeviceSynchronize());
    std::printf("launch %d is over\n", i);
  }
  conversions<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  std::size_t size = 0;
  CHECK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
  program::expect(size >= 1 << 16, "there is room for what kernels print");

  const program::Device<int> even(std::vector<int>{2, 4, 6, 8}), odd(std::vector<int>{2, 4, 5, 8});
  all_must_be_even<<<1, 4>>>(even);
  CHECK(cudaDeviceSynchronize());
  program::expect(true, "an assertion that holds does nothing");
  all_must_be_even<<<1, 4>>>(odd);
  const auto error = cudaDeviceSynchronize();
  std::printf("an assertion that fails: %s\n", cudaGetErrorName(error));
  program::expect(error == cudaErrorAssert, "it is an error");
  void* memory = nullptr;
  const auto after = cudaMalloc(&memory, 16);
  std::printf("after it: %s\n", cudaGetErrorName(after));
  program::expect(after == cudaErrorAssert, "that stays");
  return program::verdict();
}
