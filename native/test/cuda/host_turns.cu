// Memory that both sides use in turns: many turns, by several threads and streams, filled by system calls, seen by a
// forked child, on every device.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "program.h"

__global__ void add_one(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}
__global__ void pass(int* ball) { *ball = *ball * 3 + 1; }
__global__ void put_beside(int* pairs, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) pairs[2 * i] = value + i;
}
__global__ void sum_bytes(const unsigned char* bytes, int count, unsigned* sum) {
  unsigned mine = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) mine += bytes[i];
  atomicAdd(sum, mine);
}

template <class T>
T* managed(std::size_t count) {
  T* memory = nullptr;
  CHECK(cudaMallocManaged(&memory, count * sizeof(T)));
  return memory;
}
template <class T>
T* mapped(std::size_t count) {
  T* memory = nullptr;
  CHECK(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped));
  return memory;
}

/// One word goes to and fro.
void ping_pong(const char* what, int* ball, int turns) {
  *ball = 0;
  int expected = 0;
  bool is_right = true;
  for (int turn = 0; turn < turns; ++turn) {
    *ball += turn;
    pass<<<1, 1>>>(ball);
    CHECK(cudaDeviceSynchronize());
    expected = (expected + turn) * 3 + 1;
    is_right &= *ball == expected;
    expected = *ball = *ball % 100000;
  }
  program::expect(is_right, what);
}

/// Kernels one behind the other, and what the host writes beside what they write.
void neighbours(int* pairs, int count) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < 2 * count; ++i) pairs[i] = -1;
  bool is_right = true;
  for (int turn = 0; turn < 20; ++turn) {
    put_beside<<<(count + 127) / 128, 128, 0, stream>>>(pairs, count, turn);
    for (int i = 0; i < count; ++i) pairs[2 * i + 1] = turn * 7 + i;
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < count; ++i) is_right &= pairs[2 * i] == turn + i && pairs[2 * i + 1] == turn * 7 + i;
  }
  program::expect(is_right, "words of the host's and of kernels lie beside each other");
  CHECK(cudaStreamDestroy(stream));
}

void from_file(unsigned char* bytes, int count, const char* what) {
  const auto content = program::random_ints(count / 4, 23, 1u << 30);
  char name[] = "/tmp/cuda-turns-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  bool is_right = write(file, content.data(), count) == count;
  unsigned expected = 0;
  for (int i = 0; i < count; ++i) expected += reinterpret_cast<const unsigned char*>(content.data())[i];
  auto* sum = managed<unsigned>(1);
  for (int turn = 0; turn < 3; ++turn) {
    std::memset(bytes, 0, count);
    *sum = 0;
    sum_bytes<<<1, 64>>>(bytes, count, sum);
    CHECK(cudaDeviceSynchronize());
    is_right &= *sum == 0;
    // The system writes to it, and nobody here does.
    is_right &= pread(file, bytes, count, 0) == count;
    sum_bytes<<<1, 64>>>(bytes, count, sum);
    CHECK(cudaDeviceSynchronize());
    is_right &= *sum == expected;
  }
  close(file);
  program::expect(is_right, what);
  CHECK(cudaFree(sum));
}

void threads() {
  constexpr int kThreads = 4, kTurns = 50, kEach = 3000;
  bool is_right[kThreads] = {};
  std::vector<std::thread> all;
  for (int id = 0; id < kThreads; ++id) {
    all.emplace_back([id, &is_right] {
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      auto* values = mapped<int>(kEach);
      for (int i = 0; i < kEach; ++i) values[i] = i * id;
      bool is_good = true;
      for (int turn = 0; turn < kTurns; ++turn) {
        values[turn] = 1000 * id;
        add_one<<<(kEach + 127) / 128, 128, 0, stream>>>(values, kEach);
        CHECK(cudaStreamSynchronize(stream));
        is_good &= values[turn] == 1000 * id + 1 && values[kEach - 1] == (kEach - 1) * id + turn + 1;
      }
      is_right[id] = is_good;
      CHECK(cudaFreeHost(values));
      CHECK(cudaStreamDestroy(stream));
    });
  }
  for (auto& one : all) one.join();
  bool is_good = true;
  for (const bool one : is_right) is_good &= one;
  program::expect(is_good, "threads have memory and streams of their own");
}

