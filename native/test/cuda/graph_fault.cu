// A kernel of a graph fails: what the graph would have brought and called afterwards does not come, and nobody waits
// for it.
#include "program.h"

__global__ void fail_at(int* values, int where) {
  values[threadIdx.x] = 1;
  if (threadIdx.x == where) __trap();
}

int main() {
  int *device = nullptr, *host = nullptr, calls = 0;
  CHECK(cudaMalloc(&device, 64 * sizeof(int)));
  CHECK(cudaMallocHost(&host, 64 * sizeof(int)));
  host[0] = -1;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(device, host, 64 * sizeof(int), cudaMemcpyHostToDevice, stream));
  fail_at<<<1, 64, 0, stream>>>(device, 5);
  CHECK(cudaMemcpyAsync(host, device, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(stream, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaGraphLaunch(ready, stream));
  const auto reported = cudaStreamSynchronize(stream), again = cudaGraphLaunch(ready, stream);
  std::printf("the launch: %s; the next one: %s\n", cudaGetErrorName(reported), cudaGetErrorName(again));
  program::expect(reported == cudaErrorLaunchFailure && again == cudaErrorLaunchFailure,
                  "a graph whose kernel fails says so, and so does all that follows");
  program::expect(host[0] == -1 && calls == 0, "nothing behind it came or ran");
  std::printf("memory given back: %s\n", cudaGetErrorName(cudaFreeHost(host)));
  return program::verdict();
}
