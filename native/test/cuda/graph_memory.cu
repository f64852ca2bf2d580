// Graphs that touch the program's own memory at every launch: bytes in, bytes out, host functions between them, again
// and again without waiting.
#include <algorithm>

#include "program.h"

__global__ void step(int* values, int count, int add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * 2 + add;
}

constexpr int kCount = 3000, kBlocks = (kCount + 127) / 128;

struct Both {
  int *from, *to, count, calls;
};
void CUDART_CB carry(void* data) {
  auto* both = static_cast<Both*>(data);
  for (int i = 0; i < both->count; ++i) both->to[i] = both->from[i] + 1;
  ++both->calls;
}

/// In, compute, out, a host function that reads what came out and writes what goes in next, in, compute, out.
void through_the_host() {
  int *device, *in, *middle, *second, *out;
  CHECK(cudaMalloc(&device, kCount * sizeof(int)));
  for (auto** one : {&in, &middle, &second, &out}) CHECK(cudaMallocHost(one, kCount * sizeof(int)));
  std::memset(out, 0, kCount * sizeof(int));
  Both both{middle, second, kCount, 0};
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(device, in, kCount * sizeof(int), cudaMemcpyHostToDevice, stream));
  step<<<kBlocks, 128, 0, stream>>>(device, kCount, 1);
  CHECK(cudaMemcpyAsync(middle, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(stream, carry, &both));
  CHECK(cudaMemcpyAsync(device, second, kCount * sizeof(int), cudaMemcpyHostToDevice, stream));
  step<<<kBlocks, 128, 0, stream>>>(device, kCount, 3);
  CHECK(cudaMemcpyAsync(out, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  bool is_right = true;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kCount; ++i) in[i] = i + round;
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < kCount; ++i) is_right &= out[i] == ((i + round) * 2 + 1 + 1) * 2 + 3;
  }
  program::expect(is_right && both.calls == 3, "bytes go in and out, and through a host function, at each launch");

  // Nobody waits between launches: each reads what the one before has left in the program's memory.
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(device, in, kCount * sizeof(int), cudaMemcpyHostToDevice, stream));
  step<<<kBlocks, 128, 0, stream>>>(device, kCount, 1);
  CHECK(cudaMemcpyAsync(in, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < kCount; ++i) in[i] = i;
  for (int round = 0; round < 10; ++round) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  is_right = true;
  for (int i = 0; i < kCount; ++i) is_right &= in[i] == i * 1024 + 1023;
  program::expect(is_right, "a launch reads what the launch before it wrote");

  // What is on the stream besides takes its place among them.
  for (int i = 0; i < kCount; ++i) in[i] = i;
  Both plus{in, in, kCount, 0};
  for (int round = 0; round < 4; ++round) {
    CHECK(cudaLaunchHostFunc(stream, carry, &plus));
    CHECK(cudaGraphLaunch(ready, stream));
  }
  CHECK(cudaMemcpyAsync(out, in, kCount * sizeof(int), cudaMemcpyHostToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  is_right = true;
  for (int i = 0; i < kCount; ++i) {
    int value = i;
    for (int round = 0; round < 4; ++round) value = (value + 1) * 2 + 1;
    is_right &= out[i] == value;
  }
  program::expect(is_right && plus.calls == 4, "host functions of the stream and launches are in order");
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(device));
  for (auto* one : {in, middle, second, out}) CHECK(cudaFreeHost(one));
}

/// Megabytes, which travel beside the messages, and rows with a pitch.
void large_and_in_rows() {
  constexpr int kLarge = 1 << 20, kWidth = 100, kRows = 37;
  std::vector<int> in(kLarge), out(kLarge);
  int* device = nullptr;
  CHECK(cudaMalloc(&device, kLarge * sizeof(int)));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t write, work, read;
  CHECK(cudaGraphAddMemcpyNode1D(&write, graph, nullptr, 0, device, in.data(), kLarge * sizeof(int),
                                 cudaMemcpyHostToDevice));
  int count = kLarge, add = 5;
  void* arguments[] = {&device, &count, &add};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(step);
  kernel.gridDim = dim3(kLarge / 128);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&work, graph, &write, 1, &kernel));
  CHECK(cudaGraphAddMemcpyNode1D(&read, graph, &work, 1, out.data(), device, kLarge * sizeof(int),
                                 cudaMemcpyDeviceToHost));
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  bool is_right = true;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kLarge; ++i) in[i] = i ^ round;
    CHECK(cudaGraphLaunch(ready, nullptr));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < kLarge; ++i) is_right &= out[i] == (i ^ round) * 2 + 5;
  }
  program::expect(is_right, "megabytes of pageable memory in and out");

  // Another place in the program's memory, without another graph.
  std::vector<int> other(kLarge, 7), result(kLarge);
  CHECK(cudaGraphExecMemcpyNodeSetParams1D(ready, write, device, other.data(), kLarge * sizeof(int),
                                           cudaMemcpyHostToDevice));
  CHECK(cudaGraphExecMemcpyNodeSetParams1D(ready, read, result.data(), device, kLarge * sizeof(int),
                                           cudaMemcpyDeviceToHost));
  CHECK(cudaGraphLaunch(ready, nullptr));
  CHECK(cudaDeviceSynchronize());
  program::expect(result[0] == 19 && result[kLarge - 1] == 19 && out[1] != 19,
                  "copies of an instantiated graph go elsewhere");
  CHECK(cudaGraphNodeSetEnabled(ready, write, 0));
  CHECK(cudaGraphLaunch(ready, nullptr));
  CHECK(cudaDeviceSynchronize());
  program::expect(result[0] == 43, "a copy that is disabled leaves what was there");
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));

  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* rows = nullptr;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(reinterpret_cast<void**>(&rows), &pitch, kWidth * sizeof(int), kRows));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemset2DAsync(rows, pitch, 0, kWidth * sizeof(int), kRows, stream));
  CHECK(cudaMemcpy2DAsync(rows, pitch, in.data(), 2 * kWidth * sizeof(int), kWidth * sizeof(int), kRows - 1,
                          cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpy2DAsync(out.data(), 3 * kWidth * sizeof(int), rows, pitch, kWidth * sizeof(int), kRows,
                          cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  std::fill(out.begin(), out.end(), -1);
  CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  is_right = true;
  for (int y = 0; y < kRows; ++y) {
    for (int x = 0; x < kWidth; ++x)
      is_right &= out[y * 3 * kWidth + x] == (y < kRows - 1 ? in[y * 2 * kWidth + x] : 0);
    if (y < kRows - 1) is_right &= out[y * 3 * kWidth + kWidth] == -1;
  }
  program::expect(is_right, "rows in and out, and nothing between them");
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(rows));
  CHECK(cudaFree(device));
}

/// A thousand launches, and the program waits once.
void a_thousand_times() {
  int* device = nullptr;
  int host = 0, calls = 0;
  CHECK(cudaMalloc(&device, sizeof(int)));
  CHECK(cudaMemset(device, 0, sizeof(int)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step<<<1, 1, 0, stream>>>(device, 1, 1);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < 1000; ++i) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaMemcpyAsync(&host, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  program::expect(host == -1, "a thousand launches of a kernel, each behind the one before");
  CHECK(cudaGraphExecDestroy(ready));

  int* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = 0;
  struct Counted {
    int *value, *calls;
  } counted{pinned, &calls};
  cudaGraph_t with_host;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(device, pinned, sizeof(int), cudaMemcpyHostToDevice, stream));
  step<<<1, 1, 0, stream>>>(device, 1, 0);
  CHECK(cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(
      stream,
      [](void* data) {
        auto* of = static_cast<Counted*>(data);
        *of->value = *of->value / 2 + 1;
        ++*of->calls;
      },
      &counted));
  CHECK(cudaStreamEndCapture(stream, &with_host));
  CHECK(cudaGraphInstantiate(&ready, with_host, 0));
  for (int i = 0; i < 400; ++i) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaGraphExecDestroy(ready));  // what was launched goes on
  CHECK(cudaStreamSynchronize(stream));
  program::expect(*pinned == 400 && calls == 400,
                  "four hundred launches with bytes both ways and a host function, and no wait between them");
  CHECK(cudaGraphDestroy(with_host));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(device));
}

/// Of a device that is shared: what a graph allocates is charged from the moment its node is there, whether the graph
/// is launched or not.
void share() {
  std::size_t before = 0, with = 0, after = 0, total = 0;
  CHECK(cudaMemGetInfo(&before, &total));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t node;
  cudaMemAllocNodeParams wish{};
  wish.poolProps.allocType = cudaMemAllocationTypePinned;
  wish.poolProps.location.type = cudaMemLocationTypeDevice;
  wish.bytesize = total / 2;
  CHECK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wish));
  CHECK(cudaMemGetInfo(&with, &total));
  program::expect(before - with == total / 2, "a node's memory is charged");
  wish.bytesize += total / 4;
  const auto refused = cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wish);
  std::printf("more than there is: %s\n", cudaGetErrorName(refused));
  program::expect(refused == cudaErrorMemoryAllocation, "and refused beyond the share");
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaMemGetInfo(&after, &total));
  program::expect(after == before, "and given back with the graph and what was made of it");
}

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "share") == 0) {
    share();
    return program::verdict();
  }
  through_the_host();
  large_and_in_rows();
  a_thousand_times();
  return program::verdict();
}