void forked(int* values) {
  *values = 41;
  add_one<<<1, 1>>>(values, 1);
  CHECK(cudaDeviceSynchronize());
  const auto child = fork();
  if (child == 0) _exit(*values == 42 && (*values = 7) == 7 ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  add_one<<<1, 1>>>(values, 1);
  CHECK(cudaDeviceSynchronize());
  program::expect(status == 0 && *values == 43, "a forked child has a copy, and does not disturb");
}

void copies_and_fills(int count) {
  const auto bytes = count * sizeof(int);
  auto* here = managed<int>(count);
  auto* other = mapped<int>(count);
  const program::Device<int> there(count);
  for (int i = 0; i < count; ++i) here[i] = i;
  // In the order of the stream: what the kernel makes of it is copied, not what the host sees.
  add_one<<<(count + 127) / 128, 128>>>(here, count);
  CHECK(cudaMemcpyAsync(there, here, bytes, cudaMemcpyDefault));
  add_one<<<(count + 127) / 128, 128>>>(there, count);
  CHECK(cudaMemcpyAsync(other, there, bytes, cudaMemcpyDefault));
  add_one<<<(count + 127) / 128, 128>>>(other, count);
  CHECK(cudaDeviceSynchronize());
  bool is_right = true;
  for (int i = 0; i < count; ++i) is_right &= here[i] == i + 1 && other[i] == i + 3;
  program::expect(is_right, "copies from and to it come in their turn");
  CHECK(cudaMemset(here, 0x11, bytes / 2));
  CHECK(cudaMemcpy(other, here, bytes, cudaMemcpyDefault));
  program::expect(
      here[0] == 0x11111111 && here[count - 1] == count && other[0] == 0x11111111 && other[count - 1] == count,
      "what blocks has its bytes here when it is back");
  std::vector<int> plain(count, 5);
  CHECK(cudaMemcpy(here, plain.data(), bytes, cudaMemcpyDefault));
  add_one<<<(count + 127) / 128, 128>>>(here, count);
  CHECK(cudaMemcpy(plain.data(), here, bytes, cudaMemcpyDefault));
  program::expect(plain[0] == 6 && plain[count - 1] == 6, "and so it is with plain memory");
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  add_one<<<(count + 127) / 128, 128>>>(here, count);
  CHECK(cudaEventRecord(event));
  CHECK(cudaEventSynchronize(event));
  program::expect(here[count / 2] == 7, "an event that is reached stands for what was before it");
  add_one<<<(count + 127) / 128, 128>>>(here, count);
  CHECK(cudaEventRecord(event));
  while (cudaEventQuery(event) == cudaErrorNotReady) usleep(100);
  program::expect(here[count / 2] == 8, "as it is asked for");
  add_one<<<(count + 127) / 128, 128>>>(here, count);
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) usleep(100);
  program::expect(here[count / 2] == 9, "and a stream");
  int seen = 0;
  const auto look = [](void* data) { *static_cast<int**>(data)[1] = *static_cast<int**>(data)[0]; };
  int* both[] = {here, &seen};
  add_one<<<(count + 127) / 128, 128>>>(here, count);
  CHECK(cudaLaunchHostFunc(nullptr, look, both));
  CHECK(cudaDeviceSynchronize());
  program::expect(seen == 10, "a function of the host in a stream sees what is before it");
  CHECK(cudaEventDestroy(event));
  CHECK(cudaFree(here));
  CHECK(cudaFreeHost(other));
}

