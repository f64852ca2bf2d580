// Works the first device without a pause and checks every result: load ROUNDS BYTES. ROUNDS of 0: until standard input
// ends. Prints "ready" after the first round; at the end "rounds N", or "error NAME in CALL after N" and exit code 5.
// Exit code 6: a wrong result.
#include <poll.h>
#include <unistd.h>

#include "test/cuda/program.h"

namespace {

std::size_t round_number = 0;

void stop_on(const char* call, cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("error %s in %s after %zu\n", cudaGetErrorName(error), call, round_number);
  std::fflush(stdout);
  _exit(5);  // whether a process ends well whose device is lost is tried by the programs that end well
}

bool input_ended() {
  pollfd input{0, POLLIN, 0};
  char byte;
  return poll(&input, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

__global__ void advance(std::uint32_t* values, std::uint32_t count, std::uint32_t k) {
  for (auto i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    values[i] = values[i] * 3 + k;
}

}  // namespace

int main(int argc, char** argv) {
  const auto rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1,
             bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 20;
  const auto count = static_cast<std::uint32_t>(bytes / 4),
             worked = count < 4096 ? count : 4096;  // a device in software takes its time for each
  std::uint32_t* memory = nullptr;
  stop_on("cudaMalloc", cudaMalloc(&memory, bytes));
  cudaStream_t stream = nullptr;
  stop_on("cudaStreamCreate", cudaStreamCreate(&stream));
  std::vector<std::uint32_t> given(count), found(count);
  for (round_number = 0; rounds == 0 || round_number < rounds; ++round_number) {
    const auto k = static_cast<std::uint32_t>(round_number * 7 + 1);
    for (std::size_t i = 0; i < count; i += 1 + i / 64) given[i] = static_cast<std::uint32_t>(i * 31 + round_number);
    stop_on("write", cudaMemcpyAsync(memory, given.data(), bytes, cudaMemcpyHostToDevice, stream));
    advance<<<8, 128, 0, stream>>>(memory, worked, k);
    stop_on("launch", cudaGetLastError());
    stop_on("read", cudaMemcpyAsync(found.data(), memory, bytes, cudaMemcpyDeviceToHost, stream));
    stop_on("wait", cudaStreamSynchronize(stream));
    for (std::size_t i = 0; i < count; ++i) {
      const auto wanted = i < worked ? given[i] * 3 + k : given[i];
      if (found[i] == wanted) continue;
      std::printf("wrong at %zu in round %zu: %u instead of %u\n", i, round_number, found[i], wanted);
      return 6;
    }
    if (round_number == 0) std::printf("ready\n"), std::fflush(stdout);
    if (rounds == 0 && input_ended()) break;
  }
  std::printf("rounds %zu\n", round_number);
  cudaStreamDestroy(stream);
  cudaFree(memory);
}
