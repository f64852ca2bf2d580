// Host memory that the device works in: pinned, mapped, registered, written by kernels and read by them without a copy.
#include "program.h"

__global__ void square(const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] * in[i];
}
__global__ void count_up(int* counter) { atomicAdd(counter, 1); }

void expect_squares(const char* what, const float* in, const float* out, int size) {
  bool is_right = true;
  for (int i = 0; i < size; ++i) is_right &= out[i] == in[i] * in[i];
  program::expect(is_right, what);
}

int main(int count, char** arguments) {
  const int size = 20000 * program::scale(count, arguments);
  const std::size_t bytes = size * sizeof(float);
  const auto values = program::random_floats(size, 11);
  int can_map = 0;
  CHECK(cudaDeviceGetAttribute(&can_map, cudaDevAttrCanMapHostMemory, 0));
  program::expect(can_map == 1, "the device can map host memory");

  float *in = nullptr, *out = nullptr, *on_in = nullptr, *on_out = nullptr;
  CHECK(cudaHostAlloc(&in, bytes, cudaHostAllocMapped | cudaHostAllocWriteCombined));
  CHECK(cudaHostAlloc(&out, bytes, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&on_in, in, 0));
  CHECK(cudaHostGetDevicePointer(&on_out, out, 0));
  std::memcpy(in, values.data(), bytes);
  square<<<(size + 255) / 256, 256>>>(on_in, on_out, size);
  CHECK(cudaDeviceSynchronize());
  expect_squares("a kernel works in mapped memory", values.data(), out, size);
  std::printf("squares: %016llx\n", program::checksum(out, bytes));
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, out));
  program::expect(flags & cudaHostAllocMapped, "it has the flags it was made with");
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, out + 5));
  program::expect(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == out + 5,
                  "a pointer into it is known as the host's");

  // What the host writes between launches is what the next launch reads.
  for (int i = 0; i < size; ++i) in[i] = static_cast<float>(i % 100);
  square<<<(size + 255) / 256, 256>>>(on_in, on_out, size);
  CHECK(cudaDeviceSynchronize());
  bool is_right = true;
  for (int i = 0; i < size; ++i) is_right &= out[i] == static_cast<float>(i % 100 * (i % 100));
  program::expect(is_right, "later writes of the host are seen");

  // Unified addressing: the host's own pointers work.
  square<<<(size + 255) / 256, 256>>>(out, in, size);
  CHECK(cudaDeviceSynchronize());
  is_right = true;
  for (int i = 0; i < size; ++i) is_right &= in[i] == out[i] * out[i];
  program::expect(is_right, "the host's pointers are the device's");
  CHECK(cudaFreeHost(in));
  CHECK(cudaFreeHost(out));

  // Memory that was there before.
  std::vector<float> own(values), results(size);
  CHECK(cudaHostRegister(own.data(), bytes, cudaHostRegisterMapped));
  CHECK(cudaHostRegister(results.data(), bytes, cudaHostRegisterDefault));
  CHECK(cudaHostGetDevicePointer(&on_in, own.data(), 0));
  CHECK(cudaHostGetDevicePointer(&on_out, results.data(), 0));
  square<<<(size + 255) / 256, 256>>>(on_in, on_out, size);
  CHECK(cudaDeviceSynchronize());
  expect_squares("a kernel works in registered memory", values.data(), results.data(), size);
  const auto twice = cudaHostRegister(own.data(), bytes, cudaHostRegisterDefault);
  std::printf("registered twice: %s\n", cudaGetErrorName(twice));
  program::expect(twice == cudaErrorHostMemoryAlreadyRegistered, "memory is registered once");
  (void)cudaGetLastError();
  CHECK(cudaHostUnregister(own.data()));
  CHECK(cudaHostUnregister(results.data()));
  const auto gone = cudaHostUnregister(own.data());
  std::printf("unregistered twice: %s\n", cudaGetErrorName(gone));
  program::expect(gone == cudaErrorHostMemoryNotRegistered, "and given back once");
  (void)cudaGetLastError();

  // Atomics of the device on it, and copies that use it.
  int *counter = nullptr, *on_counter = nullptr;
  CHECK(cudaHostAlloc(&counter, 4 * sizeof(int), cudaHostAllocMapped));
  counter[0] = 5;
  CHECK(cudaHostGetDevicePointer(&on_counter, counter, 0));
  count_up<<<10, 64>>>(on_counter);
  CHECK(cudaMemcpy(counter + 1, on_counter, sizeof(int), cudaMemcpyDefault));
  program::expect(counter[0] == 645 && counter[1] == 645, "the device counts in host memory");
  CHECK(cudaFreeHost(counter));
  return program::verdict();
}
