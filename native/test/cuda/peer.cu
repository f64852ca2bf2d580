// Every device there is: each computes, each copies to each, and what one holds the next goes on with.
#include "program.h"

__global__ void fill(int* values, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = value * 1000 + i;
}
__global__ void add_one(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}
__global__ void copy(const int* in, int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i];
}

constexpr int kCount = 3000, kBlocks = (kCount + 127) / 128;
constexpr std::size_t kBytes = kCount * sizeof(int);

bool holds(const int* memory, int first) {
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, memory));
  CHECK(cudaSetDevice(attributes.device));
  std::vector<int> found(kCount);
  CHECK(cudaMemcpy(found.data(), memory, kBytes, cudaMemcpyDefault));
  for (int i = 0; i < kCount; ++i)
    if (found[i] != first + i) return false;
  return true;
}

int main() {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  std::printf("%d devices\n", devices);
  std::vector<int*> memory(devices);
  std::vector<cudaUUID_t> ids;
  for (int device = 0; device < devices; ++device) {
    cudaDeviceProp properties{};
    CHECK(cudaGetDeviceProperties(&properties, device));
    ids.push_back(properties.uuid);
    char address[32];
    int by_address = -1;
    CHECK(cudaDeviceGetPCIBusId(address, sizeof address, device));
    CHECK(cudaDeviceGetByPCIBusId(&by_address, address));
    if (by_address != device) program::expect(false, "a device is found by its address");
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&memory[device], kBytes));
    fill<<<kBlocks, 128>>>(memory[device], kCount, device + 1);
    CHECK(cudaGetLastError());
  }
  bool is_right = true;
  for (int device = 0; device < devices; ++device) is_right &= holds(memory[device], (device + 1) * 1000);
  program::expect(is_right, "every device computes");
  is_right = true;
  for (int a = 0; a < devices; ++a)
    for (int b = 0; b < a; ++b) is_right &= std::memcmp(&ids[a], &ids[b], sizeof ids[a]) != 0;
  program::expect(is_right, "no two devices are the same one");

  // Round the ring: each adds one to what came from the device before.
  CHECK(cudaSetDevice(0));
  fill<<<kBlocks, 128>>>(memory[0], kCount, 500);
  CHECK(cudaDeviceSynchronize());
  for (int device = 1; device < devices; ++device) {
    // Work of both devices that is under way comes first ("CUDA Runtime API", cudaMemcpyPeer).
    CHECK(cudaSetDevice(device));
    fill<<<kBlocks, 128>>>(memory[device], kCount, 7);
    CHECK(cudaMemcpyPeer(memory[device], device, memory[device - 1], device - 1, kBytes));
    add_one<<<kBlocks, 128>>>(memory[device], kCount);
  }
  program::expect(holds(memory[devices - 1], 500000 + devices - 1), "what passes every device is changed by each");

  is_right = true;
  // From each to each, in order with a kernel behind the copy, by the kinds of copy there are.
  for (int from = 0; from < devices; ++from)
    for (int to = 0; to < devices && to < from + 3; ++to) {
      if (from == to) continue;
      CHECK(cudaSetDevice(from));
      fill<<<kBlocks, 128>>>(memory[from], kCount, 10 * from + to);
      CHECK(cudaDeviceSynchronize());
      CHECK(cudaSetDevice(to));
      cudaStream_t stream;
      CHECK(cudaStreamCreate(&stream));
      if ((from + to) % 2) CHECK(cudaMemcpyPeerAsync(memory[to], to, memory[from], from, kBytes, stream));
      else CHECK(cudaMemcpyAsync(memory[to], memory[from], kBytes, cudaMemcpyDefault, stream));
      add_one<<<kBlocks, 128, 0, stream>>>(memory[to], kCount);
      CHECK(cudaStreamSynchronize(stream));
      CHECK(cudaStreamDestroy(stream));
      is_right &= holds(memory[to], (10 * from + to) * 1000 + 1);
    }
  program::expect(is_right, "each copies to each");

  // Directly, where devices can.
  for (int from = 0; from < devices; ++from) {
    const int to = (from + 1) % devices;
    int can = 0;
    if (from != to) CHECK(cudaDeviceCanAccessPeer(&can, to, from));
    if (!can) continue;
    CHECK(cudaSetDevice(to));
    CHECK(cudaDeviceEnablePeerAccess(from, 0));
    const auto twice = cudaDeviceEnablePeerAccess(from, 0);
    (void)cudaGetLastError();
    fill<<<kBlocks, 128>>>(memory[to], kCount, 1);
    copy<<<kBlocks, 128>>>(memory[from], memory[to], kCount);
    std::vector<int> a(kCount), b(kCount);
    CHECK(cudaMemcpy(a.data(), memory[from], kBytes, cudaMemcpyDefault));
    CHECK(cudaMemcpy(b.data(), memory[to], kBytes, cudaMemcpyDefault));
    if (a != b || twice != cudaErrorPeerAccessAlreadyEnabled) program::expect(false, "a device reads another's memory");
    CHECK(cudaDeviceDisablePeerAccess(from));
  }

  is_right = true;
  for (int device = 0; device < devices; ++device) {
    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, memory[device]));
    is_right &= attributes.device == device && attributes.type == cudaMemoryTypeDevice;
    CHECK(cudaFree(memory[device]));
  }
  program::expect(is_right, "every pointer knows its device");
  const auto beyond = cudaSetDevice(devices);
  std::printf("a device too many: %s\n", cudaGetErrorName(beyond));
  program::expect(beyond == cudaErrorInvalidDevice, "it is refused");
  return program::verdict();
}
