// Copies from the first device to the second and back without a pause, and checks every result: peer_load ROUNDS BYTES.
// ROUNDS of 0: until standard input ends. Prints "ready" after the first round. After an error it prints "error NAME in
// CALL", says "again" and the name of what another round ends with, and exits with 5; at the end "rounds N". Exit code
// 6: a wrong result.
#include <poll.h>
#include <unistd.h>

#include "test/cuda/program.h"

namespace {

std::size_t bytes = 0;
unsigned char* memory[2] = {};
cudaStream_t streams[2] = {};

bool input_ended() {
  pollfd input{0, POLLIN, 0};
  char byte;
  return poll(&input, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

#define TRY(call) \
  if (const auto error = (call); error != cudaSuccess) return *what = #call, error

/// There on a stream of the target, back on one of the source.
cudaError_t round_trip(int number, const char** what) {
  std::vector<unsigned char> found(2);
  TRY(cudaSetDevice(0));
  TRY(cudaMemsetAsync(memory[0], number & 0xff, bytes, streams[0]));
  TRY(cudaStreamSynchronize(streams[0]));
  TRY(cudaSetDevice(1));
  TRY(cudaMemsetAsync(memory[1], 0xee, bytes, streams[1]));
  TRY(cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, bytes, streams[1]));
  TRY(cudaStreamSynchronize(streams[1]));
  TRY(cudaSetDevice(0));
  TRY(cudaMemsetAsync(memory[0], 0xdd, bytes, streams[0]));
  TRY(cudaStreamSynchronize(streams[0]));
  TRY(cudaSetDevice(1));
  TRY(cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, bytes, streams[1]));
  TRY(cudaStreamSynchronize(streams[1]));
  TRY(cudaSetDevice(0));
  TRY(cudaMemcpy(&found[0], memory[0], 1, cudaMemcpyDeviceToHost));
  TRY(cudaMemcpy(&found[1], memory[0] + bytes - 1, 1, cudaMemcpyDeviceToHost));
  if (found[0] == (number & 0xff) && found[1] == (number & 0xff)) return cudaSuccess;
  std::printf("wrong in round %d: %d %d\n", number, found[0], found[1]);
  std::fflush(stdout);
  _exit(6);
}

}  // namespace

int main(int argc, char** argv) {
  const auto rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 20;
  for (int device = 0; device < 2; ++device) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&memory[device], bytes));
    CHECK(cudaStreamCreateWithFlags(&streams[device], cudaStreamNonBlocking));
  }
  int number = 0;
  for (; rounds == 0 || number < rounds; ++number) {
    const char* what = "";
    if (const auto error = round_trip(number, &what); error != cudaSuccess) {
      std::printf("error %s in %s\n", cudaGetErrorName(error), what);
      std::fflush(stdout);
      // Errors of what was under way are told once.
      for (int device = 0; device < 2; ++device)
        (void)cudaSetDevice(device), (void)cudaDeviceSynchronize(), (void)cudaGetLastError();
      std::printf("again %s\n", cudaGetErrorName(round_trip(1, &what)));
      std::fflush(stdout);
      _exit(5);
    }
    if (number == 0) std::printf("ready\n"), std::fflush(stdout);
    if (rounds == 0 && input_ended()) break;
  }
  std::printf("rounds %d\n", number);
}
