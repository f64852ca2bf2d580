// Memory that host and device both see: allocated, and declared; prefetched, advised about, and used in turns.
#include "program.h"

__managed__ int declared = 5;
__managed__ float table[256];
__device__ int on_device = 11;

__global__ void multiply(int* values, int count, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}
__global__ void use_declared() {
  table[threadIdx.x] = declared * static_cast<float>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) declared += on_device;
}

struct List {
  int value;
  List* next;
};
__global__ void sum_list(const List* list, int* sum) {
  *sum = 0;
  for (; list; list = list->next) *sum += list->value;
}

int main(int count, char** arguments) {
  const int size = 40000 * program::scale(count, arguments);
  int device = 0, is_managed = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&is_managed, cudaDevAttrManagedMemory, device));
  program::expect(is_managed == 1, "the device has managed memory");
  int* values = nullptr;
  CHECK(cudaMallocManaged(&values, size * sizeof(int)));
  for (int i = 0; i < size; ++i) values[i] = i % 1000;
  for (int round = 0; round < 3; ++round) {
    multiply<<<(size + 255) / 256, 256>>>(values, size, 2);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < size; i += 7) values[i] += 1;
  }
  bool is_right = true;
  for (int i = 0; i < size; ++i) is_right &= values[i] == i % 1000 * 8 + (i % 7 == 0 ? 7 : 0);
  program::expect(is_right, "host and device change the same memory in turns");
  std::printf("values: %016llx\n", program::checksum(values, size * sizeof(int)));

  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, values));
  program::expect(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == values &&
                      attributes.hostPointer == values,
                  "a pointer is the same on both sides");

  use_declared<<<1, 256>>>();
  CHECK(cudaDeviceSynchronize());
  is_right = declared == 16;
  for (int i = 0; i < 256; ++i) is_right &= table[i] == 5.0f * static_cast<float>(i);
  program::expect(is_right, "variables that are declared managed are seen by both");
  declared = 100;
  use_declared<<<1, 256>>>();
  CHECK(cudaDeviceSynchronize());
  program::expect(declared == 111 && table[255] == 25500.0f, "and what the host writes, the device reads");

  List* nodes = nullptr;
  int* sum = nullptr;
  CHECK(cudaMallocManaged(&nodes, 100 * sizeof(List)));
  CHECK(cudaMallocManaged(&sum, sizeof(int)));
  for (int i = 0; i < 100; ++i) nodes[i] = {i, i + 1 < 100 ? &nodes[i + 1] : nullptr};
  sum_list<<<1, 1>>>(nodes, sum);
  CHECK(cudaDeviceSynchronize());
  program::expect(*sum == 4950, "a list of the host's is walked by the device");
  CHECK(cudaFree(values));
  CHECK(cudaFree(nodes));
  CHECK(cudaFree(sum));

  // Hints change nothing but the time. A device that cannot work in managed memory while the host does may refuse them
  // (CUDA C++ Programming Guide).
  int can_overlap = 0;
  CHECK(cudaDeviceGetAttribute(&can_overlap, cudaDevAttrConcurrentManagedAccess, device));
  const auto hint = [&](cudaError_t error) {
    if (can_overlap) CHECK(error);
    else (void)cudaGetLastError();
  };
  int* hinted = nullptr;
  CHECK(cudaMallocManaged(&hinted, size * sizeof(int)));
  const cudaMemLocation here{cudaMemLocationTypeDevice, device}, host{cudaMemLocationTypeHost, 0};
  hint(cudaMemAdvise(hinted, size * sizeof(int), cudaMemAdviseSetPreferredLocation, here));
  for (int i = 0; i < size; ++i) hinted[i] = i;
  hint(cudaMemPrefetchAsync(hinted, size * sizeof(int), here, 0, nullptr));
  multiply<<<(size + 255) / 256, 256>>>(hinted, size, 3);
  hint(cudaMemPrefetchAsync(hinted, size * sizeof(int), host, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  is_right = true;
  for (int i = 0; i < size; ++i) is_right &= hinted[i] == 3 * i;
  program::expect(is_right, "prefetched memory is the same");
  CHECK(cudaFree(hinted));

  // A stream of its own: the host has the memory again when that stream is over, whatever others do.
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  int *mine = nullptr, *other = nullptr;
  CHECK(cudaMallocManaged(&mine, size * sizeof(int), cudaMemAttachHost));
  CHECK(cudaMallocManaged(&other, size * sizeof(int), cudaMemAttachHost));
  CHECK(cudaStreamAttachMemAsync(first, mine));
  CHECK(cudaStreamAttachMemAsync(second, other));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < size; ++i) mine[i] = other[i] = 1;
  for (int round = 0; round < 4; ++round) {
    multiply<<<(size + 255) / 256, 256, 0, second>>>(other, size, 2);
    for (int i = 0; i < size; ++i) mine[i] += round;
    multiply<<<(size + 255) / 256, 256, 0, first>>>(mine, size, 3);
    CHECK(cudaStreamSynchronize(first));
  }
  CHECK(cudaStreamSynchronize(second));
  is_right = true;
  for (int i = 0; i < size; ++i) is_right &= mine[i] == (((1 * 3 + 1) * 3 + 2) * 3 + 3) * 3 && other[i] == 16;
  program::expect(is_right, "memory that is attached to a stream is the host's while others run");
  CHECK(cudaFree(mine));
  CHECK(cudaFree(other));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));

  // Declared memory is one for all devices.
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  declared = 0;
  for (int turn = 0; turn < 2; ++turn) {
    for (int one = 0; one < devices; ++one) {
      CHECK(cudaSetDevice(one));
      use_declared<<<1, 256>>>();
      CHECK(cudaDeviceSynchronize());
    }
  }
  program::expect(declared == 22 * devices, "every device uses the variable in its turn");
  return program::verdict();
}
