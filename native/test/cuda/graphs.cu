// Graphs captured from streams and built by hand: launched, launched again, updated, cloned, with every kind of node a
// program uses.
#include "program.h"

__global__ void fill(int* values, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = value;
}
__global__ void add(int* out, const int* a, const int* b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = a[i] + b[i];
}
__global__ void multiply(int* values, int count, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

constexpr int kCount = 1000, kBlocks = (kCount + 127) / 128;

void print_nodes(cudaGraph_t graph) {
  std::size_t nodes = 0, edges = 0, roots = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  std::printf("%zu nodes, %zu edges, %zu roots\n", nodes, edges, roots);
}

void CUDART_CB count_up(void* data) { ++*static_cast<int*>(data); }

void captured() {
  int *a = nullptr, *b = nullptr, *out = nullptr, *host = nullptr;
  CHECK(cudaMalloc(&a, kCount * sizeof(int)));
  CHECK(cudaMalloc(&b, kCount * sizeof(int)));
  CHECK(cudaMalloc(&out, kCount * sizeof(int)));
  CHECK(cudaMallocHost(&host, kCount * sizeof(int)));
  cudaStream_t stream, other;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  int calls = 0;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(stream, &status));
  program::expect(status == cudaStreamCaptureStatusActive, "a stream knows that it captures");
  fill<<<kBlocks, 128, 0, stream>>>(a, kCount, 3);
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  fill<<<kBlocks, 128, 0, other>>>(b, kCount, 4);
  CHECK(cudaMemsetAsync(out, 0, kCount * sizeof(int), stream));
  CHECK(cudaEventRecord(join, other));
  CHECK(cudaStreamWaitEvent(stream, join, 0));
  add<<<kBlocks, 128, 0, stream>>>(out, a, b, kCount);
  CHECK(cudaMemcpyAsync(host, out, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(stream, count_up, &calls));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  print_nodes(graph);
  program::expect(host[0] == 0 && calls == 0, "nothing ran while it was captured");
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < 5; ++i) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  bool is_right = true;
  for (int i = 0; i < kCount; ++i) is_right &= host[i] == 7;
  program::expect(is_right && calls == 5, "a captured graph does it all, each time");

  // Another graph of the same shape in its place.
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  fill<<<kBlocks, 128, 0, stream>>>(a, kCount, 30);
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  fill<<<kBlocks, 128, 0, other>>>(b, kCount, 40);
  CHECK(cudaMemsetAsync(out, 0, kCount * sizeof(int), stream));
  CHECK(cudaEventRecord(join, other));
  CHECK(cudaStreamWaitEvent(stream, join, 0));
  add<<<kBlocks, 128, 0, stream>>>(out, a, b, kCount);
  CHECK(cudaMemcpyAsync(host, out, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(stream, count_up, &calls));
  cudaGraph_t second;
  CHECK(cudaStreamEndCapture(stream, &second));
  cudaGraphExecUpdateResultInfo result{};
  CHECK(cudaGraphExecUpdate(ready, second, &result));
  CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  program::expect(result.result == cudaGraphExecUpdateSuccess && host[0] == 70 && host[kCount - 1] == 70,
                  "an updated graph does the new work");

  // What may not be captured ends the capture.
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const auto refused = cudaStreamSynchronize(stream);
  cudaGraph_t broken = nullptr;
  const auto ended = cudaStreamEndCapture(stream, &broken);
  std::printf("waiting while capturing: %s; then the end: %s\n", cudaGetErrorName(refused), cudaGetErrorName(ended));
  program::expect(refused == cudaErrorStreamCaptureUnsupported && ended == cudaErrorStreamCaptureInvalidated && !broken,
                  "waiting breaks a capture");
  (void)cudaGetLastError();
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(second));
  CHECK(cudaEventDestroy(fork));
  CHECK(cudaEventDestroy(join));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaStreamDestroy(other));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(out));
  CHECK(cudaFreeHost(host));
}

