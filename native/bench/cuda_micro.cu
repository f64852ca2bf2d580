// What CUDA costs on the first device: launches, round trips, copies, graphs, and the time to the first launch. Prints
// one JSON object; times are medians of rounds in microseconds (cpu: of this thread's processor time), bandwidths in
// GB/s (1e9 bytes). An ordinary program: run it natively and remotely. test/native/cuda_programs.py builds it.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <vector>

__global__ void nothing(float* values, int count) {
  if (count < 0) values[threadIdx.x] = 1;
}
__global__ void add_one(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}
__global__ void spin(float* values, int rounds) {
  float value = values[threadIdx.x];
  for (int round = 0; round < rounds; ++round) value = value * 1.0001f + 0.5f;
  values[threadIdx.x] = value;
}

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(error));
  std::exit(1);
}
#define CHECK(call) check((call), #call)

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Median over rounds of seconds a call of `action` by `clock`, `count` calls a round, `after` it not counted; the
/// first round not counted.
double per_call(
    double (*clock)(), int rounds, int count, const std::function<void()>& action,
    const std::function<void()>& after = [] {}) {
  std::vector<double> times;
  for (int round = -1; round < rounds; ++round) {
    const double start = clock();
    for (int i = 0; i < count; ++i) action();
    const double end = clock();
    after();
    if (round >= 0) times.push_back((end - start) / count);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

bool is_first = true;
void print(const char* name, double value) {
  std::printf("%s\"%s\": %.4g", is_first ? "{" : ", ", name, value);
  is_first = false;
}

void wait() { CHECK(cudaDeviceSynchronize()); }

void launches(float* memory, cudaStream_t stream) {
  const auto launch = [&] { nothing<<<1, 32, 0, stream>>>(memory, 1); };
  // Many, and the wait for them: what a launch costs when nothing is in its way.
  print("launch_us", 1e6 * per_call(seconds, 9, 1, [&] {
                       for (int i = 0; i < 1000; ++i) launch();
                       wait();
                     }) / 1000);
  print("launch_cpu_us", 1e6 * per_call(processor_seconds, 9, 1000, launch, wait));
  print("launch_wait_us", 1e6 * per_call(seconds, 400, 1, [&] { launch(), CHECK(cudaStreamSynchronize(stream)); }));
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  print("event_record_cpu_us",
        1e6 * per_call(processor_seconds, 9, 1000, [&] { CHECK(cudaEventRecord(event, stream)); }, wait));
  CHECK(cudaEventDestroy(event));
  // What a client can answer by itself.
  int value = 0;
  print("attribute_us", 1e6 * per_call(seconds, 9, 1000, [&] {
                          CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
                        }));
  print("malloc_free_us", 1e6 * per_call(seconds, 100, 1, [] {
                            void* piece = nullptr;
                            CHECK(cudaMalloc(&piece, 1 << 20));
                            CHECK(cudaFree(piece));
                          }));
  print("malloc_free_async_us", 1e6 * per_call(
                                          seconds, 9, 100,
                                          [&] {
                                            void* piece = nullptr;
                                            CHECK(cudaMallocAsync(&piece, 1 << 20, stream));
                                            CHECK(cudaFreeAsync(piece, stream));
                                          },
                                          wait));
}

void graphs(float* memory, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 20; ++i) nothing<<<1, 32, 0, stream>>>(memory, 1);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  print("graph_of_20_cpu_us",
        1e6 * per_call(processor_seconds, 9, 50, [&] { CHECK(cudaGraphLaunch(ready, stream)); }, wait));
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
}

bool copies(float* memory, float* other, cudaStream_t stream) {
  constexpr std::size_t kLarge = 64 << 20, kSmall = 4096;
  std::vector<char> pageable(kLarge);
  for (std::size_t i = 0; i < kLarge; ++i) pageable[i] = static_cast<char>(i % 251);
  char* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, kLarge));
  std::memcpy(pinned, pageable.data(), kLarge);
  const auto rate = [&](const char* name, const std::function<void()>& copy) {
    print(name, kLarge / per_call(seconds, 7, 1, copy) / 1e9);
  };
  rate("to_device_GBps", [&] {
    CHECK(cudaMemcpy(memory, pageable.data(), kLarge, cudaMemcpyHostToDevice));
    wait();
  });
  rate("to_device_pinned_GBps", [&] {
    CHECK(cudaMemcpyAsync(memory, pinned, kLarge, cudaMemcpyHostToDevice, stream));
    wait();
  });
  rate("from_device_pinned_GBps", [&] {
    CHECK(cudaMemcpyAsync(pinned, memory, kLarge, cudaMemcpyDeviceToHost, stream));
    wait();
  });
  const bool is_right = std::memcmp(pinned, pageable.data(), kLarge) == 0;
  rate("from_device_GBps", [&] { CHECK(cudaMemcpy(pageable.data(), memory, kLarge, cudaMemcpyDeviceToHost)); });
  rate("on_device_GBps", [&] {
    CHECK(cudaMemcpyAsync(other, memory, kLarge, cudaMemcpyDeviceToDevice, stream));
    wait();
  });
  print("to_device_4KiB_us",
        1e6 * per_call(seconds, 400, 1, [&] { CHECK(cudaMemcpy(memory, pinned, kSmall, cudaMemcpyHostToDevice)); }));
  print("from_device_4KiB_us",
        1e6 * per_call(seconds, 400, 1, [&] { CHECK(cudaMemcpy(pinned, memory, kSmall, cudaMemcpyDeviceToHost)); }));
  print("to_device_4KiB_async_cpu_us",
        1e6 * per_call(
                  processor_seconds, 9, 200,
                  [&] { CHECK(cudaMemcpyAsync(memory, pageable.data(), kSmall, cudaMemcpyHostToDevice, stream)); },
                  wait));
  CHECK(cudaFreeHost(pinned));
  return is_right;
}

/// Of kernels that take their time, and of small ones: what a program of each kind takes.
void computations(float* memory, cudaStream_t stream, int rounds) {
  print("compute_ms", 1e3 * per_call(seconds, 5, 1, [&] {
                        for (int i = 0; i < 100; ++i) spin<<<1, 32, 0, stream>>>(memory, rounds);
                        wait();
                      }));
  float back[256];
  print("many_small_ms", 1e3 * per_call(seconds, 5, 1, [&] {
                           for (int i = 0; i < 500; ++i) {
                             add_one<<<2, 128, 0, stream>>>(memory, 256);
                             if (i % 50 == 49)
                               CHECK(cudaMemcpyAsync(back, memory, sizeof back, cudaMemcpyDeviceToHost, stream)),
                                   CHECK(cudaStreamSynchronize(stream));
                           }
                         }));
}

}  // namespace

int main(int count, char** arguments) {
  const double start = seconds();
  float *memory = nullptr, *other = nullptr;
  CHECK(cudaMalloc(&memory, 64 << 20));
  nothing<<<1, 32>>>(memory, 1);
  wait();
  print("first_launch_ms", 1e3 * (seconds() - start));
  CHECK(cudaMalloc(&other, 64 << 20));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  launches(memory, stream);
  graphs(memory, stream);
  const bool is_right = copies(memory, other, stream);
  computations(memory, stream, count > 1 ? std::atoi(arguments[1]) : 20000);
  std::printf(", \"correct\": %s}\n", is_right ? "true" : "false");
  return is_right ? 0 : 1;
}
