// Copies to the device that block are over when they come back: kernels see them on streams that the default stream
// does not hold back, too.
#include "program.h"

__global__ void ends(const unsigned* data, unsigned count, unsigned* out) {
  *out = data[0] == data[count - 1] ? data[0] : ~0u;
}

enum class Other { same, non_blocking, made_afterwards };

struct Case {
  std::size_t bytes;
  bool is_pinned, is_rows;
  Other other;
};

unsigned unseen(const Case& how) {
  const auto count = static_cast<unsigned>(how.bytes / sizeof(unsigned));
  unsigned *here = nullptr, *there = nullptr, *found = nullptr, value = 0, missed = 0;
  if (how.is_pinned) CHECK(cudaMallocHost(&here, how.bytes));
  else here = static_cast<unsigned*>(std::malloc(how.bytes));
  CHECK(cudaMalloc(&there, how.bytes));
  CHECK(cudaMalloc(&found, sizeof(unsigned)));
  cudaStream_t stream = nullptr;
  if (how.other == Other::non_blocking) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (unsigned round = 1; round <= 25; ++round) {
    for (unsigned i = 0; i < count; ++i) here[i] = round;
    if (how.is_rows)
      CHECK(cudaMemcpy2D(there, how.bytes / 4, here, how.bytes / 4, how.bytes / 4, 4, cudaMemcpyHostToDevice));
    else CHECK(cudaMemcpy(there, here, how.bytes, cudaMemcpyHostToDevice));
    if (how.other == Other::made_afterwards) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ends<<<1, 1, 0, stream>>>(there, count, found);
    CHECK(cudaMemcpyAsync(&value, found, sizeof value, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    missed += value != round;
    if (how.other == Other::made_afterwards) CHECK(cudaStreamDestroy(stream));
  }
  if (how.other == Other::non_blocking) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(there));
  CHECK(cudaFree(found));
  if (how.is_pinned) CHECK(cudaFreeHost(here));
  else std::free(here);
  return missed;
}

int main() {
  const char* const names[] = {"the same stream", "a stream of its own", "a stream made afterwards"};
  // What begins without such streams first: a driver may treat them alike from the first one on.
  for (const auto other : {Other::same, Other::made_afterwards, Other::non_blocking}) {
    for (const auto bytes : {std::size_t{4096}, std::size_t{4} << 20}) {
      for (const bool is_pinned : {false, true}) {
        for (const bool is_rows : {false, true}) {
          std::printf("%s, %zu bytes, %s, %s: ", names[static_cast<int>(other)], bytes,
                      is_pinned ? "pinned" : "pageable", is_rows ? "rows" : "plain");
          program::expect(unseen({bytes, is_pinned, is_rows, other}) == 0, "all were seen");
        }
      }
    }
  }
  return program::verdict();
}
