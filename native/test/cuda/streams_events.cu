// Work in pieces on several streams, ordered by events where it has to be, and the order that the default stream keeps
// with others.
#include "program.h"

__global__ void scale_and_add(const float* in, float* out, int count, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] * factor + 1;
}

__global__ void append(int* list, int* length, int value, int spins) {
  // Some time, so that an order which nobody keeps would show.
  for (volatile int i = 0; i < spins; ++i) {}
  list[(*length)++] = value;
}

void in_pieces(int size, int streams) {
  float *in = nullptr, *out = nullptr, *on_in = nullptr, *on_out = nullptr;
  CHECK(cudaMallocHost(&in, size * sizeof(float)));
  CHECK(cudaMallocHost(&out, size * sizeof(float)));
  CHECK(cudaMalloc(&on_in, size * sizeof(float)));
  CHECK(cudaMalloc(&on_out, size * sizeof(float)));
  const auto values = program::random_floats(size, 10);
  std::memcpy(in, values.data(), size * sizeof(float));
  std::vector<cudaStream_t> all(streams);
  for (auto& stream : all) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  const int piece = size / streams;
  for (int i = 0; i < streams; ++i) {
    const int at = i * piece;
    CHECK(cudaStreamWaitEvent(all[i], begin, 0));
    CHECK(cudaMemcpyAsync(on_in + at, in + at, piece * sizeof(float), cudaMemcpyHostToDevice, all[i]));
    scale_and_add<<<(piece + 127) / 128, 128, 0, all[i]>>>(on_in + at, on_out + at, piece, 2.0f);
    CHECK(cudaMemcpyAsync(out + at, on_out + at, piece * sizeof(float), cudaMemcpyDeviceToHost, all[i]));
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, all[i]));
    CHECK(cudaStreamWaitEvent(nullptr, done, 0));
    CHECK(cudaEventDestroy(done));
  }
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventQuery(end));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  bool is_right = true;
  for (int i = 0; i < piece * streams; ++i) is_right &= out[i] == std::fma(values[i], 2.0f, 1.0f);
  program::expect(milliseconds >= 0 && milliseconds < 60000, "time went by between two events");
  program::expect(is_right, "every piece is right");
  std::printf("%d streams: %016llx\n", streams, program::checksum(out, piece * streams * sizeof(float)));
  for (auto stream : all) {
    CHECK(cudaStreamQuery(stream));
    CHECK(cudaStreamDestroy(stream));
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaFree(on_in));
  CHECK(cudaFree(on_out));
  CHECK(cudaFreeHost(in));
  CHECK(cudaFreeHost(out));
}

/// Blocking streams take turns with the default stream, whose work begins when theirs is over and the other way round.
void default_stream_keeps_order() {
  constexpr int kRounds = 6;
  int *list = nullptr, *length = nullptr;
  CHECK(cudaMalloc(&list, 2 * kRounds * sizeof(int)));
  CHECK(cudaMalloc(&length, sizeof(int)));
  CHECK(cudaMemset(length, 0, sizeof(int)));
  cudaStream_t other;
  CHECK(cudaStreamCreate(&other));
  for (int i = 0; i < kRounds; ++i) {
    append<<<1, 1, 0, other>>>(list, length, 2 * i, 2000);
    append<<<1, 1>>>(list, length, 2 * i + 1, 0);
  }
  std::vector<int> found(2 * kRounds);
  CHECK(cudaMemcpy(found.data(), list, found.size() * sizeof(int), cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < 2 * kRounds; ++i) is_right &= found[i] == i;
  program::expect(is_right, "the default stream and a blocking one take turns");
  CHECK(cudaStreamDestroy(other));
  CHECK(cudaFree(list));
  CHECK(cudaFree(length));
}

/// What is behind a long kernel is not ready, and is when it is over.
void readiness() {
  int *list = nullptr, *length = nullptr;
  CHECK(cudaMalloc(&list, 4 * sizeof(int)));
  CHECK(cudaMalloc(&length, sizeof(int)));
  CHECK(cudaMemset(length, 0, sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  int least = 0, greatest = 0, priority = 1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamGetPriority(stream, &priority));
  unsigned flags = 0;
  CHECK(cudaStreamGetFlags(stream, &flags));
  program::expect(priority == greatest && least >= greatest && flags == cudaStreamNonBlocking,
                  "a stream has the priority and the flags it was made with");
  cudaEvent_t done, never;
  CHECK(cudaEventCreateWithFlags(&done, cudaEventBlockingSync));
  CHECK(cudaEventCreate(&never));
  append<<<1, 1, 0, stream>>>(list, length, 7, 2000000);
  CHECK(cudaEventRecord(done, stream));
  const auto early_stream = cudaStreamQuery(stream), early_event = cudaEventQuery(done);
  program::expect(early_stream == cudaErrorNotReady && early_event == cudaErrorNotReady,
                  "while a kernel runs, its stream and what is recorded behind it are not ready");
  program::expect(cudaEventQuery(never) == cudaSuccess, "an event that nobody recorded is over");
  CHECK(cudaEventSynchronize(done));
  program::expect(cudaStreamQuery(stream) == cudaSuccess && cudaEventQuery(done) == cudaSuccess,
                  "both are when it is over");
  float milliseconds = 0;
  program::expect(cudaEventElapsedTime(&milliseconds, never, done) == cudaErrorInvalidResourceHandle,
                  "no time has gone by since an event that nobody recorded");
  (void)cudaGetLastError();
  CHECK(cudaEventDestroy(done));
  CHECK(cudaEventDestroy(never));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(list));
  CHECK(cudaFree(length));
}

int main(int count, char** arguments) {
  const int size = 1 << 16;
  for (const int streams : {1, 3, 8}) in_pieces(size * program::scale(count, arguments), streams);
  default_stream_keeps_order();
  readiness();
  return program::verdict();
}
