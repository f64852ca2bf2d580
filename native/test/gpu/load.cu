// A program at work for as many seconds as its first argument says: prints "ready", computes, and says how many steps
// it made. What it computed has to be right: every step depends on the one before. Each has as many rounds as the third
// argument says, else as take about the milliseconds of the second.
#include <chrono>

#include "test/cuda/program.h"

constexpr int kCount = 1024;

/// Rounds of a generator, as many as take long enough.
__global__ void step(unsigned* values, int rounds) {
  unsigned value = values[threadIdx.x];
  for (int round = 0; round < rounds; ++round) value = value * 1664525u + 1013904223u;
  values[threadIdx.x] = value;
}

/// The same for any number of rounds: x -> a x + c, squared again and again.
unsigned after(unsigned value, unsigned long long rounds) {
  unsigned a = 1664525u, c = 1013904223u;
  for (; rounds > 0; rounds /= 2) {
    if (rounds % 2) value = value * a + c;
    c += a * c;
    a *= a;
  }
  return value;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Rounds that take about so long: doubled until they do.
int rounds_for(double wanted, unsigned* values, unsigned long long* made) {
  // The first launch loads the kernel, which takes longer than it does.
  step<<<1, kCount>>>(values, 0);
  CHECK(cudaDeviceSynchronize());
  for (int rounds = 1000;; rounds *= 2) {
    const double start = seconds();
    step<<<1, kCount>>>(values, rounds);
    CHECK(cudaDeviceSynchronize());
    *made += static_cast<unsigned long long>(rounds);
    if (seconds() - start >= wanted || rounds > (1 << 28)) return rounds;
  }
}

int main(int count, char** arguments) {
  const double limit = count > 1 ? std::atof(arguments[1]) : 5, each = (count > 2 ? std::atof(arguments[2]) : 1) / 1000;
  std::vector<unsigned> begin(kCount);
  for (unsigned i = 0; i < kCount; ++i) begin[i] = i;
  const program::Device<unsigned> values(begin);
  unsigned long long made = 0, steps = 0;
  const int rounds = count > 3 ? std::atoi(arguments[3]) : rounds_for(each, values, &made);
  std::printf("ready\n");
  std::fflush(stdout);
  const double start = seconds();
  while (seconds() - start < limit) {
    for (int i = 0; i < 8; ++i, ++steps) step<<<1, kCount>>>(values, rounds);
    CHECK(cudaDeviceSynchronize());
  }
  made += steps * static_cast<unsigned long long>(rounds);
  const auto found = values.read();
  bool is_right = true;
  for (unsigned i = 0; i < kCount; ++i) is_right &= found[i] == after(i, made);
  std::printf("%llu steps of %d rounds, %.3f ms each, %s\n", steps, rounds,
              1e3 * (seconds() - start) / static_cast<double>(steps > 0 ? steps : 1), is_right ? "right" : "WRONG");
  return is_right ? 0 : 1;
}
