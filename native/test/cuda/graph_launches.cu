// Launches a small graph as often as the argument says, and waits once: how many times that asks the server is counted
// by who runs it.
#include "program.h"

__global__ void count_up(int* value) { ++*value; }

int main(int count, char** arguments) {
  const int launches = 100 * program::scale(count, arguments);
  program::Device<int> value(std::vector<int>{0});
  int* host = nullptr;
  CHECK(cudaMallocHost(&host, sizeof(int)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 5; ++i) count_up<<<1, 1, 0, stream>>>(value);
  CHECK(cudaMemcpyAsync(host, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < launches; ++i) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("%d launches\n", launches);
  program::expect(*host == launches * 5, "every kernel of every launch ran, and the last bytes are here");
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(host));
  return program::verdict();
}
