// Functions of the host in the order of a stream: between kernels and copies, with what they find, and what they leave
// for what follows.
#include <atomic>
#include <string>

#include "program.h"

__global__ void add(int* value, int amount) { *value += amount; }
__global__ void add_from(int* value, const int* amount) { *value += *amount; }

struct Seen {
  int* copied;        ///< pinned; copied from the device before each call
  int* amount;        ///< pinned; copied to the device after it
  std::string order;
  cudaError_t status = cudaErrorUnknown;
  cudaError_t nested = cudaSuccess;
};

void CUDART_CB host_function(void* data) {
  auto& seen = *static_cast<Seen*>(data);
  seen.order += "host " + std::to_string(*seen.copied) + "\n";
  *seen.amount = *seen.copied * 10;
}

void CUDART_CB stream_callback(cudaStream_t, cudaError_t status, void* data) {
  auto& seen = *static_cast<Seen*>(data);
  seen.status = status;
  seen.order += "callback " + std::to_string(*seen.copied) + "\n";
}

void CUDART_CB calls_the_api(void* data) {
  void* memory = nullptr;
  static_cast<Seen*>(data)->nested = cudaMalloc(&memory, 16);
}

void CUDART_CB count_up(void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(1); }

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* value = nullptr;
  int* amount = nullptr;
  CHECK(cudaMalloc(&value, sizeof(int)));
  CHECK(cudaMalloc(&amount, sizeof(int)));
  CHECK(cudaMemset(value, 0, sizeof(int)));
  Seen seen;
  CHECK(cudaMallocHost(&seen.copied, sizeof(int)));
  CHECK(cudaMallocHost(&seen.amount, sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  for (int round = 1; round <= 4; ++round) {
    add<<<1, 1, 0, stream>>>(value, round);
    CHECK(cudaMemcpyAsync(seen.copied, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, host_function, &seen));
    CHECK(cudaMemcpyAsync(amount, seen.amount, sizeof(int), cudaMemcpyHostToDevice, stream));
    add_from<<<1, 1, 0, stream>>>(value, amount);
    CHECK(cudaMemcpyAsync(seen.copied, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamAddCallback(stream, stream_callback, &seen, 0));
  }
  CHECK(cudaStreamSynchronize(stream));
  std::printf("%s", seen.order.c_str());
  program::expect(seen.status == cudaSuccess, "a callback hears that all is well");
  int right = 0;
  std::string order;
  for (int round = 1; round <= 4; ++round) {
    right += round;
    order += "host " + std::to_string(right) + "\n";
    right += 10 * right;
    order += "callback " + std::to_string(right) + "\n";
  }
  program::expect(seen.order == order, "calls come in order, each after what is before it");

  CHECK(cudaLaunchHostFunc(stream, calls_the_api, &seen));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("a call of the API from a host function: %s\n", cudaGetErrorName(seen.nested));
  program::expect(seen.nested == cudaErrorNotPermitted, "it is not permitted");

  // Two streams, one waiting for the other's function.
  cudaStream_t other;
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  std::atomic<int> count{0};
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  constexpr int kMany = 200;
  for (int i = 0; i < kMany; ++i) CHECK(cudaLaunchHostFunc(stream, count_up, &count));
  CHECK(cudaEventRecord(event, stream));
  CHECK(cudaStreamWaitEvent(other, event, 0));
  std::atomic<int>* counter = &count;
  CHECK(cudaLaunchHostFunc(
      other,
      [](void* data) {
        if (**static_cast<std::atomic<int>**>(data) == kMany) **static_cast<std::atomic<int>**>(data) += 1000;
      },
      &counter));
  CHECK(cudaStreamSynchronize(other));
  program::expect(count == kMany + 1000, "a stream that waits for functions of another runs behind them");
  CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(other));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(value));
  CHECK(cudaFree(amount));
  CHECK(cudaFreeHost(seen.copied));
  CHECK(cudaFreeHost(seen.amount));
  return program::verdict();
}
