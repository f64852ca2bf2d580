// Keeps state of every kind on the first device and computes with all of it: moved ROUNDS. Prints a line a round, which
// depends on all rounds before; the same lines wherever it runs, and wherever it goes meanwhile. Exit code 5: an error.
#include <unistd.h>

#include "test/cuda/program.h"

namespace {

constexpr std::uint32_t kCount = 1 << 18, kWorked = 2048, kSmall = 64, kLinks = 32;

struct Link {
  Link* next;
  std::uint32_t value;
};

__device__ std::uint32_t total;
__device__ Link* first_link;
__constant__ std::uint32_t factors[16];

__device__ std::uint32_t add(std::uint32_t one, std::uint32_t other) { return one + other; }
__device__ std::uint32_t fold(std::uint32_t one, std::uint32_t other) { return one * 31 ^ other; }
using Step = std::uint32_t (*)(std::uint32_t, std::uint32_t);
__device__ Step steps[2];  // addresses of functions, in memory

void stop_on(const char* call, cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("error %s in %s\n", cudaGetErrorName(error), call);
  std::fflush(stdout);
  _exit(5);
}

__global__ void begin(Link* links) {
  for (std::uint32_t i = 0; i < kLinks; ++i) links[i] = {i + 1 < kLinks ? &links[i + 1] : nullptr, i};
  first_link = links;
  steps[0] = add;
  steps[1] = fold;
}

__global__ void advance(std::uint32_t* values, std::uint32_t k) {
  const auto i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kWorked) values[i] = steps[k & 1](values[i], factors[k % 16] + i);
}

__global__ void follow(std::uint32_t k) {
  for (auto* link = first_link; link; link = link->next) {
    link->value = link->value * 3 + k;
    atomicAdd(&total, link->value);
  }
}

__global__ void gather(const std::uint32_t* values, std::uint32_t* const* small, std::uint32_t* into) {
  const auto i = threadIdx.x;
  if (i < kSmall) {
    small[i][0] += values[i * 7];
    atomicAdd(into, small[i][0]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  std::vector<std::uint32_t> given(kCount), found(kCount), some(16);
  for (std::uint32_t i = 0; i < kCount; ++i) given[i] = i * 2654435761u;
  for (std::uint32_t i = 0; i < 16; ++i) some[i] = i * i + 1;
  std::uint32_t *values = nullptr, *sum = nullptr, **small = nullptr;
  Link* links = nullptr;
  stop_on("cudaMalloc", cudaMalloc(&values, kCount * 4));
  stop_on("cudaMalloc", cudaMalloc(&sum, 4));
  stop_on("cudaMalloc", cudaMalloc(&small, kSmall * sizeof *small));
  stop_on("cudaMalloc", cudaMalloc(&links, kLinks * sizeof *links));
  std::vector<std::uint32_t*> pieces(kSmall);
  for (auto& one : pieces) {
    stop_on("cudaMalloc", cudaMalloc(&one, 1000));
    stop_on("cudaMemset", cudaMemset(one, 1, 1000));
  }
  stop_on("write", cudaMemcpy(small, pieces.data(), kSmall * sizeof *small, cudaMemcpyHostToDevice));
  stop_on("write", cudaMemcpy(values, given.data(), kCount * 4, cudaMemcpyHostToDevice));
  stop_on("factors", cudaMemcpyToSymbol(factors, some.data(), 64));
  stop_on("memset", cudaMemset(sum, 0, 4));
  begin<<<1, 1>>>(links);
  cudaStream_t one = nullptr, other = nullptr;
  stop_on("stream", cudaStreamCreate(&one));
  stop_on("stream", cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaEvent_t start = nullptr, middle = nullptr;
  stop_on("event", cudaEventCreate(&start));
  stop_on("event", cudaEventCreateWithFlags(&middle, cudaEventDisableTiming));
  stop_on("record", cudaEventRecord(start, one));
  stop_on("wait", cudaDeviceSynchronize());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  stop_on("capture", cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  follow<<<1, 1, 0, one>>>(5);
  gather<<<1, 64, 0, one>>>(values, small, sum);
  stop_on("capture", cudaStreamEndCapture(one, &graph));
  stop_on("instantiate", cudaGraphInstantiate(&exec, graph, 0));
  for (std::uint32_t round = 0; round < rounds; ++round) {
    advance<<<kWorked / 128, 128, 0, one>>>(values, round);
    stop_on("launch", cudaGetLastError());
    stop_on("record", cudaEventRecord(middle, one));
    stop_on("wait", cudaStreamWaitEvent(other, middle, 0));
    follow<<<1, 1, 0, other>>>(round);
    stop_on("record", cudaEventRecord(middle, other));
    stop_on("wait", cudaStreamWaitEvent(one, middle, 0));
    std::uint32_t* brief = nullptr;
    stop_on("allocate", cudaMallocAsync(&brief, 100000, one));
    stop_on("copy", cudaMemcpyAsync(brief, values, 100000, cudaMemcpyDeviceToDevice, one));
    stop_on("graph", cudaGraphLaunch(exec, one));
    stop_on("copy", cudaMemcpyAsync(values + kWorked, brief, 4096, cudaMemcpyDeviceToDevice, one));
    stop_on("free", cudaFreeAsync(brief, one));
    if (round % 16 == 0)
      stop_on("write", cudaMemcpyAsync(values + 65536, given.data() + round, 300000, cudaMemcpyHostToDevice, one));
    stop_on("read", cudaMemcpyAsync(found.data(), values, kCount * 4, cudaMemcpyDeviceToHost, one));
    std::uint32_t gathered = 0, totalled = 0;
    stop_on("read", cudaMemcpyAsync(&gathered, sum, 4, cudaMemcpyDeviceToHost, one));
    stop_on("wait", cudaStreamSynchronize(one));
    stop_on("read", cudaMemcpyFromSymbol(&totalled, total, 4));
    std::uint32_t hash = 0;
    for (const auto value : found) hash = hash * 16777619u ^ value;
    std::printf("%u %08x %u %u\n", round, hash, gathered, totalled);
    std::fflush(stdout);
  }
  cudaEvent_t end = nullptr;
  float milliseconds = -1;
  stop_on("event", cudaEventCreate(&end));
  stop_on("record", cudaEventRecord(end, one));
  stop_on("wait", cudaEventSynchronize(end));
  stop_on("elapsed", cudaEventElapsedTime(&milliseconds, start, end));
  std::printf("clock %s\n", milliseconds > 0 ? "went on" : "stands");
  for (auto* piece : pieces) stop_on("free", cudaFree(piece));
  for (void* memory :
       {static_cast<void*>(values), static_cast<void*>(sum), static_cast<void*>(small), static_cast<void*>(links)})
    stop_on("free", cudaFree(memory));
  std::size_t free = 0, all = 0;
  stop_on("info", cudaMemGetInfo(&free, &all));
  std::printf("free %zu of %zu\n", free, all);
}
