// nvcc: --default-stream per-thread
// Threads with a default stream each: they compute at once, their errors are their own, and each has the device it
// chose.
#include <atomic>
#include <thread>

#include "program.h"

constexpr int kThreads = 4, kCount = 2000, kRounds = 30;

__global__ void next(unsigned* values, int count, unsigned seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * 1664525u + seed + i;
}

/// Waits until somebody else writes: only where two run at once does it end soon.
__global__ void wait_for(volatile int* flag, int* was_seen) {
  for (long long spins = 0; spins < 30000000 && !*flag; ++spins) {}
  *was_seen = *flag;
}
__global__ void raise(volatile int* flag) { *flag = 1; }

bool compute(int thread, int devices) {
  CHECK(cudaSetDevice(thread % devices));
  std::vector<unsigned> values(kCount, thread), right(values);
  unsigned* memory = nullptr;
  CHECK(cudaMalloc(&memory, kCount * sizeof(unsigned)));
  CHECK(cudaMemcpyAsync(memory, values.data(), kCount * sizeof(unsigned), cudaMemcpyHostToDevice));
  for (int round = 0; round < kRounds; ++round) {
    next<<<(kCount + 255) / 256, 256>>>(memory, kCount, round * 10 + thread);
    for (unsigned i = 0; i < kCount; ++i) right[i] = right[i] * 1664525u + round * 10 + thread + i;
    if (round % 10 == thread) {
      CHECK(cudaMemcpyAsync(values.data(), memory, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
      CHECK(cudaStreamSynchronize(nullptr));
      if (values != right) return false;
    }
  }
  CHECK(cudaMemcpy(values.data(), memory, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(memory));
  // This thread's mistake is nobody else's.
  if (cudaSetDevice(1000) != cudaErrorInvalidDevice || cudaPeekAtLastError() != cudaErrorInvalidDevice) return false;
  std::thread([&] {
    if (cudaPeekAtLastError() != cudaSuccess) right.clear();
  }).join();
  int device = -1;
  CHECK(cudaGetDevice(&device));
  return cudaGetLastError() == cudaErrorInvalidDevice && device == thread % devices && values == right;
}

int main() {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { right += compute(i, devices); });
  for (auto& thread : threads) thread.join();
  program::expect(right == kThreads, "every thread computes what it should");

  CHECK(cudaSetDevice(0));
  const program::Device<int> flag(std::vector<int>{0}), was_seen(std::vector<int>{0});
  wait_for<<<1, 1>>>(flag, was_seen);
  std::thread([&] {
    CHECK(cudaSetDevice(0));
    raise<<<1, 1>>>(flag);
    CHECK(cudaStreamSynchronize(nullptr));
  }).join();
  CHECK(cudaDeviceSynchronize());
  program::expect(was_seen.read()[0] == 1, "two threads' kernels run at once");

  bool is_known = false;
  std::thread([&] {
    cudaPointerAttributes attributes{};
    is_known = cudaPointerGetAttributes(&attributes, flag) == cudaSuccess && attributes.type == cudaMemoryTypeDevice &&
               attributes.device == 0;
  }).join();
  program::expect(is_known, "a thread that did nothing before knows whose memory it is");
  return program::verdict();
}