cudaKernelNodeParams kernel(void* function, void** arguments) {
  cudaKernelNodeParams node{};
  node.func = function;
  node.gridDim = dim3(kBlocks);
  node.blockDim = dim3(128);
  node.kernelParams = arguments;
  return node;
}

void built() {
  int *values = nullptr, *host = nullptr;
  CHECK(cudaMalloc(&values, kCount * sizeof(int)));
  CHECK(cudaMallocHost(&host, kCount * sizeof(int)));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  int count = kCount, value = 5, factor = 6, calls = 0;
  void* fill_arguments[] = {&values, &count, &value};
  void* multiply_arguments[] = {&values, &count, &factor};
  auto fill_node = kernel(reinterpret_cast<void*>(fill), fill_arguments),
       multiply_node = kernel(reinterpret_cast<void*>(multiply), multiply_arguments);
  cudaGraphNode_t first, second, copied, called, nothing;
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &fill_node));
  CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &multiply_node));
  CHECK(
      cudaGraphAddMemcpyNode1D(&copied, graph, &second, 1, host, values, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  cudaHostNodeParams host_node{count_up, &calls};
  CHECK(cudaGraphAddHostNode(&called, graph, &copied, 1, &host_node));
  CHECK(cudaGraphAddEmptyNode(&nothing, graph, &called, 1));
  value = 99;  // arguments were taken when the node was added
  print_nodes(graph);
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(copied, &type));
  program::expect(type == cudaGraphNodeTypeMemcpy, "a node has its type");
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaGraphLaunch(ready, nullptr));
  CHECK(cudaDeviceSynchronize());
  program::expect(host[0] == 30 && host[kCount - 1] == 30 && calls == 1, "a graph that was built does its work");

  value = 7, factor = 8;
  CHECK(cudaGraphExecKernelNodeSetParams(ready, first, &fill_node));
  CHECK(cudaGraphExecKernelNodeSetParams(ready, second, &multiply_node));
  CHECK(cudaGraphLaunch(ready, nullptr));
  CHECK(cudaDeviceSynchronize());
  program::expect(host[0] == 56 && calls == 2, "nodes take new arguments");
  CHECK(cudaGraphNodeSetEnabled(ready, second, 0));
  CHECK(cudaGraphLaunch(ready, nullptr));
  CHECK(cudaDeviceSynchronize());
  program::expect(host[0] == 7 && calls == 3, "a node that is disabled does nothing");

  // The same within another graph, which is a copy.
  cudaGraph_t clone, parent;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphCreate(&parent, 0));
  cudaGraphNode_t once, again;
  CHECK(cudaGraphAddChildGraphNode(&once, parent, nullptr, 0, clone));
  CHECK(cudaGraphAddChildGraphNode(&again, parent, &once, 1, clone));
  cudaGraphExec_t whole;
  CHECK(cudaGraphInstantiate(&whole, parent, 0));
  CHECK(cudaGraphLaunch(whole, nullptr));
  CHECK(cudaDeviceSynchronize());
  program::expect(host[0] == 30 && calls == 5, "a graph in a graph runs as often as it is there");
  CHECK(cudaGraphExecDestroy(whole));
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(parent));
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(values));
  CHECK(cudaFreeHost(host));
}

/// Memory that lives as long as a launch.
void with_memory() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int *host = nullptr, *temporary = nullptr;
  CHECK(cudaMallocHost(&host, kCount * sizeof(int)));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&temporary, kCount * sizeof(int), stream));
  fill<<<kBlocks, 128, 0, stream>>>(temporary, kCount, 11);
  multiply<<<kBlocks, 128, 0, stream>>>(temporary, kCount, 3);
  CHECK(cudaMemcpyAsync(host, temporary, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(temporary, stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  print_nodes(graph);
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < 3; ++i) {
    host[0] = 0;
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    program::expect(host[0] == 33 && host[kCount - 1] == 33, "a graph with memory of its own does its work");
  }
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(host));
}

int main() {
  captured();
  built();
  with_memory();
  return program::verdict();
}
