// One graph over all devices: what each computes goes on to the next, the program's own memory and functions are in
// between. Arguments: how often it is launched before anybody waits; a word: until it fails, with "ready" after the
// first time.
#include <numeric>

#include "program.h"

namespace {

__global__ void add(int* values, int count, int much) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += much;
}
__global__ void add_all(int* values, const int* more, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += more[i];
}

constexpr int kCount = 1500, kBlocks = (kCount + 127) / 128;
constexpr std::size_t kBytes = kCount * sizeof(int);

struct On {
  int *values = nullptr, *arrived = nullptr;
  cudaStream_t stream = nullptr;
};
std::vector<On> each;
int *into = nullptr, *out = nullptr, *late = nullptr;   // of this process, pinned

On& use(std::size_t device) {
  CHECK(cudaSetDevice(static_cast<int>(device)));
  return each[device];
}

/// What is put on the stream of one device from now on comes after what is on that of another.
void behind(std::size_t device, std::size_t other) {
  cudaEvent_t event;
  use(other);
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventRecord(event, each[other].stream));
  CHECK(cudaStreamWaitEvent(use(device).stream, event, 0));
  use(other);
  CHECK(cudaEventDestroy(event));
}

/// Bytes that have come here are seen, and what is written here leaves later in the same launch.
void CUDART_CB pass_on(void*) {
  for (int i = 0; i < kCount; ++i) late[i] = out[i] * 3 + 1;
}

cudaGraph_t captured(int much) {
  const auto first = use(0).stream;
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(each[0].arrived, into, kBytes, cudaMemcpyHostToDevice, first));
  for (std::size_t device = 1; device < each.size(); ++device) behind(device, 0);
  for (std::size_t device = 0; device < each.size(); ++device) {
    const auto& on = use(device);
    add<<<kBlocks, 128, 0, on.stream>>>(on.values, kCount, much + static_cast<int>(device));
  }
  add_all<<<kBlocks, 128, 0, use(0).stream>>>(each[0].values, each[0].arrived, kCount);
  for (std::size_t device = 0; device + 1 < each.size(); ++device) {
    const auto next = device + 1;
    behind(next, device);
    CHECK(cudaMemcpyAsync(use(next).arrived, each[device].values, kBytes, cudaMemcpyDeviceToDevice, each[next].stream));
    add_all<<<kBlocks, 128, 0, each[next].stream>>>(each[next].values, each[next].arrived, kCount);
  }
  const auto last = use(each.size() - 1);
  CHECK(cudaMemcpyAsync(out, last.values, kBytes, cudaMemcpyDeviceToHost, last.stream));
  CHECK(cudaLaunchHostFunc(last.stream, pass_on, nullptr));
  behind(0, each.size() - 1);
  CHECK(cudaMemcpyAsync(use(0).arrived, late, kBytes, cudaMemcpyHostToDevice, first));
  CHECK(cudaMemsetAsync(each[0].values, 0, kBytes / 2, first));
  add_all<<<kBlocks, 128, 0, first>>>(each[0].values, each[0].arrived, kCount);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(first, &graph));
  return graph;
}

/// The same on the CPU.
struct Model {
  std::vector<std::vector<int>> values;
  void launch(int much, bool is_first_copied = true) {
    const auto count = values.size();
    for (int i = 0; i < kCount; ++i) {
      for (std::size_t device = 0; device < count; ++device) values[device][i] += much + static_cast<int>(device);
      values[0][i] += into[i];
      for (std::size_t device = 0; device + 1 < count; ++device) {
        auto& arrived = arrivals[device + 1][i];
        if (device > 0 || is_first_copied) arrived = values[device][i];
        values[device + 1][i] += arrived;
      }
      const auto passed = values[count - 1][i] * 3 + 1;
      if (i < kCount / 2) values[0][i] = 0;
      values[0][i] += passed;
    }
  }
  std::vector<std::vector<int>> arrivals;
};

bool holds(const Model& model) {
  bool is_right = true;
  for (std::size_t device = 0; device < each.size(); ++device) {
    std::vector<int> found(kCount);
    CHECK(cudaMemcpy(found.data(), use(device).values, kBytes, cudaMemcpyDeviceToHost));
    is_right &= found == model.values[device];
    program::print_checksum("values", found);
  }
  return is_right;
}

/// The copy from the first device to the second.
cudaGraphNode_t first_copy(cudaGraph_t graph) {
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
  for (const auto node : nodes) {
    cudaGraphNodeType type;
    cudaMemcpy3DParms copy{};
    CHECK(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeMemcpy) continue;
    CHECK(cudaGraphMemcpyNodeGetParams(node, &copy));
    if (copy.dstPtr.ptr == each[1].arrived) return node;
  }
  return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
  const int launches = program::scale(count, arguments);
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  each.resize(devices);
  for (auto* const host : {&into, &out, &late}) CHECK(cudaMallocHost(host, kBytes));
  std::iota(into, into + kCount, 5);
  Model model;
  for (int device = 0; device < devices; ++device) {
    auto& on = use(device);
    CHECK(cudaMalloc(&on.values, kBytes));
    CHECK(cudaMalloc(&on.arrived, kBytes));
    CHECK(cudaMemset(on.values, 0, kBytes));
    CHECK(cudaMemset(on.arrived, 0, kBytes));
    CHECK(cudaStreamCreate(&on.stream));
    CHECK(cudaDeviceSynchronize());
    model.values.emplace_back(kCount);
    model.arrivals.emplace_back(kCount);
  }
  const auto graph = captured(7);
  cudaGraphExec_t ready;
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 1; count > 2; ++i) {
    CHECK(cudaGraphLaunch(ready, use(0).stream));
    if (i % launches != 0) continue;
    CHECK(cudaStreamSynchronize(each[0].stream));
    if (i == launches) std::printf("ready\n"), std::fflush(stdout);
  }

  for (int i = 0; i < launches; ++i) CHECK(cudaGraphLaunch(ready, use(0).stream));
  CHECK(cudaStreamSynchronize(each[0].stream));
  for (int i = 0; i < launches; ++i) model.launch(7);
  program::expect(holds(model), "each device went on with what the one before it had");

  // What the application's stream did before is there, and what it does after waits for all devices.
  const auto last = use(each.size() - 1);
  add<<<kBlocks, 128, 0, last.stream>>>(last.values, kCount, 11);
  CHECK(cudaGraphLaunch(ready, last.stream));
  add<<<kBlocks, 128, 0, last.stream>>>(last.values, kCount, 13);
  CHECK(cudaStreamSynchronize(last.stream));
  for (auto& value : model.values.back()) value += 11;
  model.launch(7);
  for (auto& value : model.values.back()) value += 13;
  program::expect(holds(model), "a stream of another device launches it in its order");

  const auto other = captured(100);
  cudaGraphExecUpdateResultInfo why{};
  CHECK(cudaGraphExecUpdate(ready, other, &why));
  CHECK(cudaGraphLaunch(ready, use(0).stream));
  CHECK(cudaStreamSynchronize(each[0].stream));
  model.launch(100);
  program::expect(holds(model), "it is updated on all of them");

  if (each.size() > 1) {  // one device has no copy to another
    CHECK(cudaGraphNodeSetEnabled(ready, first_copy(graph), 0));
    CHECK(cudaGraphLaunch(ready, use(0).stream));
    CHECK(cudaStreamSynchronize(each[0].stream));
    model.launch(100, false);
    program::expect(holds(model), "a copy between devices that is disabled does nothing");
  }

  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(other));
  return program::verdict();
}
