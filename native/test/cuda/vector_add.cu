// c = a + b, for sizes that do and do not fill the last block.
#include "program.h"

__global__ void add(const float* a, const float* b, float* c, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];
}

int main(int count, char** arguments) {
  for (const int size : {1, 31, 256, 1000, 65537 * program::scale(count, arguments)}) {
    const auto a = program::random_floats(size, 1), b = program::random_floats(size, 2);
    const program::Device<float> on_a(a), on_b(b), on_c(size);
    add<<<(size + 255) / 256, 256>>>(on_a, on_b, on_c, size);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const auto c = on_c.read();
    bool is_right = true;
    for (int i = 0; i < size; ++i) is_right &= c[i] == a[i] + b[i];
    std::printf("%d elements\n", size);
    program::expect(is_right, "sums are the CPU's, to the bit");
    program::print_checksum("sums", c);
  }
  return program::verdict();
}
