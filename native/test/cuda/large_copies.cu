// Copies larger than what may be on its way at one time, an argument says how many MiB: they come back at once from
// pinned memory, though their stream does not move, and keep its order; those of other streams go on beside them; and
// so do copies of rows.
#include <atomic>

#include "program.h"

namespace {

std::atomic<bool> is_open{false};

void wait_until_open(void*) {
  while (!is_open.load()) continue;
}

__global__ void add(unsigned* values, std::size_t count, unsigned number) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    values[i] += number;
}

void fill(unsigned* values, std::size_t count, unsigned first) {
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<unsigned>(i) * 2654435761u;
}

bool holds(const unsigned* values, std::size_t count, unsigned first, std::size_t changed, unsigned by) {
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] != first + static_cast<unsigned>(i) * 2654435761u + (i < changed ? by : 0)) return false;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t size = (std::size_t{1} << 18) * program::scale(count, arguments) + 5,
                    bytes = size * sizeof(unsigned), worked = 1024;
  unsigned *here = nullptr, *back = nullptr;
  CHECK(cudaMallocHost(&here, bytes));
  CHECK(cudaMallocHost(&back, bytes));
  const program::Device<unsigned> memory(size), other(size);
  cudaStream_t stream, beside;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));

  fill(here, size, 1);
  CHECK(cudaMemsetAsync(memory, 0, bytes, stream));
  CHECK(cudaLaunchHostFunc(stream, wait_until_open, nullptr));
  CHECK(cudaMemcpyAsync(memory, here, bytes, cudaMemcpyHostToDevice, stream));
  add<<<4, 64, 0, stream>>>(memory, worked, 7);
  CHECK(cudaMemcpyAsync(back, memory, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaMemsetAsync(memory, 0xff, bytes, stream));
  program::expect(cudaStreamQuery(stream) == cudaErrorNotReady,
                  "a stream that stands still has taken copies of any size");
  std::vector<unsigned> given(size), found(size);
  fill(given.data(), size, 9);
  CHECK(cudaMemcpyAsync(other, given.data(), bytes, cudaMemcpyHostToDevice, beside));
  CHECK(cudaMemcpyAsync(found.data(), other, bytes, cudaMemcpyDeviceToHost, beside));
  CHECK(cudaStreamSynchronize(beside));
  program::expect(found == given, "copies on another stream do not wait for it");
  is_open.store(true);
  CHECK(cudaStreamSynchronize(stream));
  program::expect(holds(back, size, 1, worked, 7), "what comes before and after a copy on its stream stays there");

  const std::size_t width = 4096, rows = bytes / width;
  CHECK(cudaMemcpy2D(memory, width, given.data(), width, width - 4, rows, cudaMemcpyHostToDevice));
  std::memset(found.data(), 0, bytes);
  CHECK(cudaMemcpy2D(found.data(), width, memory, width, width, rows, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (std::size_t i = 0; i < rows * width / 4; ++i)
    is_right &= found[i] == (i % 1024 == 1023 ? 0xffffffffu : given[i]);
  program::expect(is_right, "rows in parts are rows");
  CHECK(cudaFreeHost(here));
  CHECK(cudaFreeHost(back));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaStreamDestroy(beside));
  return program::verdict();
}
