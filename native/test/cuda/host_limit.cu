// More memory of the host than there may be: it ends with an error, and what is given back can be had again. An
// argument has it say how much there was.
#include "program.h"

__global__ void touch(int* values) { values[threadIdx.x] = threadIdx.x; }

int main(int count, char**) {
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  std::size_t free_bytes = 0, total = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &total));
  std::vector<int*> pieces;
  cudaError_t error = cudaSuccess;
  for (int round = 0; round < 2; ++round) {
    std::size_t had = 0;
    for (error = cudaSuccess; had <= total / kPiece; ++had) {
      int* piece = nullptr;
      error = had % 2 == 0 ? cudaMallocManaged(&piece, kPiece) : cudaHostAlloc(&piece, kPiece, cudaHostAllocMapped);
      if (error != cudaSuccess) break;
      pieces.push_back(piece);
    }
    if (count > 1) std::printf("%zu pieces\n", had);
    program::expect(error == cudaSuccess || error == cudaErrorMemoryAllocation,
                    "there is as much as is asked for, or an error that says so");
    (void)cudaGetLastError();
    touch<<<1, 32>>>(pieces.back());
    CHECK(cudaDeviceSynchronize());
    program::expect(had > 0 && pieces.back()[31] == 31, "and the last piece works");
    for (std::size_t i = 0; i < had; ++i) CHECK(i % 2 == 0 ? cudaFree(pieces[i]) : cudaFreeHost(pieces[i]));
    pieces.clear();
  }
  return program::verdict();
}
