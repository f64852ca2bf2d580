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
  program::expect(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == values && attributes.hostPointer == values, "a pointer is the same on both sides");

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

  int can_overlap = 0;
  CHECK(cudaDeviceGetAttribute(&can_overlap, cudaDevAttrConcurrentManagedAccess, device));
  if (can_overlap) {
    // Hints change nothing but the time.
    int* hinted = nullptr;
    CHECK(cudaMallocManaged(&hinted, size * sizeof(int)));
    const cudaMemLocation here{cudaMemLocationTypeDevice, device}, host{cudaMemLocationTypeHost, 0};
    CHECK(cudaMemAdvise(hinted, size * sizeof(int), cudaMemAdviseSetPreferredLocation, here));
    for (int i = 0; i < size; ++i) hinted[i] = i;
    CHECK(cudaMemPrefetchAsync(hinted, size * sizeof(int), here, 0, nullptr));
    multiply<<<(size + 255) / 256, 256>>>(hinted, size, 3);
    CHECK(cudaMemPrefetchAsync(hinted, size * sizeof(int), host, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
    is_right = true;
    for (int i = 0; i < size; ++i) is_right &= hinted[i] == 3 * i;
    program::expect(is_right, "prefetched memory is the same");
    CHECK(cudaFree(hinted));
  }
  return program::verdict();
}
