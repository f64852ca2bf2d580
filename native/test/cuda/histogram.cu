// Histograms by atomics: global, shared, and one an agreeing group of a warp (ballot and match).
#include "program.h"

constexpr int kBins = 64;

__global__ void by_global(const int* values, unsigned* bins, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[values[i]], 1u);
}

__global__ void by_shared(const int* values, unsigned* bins, int count) {
  __shared__ unsigned mine[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[values[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], mine[bin]);
}

__global__ void by_groups(const int* values, unsigned* bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned active = __ballot_sync(0xffffffffu, i < count);
  if (i >= count) return;
  const unsigned same = __match_any_sync(active, values[i]);
  if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&bins[values[i]], __popc(same));
}

struct Extremes {
  int least, most;
  unsigned all_bits, no_bits, parity, wraps;
  unsigned long long sum;
  int last_exchanged;
};

__global__ void other_atomics(const int* values, Extremes* found, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  atomicMin(&found->least, values[i]);
  atomicMax(&found->most, values[i]);
  atomicOr(&found->all_bits, values[i]);
  atomicAnd(&found->no_bits, values[i] | 0x100);
  atomicXor(&found->parity, values[i]);
  atomicInc(&found->wraps, 99);
  atomicAdd(&found->sum, static_cast<unsigned long long>(values[i]) << 30);
  if (atomicCAS(&found->last_exchanged, -1, 5) == -1) atomicExch(&found->last_exchanged, 7);
}

int main(int count, char** arguments) {
  const int size = 50001 * program::scale(count, arguments);
  const auto values = program::random_ints(size, 8, kBins);
  std::vector<unsigned> right(kBins, 0);
  for (const auto value : values) ++right[value];
  const program::Device<int> on_values(values);
  const program::Device<unsigned> bins(kBins);
  const auto try_one = [&](const char* what, auto launch) {
    CHECK(cudaMemset(bins, 0, bins.bytes()));
    launch();
    CHECK(cudaGetLastError());
    program::expect(bins.read() == right, what);
  };
  try_one("global atomics count as the CPU", [&] { by_global<<<20, 128>>>(on_values, bins, size); });
  try_one("shared atomics count as the CPU", [&] { by_shared<<<20, 128>>>(on_values, bins, size); });
  try_one("groups of a warp count as the CPU", [&] { by_groups<<<(size + 127) / 128, 128>>>(on_values, bins, size); });
  program::print_checksum("bins", right);

  const Extremes begin{1 << 30, -1, 0, ~0u, 0, 0, 0, -1};
  const program::Device<Extremes> on_found(std::vector<Extremes>{begin});
  other_atomics<<<(size + 127) / 128, 128>>>(on_values, on_found, size);
  CHECK(cudaGetLastError());
  const auto found = on_found.read()[0];
  Extremes wanted{0, kBins - 1, kBins - 1, 0x100, 0, static_cast<unsigned>(size % 100), 0, 7};
  for (const auto value : values) wanted.parity ^= value, wanted.sum += static_cast<unsigned long long>(value) << 30;
  std::printf("least %d, most %d, or %x, and %x, xor %x, inc %u, sum %llu, exchanged %d\n", found.least, found.most,
              found.all_bits, found.no_bits, found.parity, found.wraps, found.sum, found.last_exchanged);
  program::expect(found.least == wanted.least && found.most == wanted.most && found.all_bits == wanted.all_bits &&
                      found.no_bits == wanted.no_bits && found.parity == wanted.parity && found.wraps == wanted.wraps &&
                      found.sum == wanted.sum && found.last_exchanged == wanted.last_exchanged,
                  "all atomics are the CPU's");
  return program::verdict();
}
