// What may not be done, and the code that each says.
#include "program.h"

__global__ void nothing() {}
__global__ void out_of_bounds(int* memory) { memory[1u << 30] = 1; }

void expect_error(const char* what, cudaError_t error, cudaError_t wanted) {
  std::printf("%s: %s (%d), %s\n", what, cudaGetErrorName(error), error, cudaGetErrorString(error));
  if (error != wanted) std::printf("NOT OK: wanted %s\n", cudaGetErrorName(wanted)), ++program::failures;
  (void)cudaGetLastError();
}

template <class Launch>
cudaError_t launched(Launch launch) {
  launch();
  return cudaGetLastError();
}

int main() {
  int devices = 0, value = 0;
  void* memory = nullptr;
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaMalloc(&memory, 1024));

  expect_error("a device that is not there", cudaSetDevice(devices), cudaErrorInvalidDevice);
  expect_error("a device below zero", cudaSetDevice(-1), cudaErrorInvalidDevice);
  expect_error("an attribute that is not one", cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0),
               cudaErrorInvalidValue);
  expect_error("nowhere to put an answer", cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  expect_error("memory without end", cudaMalloc(&memory, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  expect_error("memory nowhere", cudaMalloc(static_cast<void**>(nullptr), 16), cudaErrorInvalidValue);
  CHECK(cudaMalloc(&memory, 1024));
  expect_error("freeing what is not memory of the device", cudaFree(&devices), cudaErrorInvalidValue);
  expect_error("freeing within memory", cudaFree(static_cast<char*>(memory) + 16), cudaErrorInvalidValue);
  expect_error("freeing nothing", cudaFree(nullptr), cudaSuccess);
  expect_error("a copy of a kind that is not one", cudaMemcpy(memory, &value, 4, static_cast<cudaMemcpyKind>(9)),
               cudaErrorInvalidMemcpyDirection);
  expect_error("a copy to nowhere", cudaMemcpy(nullptr, &value, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect_error("a copy beyond memory",
               cudaMemcpy(static_cast<char*>(memory) + 512, properties.name, (1 << 21) + 1024, cudaMemcpyHostToDevice),
               cudaErrorInvalidValue);
  expect_error("rows wider than their pitch", cudaMemcpy2D(memory, 8, &properties, 16, 16, 2, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue);
  expect_error("a fill of what is the host's", cudaMemset(&value, 0, 4), cudaErrorInvalidValue);

  expect_error("a grid of nothing", launched([] { nothing<<<0, 1>>>(); }), cudaErrorInvalidConfiguration);
  expect_error("a block of nothing", launched([] { nothing<<<1, 0>>>(); }), cudaErrorInvalidConfiguration);
  expect_error("a block of too many", launched([&] { nothing<<<1, properties.maxThreadsPerBlock + 1>>>(); }),
               cudaErrorInvalidConfiguration);
  expect_error("a block too deep", launched([&] { nothing<<<1, dim3(1, 1, properties.maxThreadsDim[2] + 1)>>>(); }),
               cudaErrorInvalidConfiguration);
  expect_error("a grid too wide", launched([&] { nothing<<<dim3(1, properties.maxGridSize[1] + 1), 1>>>(); }),
               cudaErrorInvalidConfiguration);
  expect_error("more shared memory than there is",
               launched([&] { nothing<<<1, 1, properties.sharedMemPerBlockOptin + 1>>>(); }), cudaErrorInvalidValue);
  expect_error("a launch that is right", launched([] { nothing<<<1, 1>>>(); }), cudaSuccess);

  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventRecord(event));
  CHECK(cudaEventSynchronize(event));
  float time = 0;
  expect_error("the time of an event without one", cudaEventElapsedTime(&time, event, event),
               cudaErrorInvalidResourceHandle);
  expect_error("an event with flags that are none", cudaEventCreateWithFlags(&event, 0x1000), cudaErrorInvalidValue);
  expect_error(
      "a stream with flags that are none",
      [] {
        cudaStream_t stream;
        return cudaStreamCreateWithFlags(&stream, 0x1000);
      }(),
      cudaErrorInvalidValue);
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  expect_error("an array of nothing", cudaMallocArray(&array, &format, 0, 5), cudaErrorInvalidValue);
  cudaGraph_t graph;
  expect_error("the end of a capture that did not begin", cudaStreamEndCapture(cudaStreamPerThread, &graph),
               cudaErrorIllegalState);

  // An error is kept until it is asked for, and only the last.
  (void)cudaSetDevice(devices);
  program::expect(cudaPeekAtLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice &&
                      cudaGetLastError() == cudaSuccess,
                  "an error is there until it is asked for");

  // From here on nothing works any more.
  out_of_bounds<<<1, 1>>>(static_cast<int*>(memory));
  expect_error("a kernel that writes where nothing is", cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  expect_error("anything after it", cudaMalloc(&memory, 16), cudaErrorIllegalAddress);
  expect_error("a launch after it", launched([] { nothing<<<1, 1>>>(); }), cudaErrorIllegalAddress);
  return program::verdict();
}
