// Memory in the order of a stream: from the device's pool and from pools of one's own.
#include "program.h"

__global__ void fill(int* values, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = value + i;
}
__global__ void add(int* out, const int* a, const int* b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = a[i] + b[i];
}

constexpr int kCount = 5000, kBlocks = (kCount + 255) / 256;
constexpr std::size_t kBytes = kCount * sizeof(int);

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  CHECK(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

int main() {
  int has_pools = 0;
  CHECK(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, 0));
  program::expect(has_pools == 1, "the device has pools");
  cudaStream_t stream, other;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t keep = 64 << 20;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  program::expect(attribute(pool, cudaMemPoolAttrReleaseThreshold) == keep, "a pool keeps what it is told to");

  std::vector<int> found(kCount);
  for (int round = 0; round < 4; ++round) {
    int *a = nullptr, *b = nullptr, *out = nullptr;
    CHECK(cudaMallocAsync(&a, kBytes, stream));
    CHECK(cudaMallocAsync(&b, kBytes, stream));
    fill<<<kBlocks, 256, 0, stream>>>(a, kCount, round);
    fill<<<kBlocks, 256, 0, stream>>>(b, kCount, 100);
    CHECK(cudaMallocAsync(&out, kBytes, stream));
    add<<<kBlocks, 256, 0, stream>>>(out, a, b, kCount);
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaFreeAsync(b, stream));
    CHECK(cudaMemcpyAsync(found.data(), out, kBytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(out, stream));
    CHECK(cudaStreamSynchronize(stream));
    bool is_right = true;
    for (int i = 0; i < kCount; ++i) is_right &= found[i] == round + 100 + 2 * i;
    program::expect(is_right, "memory of a stream holds what the stream put there");
  }
  program::expect(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0, "all of it was given back");
  program::expect(attribute(pool, cudaMemPoolAttrUsedMemHigh) >= 3 * kBytes, "the most that was in use is known");
  program::expect(attribute(pool, cudaMemPoolAttrReservedMemCurrent) >= kBytes, "the pool keeps some for the next");
  CHECK(cudaMemPoolTrimTo(pool, 0));
  program::expect(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 0, "until it is told not to");

  // Made on one stream, used and freed on another that waits for it.
  cudaEvent_t ready;
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  int* shared = nullptr;
  CHECK(cudaMallocAsync(&shared, kBytes, stream));
  fill<<<kBlocks, 256, 0, stream>>>(shared, kCount, 7);
  CHECK(cudaEventRecord(ready, stream));
  CHECK(cudaStreamWaitEvent(other, ready, 0));
  CHECK(cudaMemcpyAsync(found.data(), shared, kBytes, cudaMemcpyDeviceToHost, other));
  CHECK(cudaFreeAsync(shared, other));
  CHECK(cudaStreamSynchronize(other));
  program::expect(found[0] == 7 && found[kCount - 1] == 7 + kCount - 1, "another stream that waits may use it");

  // A pool of one's own, with a limit.
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t own;
  CHECK(cudaMemPoolCreate(&own, &properties));
  int* memory = nullptr;
  CHECK(cudaMallocFromPoolAsync(&memory, kBytes, own, stream));
  CHECK(cudaMemsetAsync(memory, 0x11, kBytes, stream));
  CHECK(cudaMemcpyAsync(found.data(), memory, kBytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  program::expect(found[0] == 0x11111111 && attribute(own, cudaMemPoolAttrUsedMemCurrent) >= kBytes,
                  "a pool of one's own gives memory");
  CHECK(cudaFreeAsync(memory, stream));
  CHECK(cudaStreamSynchronize(stream));
  cudaMemPool_t before;
  CHECK(cudaDeviceGetMemPool(&before, 0));
  CHECK(cudaDeviceSetMemPool(0, own));
  CHECK(cudaMallocAsync(&memory, kBytes, stream));
  CHECK(cudaStreamSynchronize(stream));
  program::expect(before == pool && attribute(own, cudaMemPoolAttrUsedMemCurrent) >= kBytes, "and can be the device's");
  CHECK(cudaFree(memory));
  CHECK(cudaDeviceSetMemPool(0, pool));
  CHECK(cudaMemPoolDestroy(own));
  CHECK(cudaEventDestroy(ready));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaStreamDestroy(other));
  return program::verdict();
}
