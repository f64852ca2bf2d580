// Takes BYTES of the first device's memory, prints "ready" or "error NAME", and keeps them until standard input ends:
// keep BYTES [endless]. endless: a kernel runs all that time, and would for ever.
#include <unistd.h>

#include "test/cuda/program.h"

namespace {

__global__ void endless(volatile int* flag) {
  while (*flag == 0) {}
}

bool is_good(cudaError_t error) {
  if (error != cudaSuccess) std::printf("error %s\n", cudaGetErrorName(error));
  return error == cudaSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  const auto bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1 << 20;
  int* memory = nullptr;
  if (!is_good(cudaMalloc(&memory, bytes)) || !is_good(cudaMemset(memory, 0, bytes)) ||
      !is_good(cudaDeviceSynchronize()))
    return 5;
  if (argc > 2) {
    endless<<<1, 1>>>(memory);
    if (!is_good(cudaGetLastError()) || cudaStreamQuery(nullptr) != cudaErrorNotReady) return 5;
  }
  std::printf("ready\n");
  std::fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {}
  _exit(0);
}