/// With unified addresses the device may use whatever is pinned.
void pinned() {
  int* values = nullptr;
  CHECK(cudaMallocHost(&values, 1000 * sizeof(int)));
  for (int i = 0; i < 1000; ++i) values[i] = i;
  for (int turn = 0; turn < 3; ++turn) {
    add_one<<<8, 128>>>(values + 10, 990);
    CHECK(cudaDeviceSynchronize());
  }
  program::expect(values[9] == 9 && values[10] == 13 && values[999] == 1002, "pinned memory, by the host's address");
  CHECK(cudaFreeHost(values));
}

/// Rows of it, with what kernels before have made of them.
void rows() {
  auto* here = managed<int>(64 * 64);
  auto* other = mapped<int>(64 * 64);
  for (int i = 0; i < 64 * 64; ++i) here[i] = i, other[i] = -1;
  add_one<<<32, 128>>>(here, 64 * 64);
  CHECK(
      cudaMemcpy2DAsync(other, 64 * sizeof(int), here + 8, 64 * sizeof(int), 16 * sizeof(int), 64, cudaMemcpyDefault));
  add_one<<<32, 128>>>(other, 64 * 64);
  CHECK(cudaDeviceSynchronize());
  program::expect(other[0] == 10 && other[15] == 25 && other[16] == 0 && other[63 * 64] == 63 * 64 + 10,
                  "rows of it are copied in their turn");
  CHECK(cudaFree(here));
  CHECK(cudaFreeHost(other));
}

void registered() {
  std::vector<int> own(5000, 3);
  // From the middle of a page to the middle of another.
  auto* const part = own.data() + 77;
  CHECK(cudaHostRegister(part, 4000 * sizeof(int), cudaHostRegisterMapped));
  int* on_device = nullptr;
  CHECK(cudaHostGetDevicePointer(&on_device, part, 0));
  for (int turn = 0; turn < 5; ++turn) {
    part[turn] += 10;
    own[0] += 1;
    add_one<<<32, 128>>>(on_device, 4000);
    CHECK(cudaDeviceSynchronize());
  }
  program::expect(part[0] == 18 && part[4] == 18 && part[3999] == 8 && own[76] == 3 && part[4000] == 3 && own[0] == 8,
                  "memory that was registered, and nothing beside it");
  CHECK(cudaHostUnregister(part));
}

/// One piece of memory, each device in its turn.
void every_device(int count) {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  auto* values = managed<int>(count);
  for (int i = 0; i < count; ++i) values[i] = i;
  for (int turn = 0; turn < 3; ++turn) {
    for (int device = 0; device < devices; ++device) {
      CHECK(cudaSetDevice(device));
      add_one<<<(count + 127) / 128, 128>>>(values, count);
      CHECK(cudaDeviceSynchronize());
      values[device] += 100;
    }
  }
  bool is_right = true;
  for (int i = 0; i < count; ++i) is_right &= values[i] == i + 3 * devices + (i < devices ? 300 : 0);
  program::expect(is_right, "the same memory is used by every device in its turn");
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(values));
}

int main(int count, char** arguments) {
  const int size = 30000 * program::scale(count, arguments);
  auto* ball = managed<int>(1);
  ping_pong("a word of managed memory goes to and fro 1000 times", ball, 1000);
  forked(ball);
  CHECK(cudaFree(ball));
  ball = mapped<int>(1);
  ping_pong("a word of mapped memory goes to and fro 1000 times", ball, 1000);
  CHECK(cudaFreeHost(ball));
  auto* pairs = mapped<int>(2000);
  neighbours(pairs, 1000);
  CHECK(cudaFreeHost(pairs));
  auto* bytes = managed<unsigned char>(size);
  from_file(bytes, size / 4 * 4, "a file is read into managed memory");
  CHECK(cudaFree(bytes));
  bytes = mapped<unsigned char>(size);
  from_file(bytes, size / 4 * 4, "a file is read into mapped memory");
  CHECK(cudaFreeHost(bytes));
  threads();
  copies_and_fills(size);
  pinned();
  rows();
  registered();
  every_device(10000);
  return program::verdict();
}
