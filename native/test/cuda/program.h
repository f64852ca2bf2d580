// What the programs here share. Each is an ordinary CUDA program that knows nothing of us, checks its results against
// the CPU's, and prints the same bytes wherever it runs on the same device: no times, no addresses, no names.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/// Ends the program where a call of the runtime fails that must not.
#define CHECK(call) program::check((call), #call, __LINE__)

namespace program {

inline int failures = 0;

inline void check(cudaError_t error, const char* call, int line) {
  if (error == cudaSuccess) return;
  std::printf("line %d: %s: %s\n", line, call, cudaGetErrorName(error));
  std::exit(1);
}

/// One line an expectation; the program goes on.
inline void expect(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
  failures += !holds;
}

/// What main returns.
inline int verdict() {
  std::printf(failures == 0 ? "PASS\n" : "FAIL: %d\n", failures);
  return failures == 0 ? 0 : 1;
}

/// How much larger than small the problem is to be: the first argument, 1 without.
inline int scale(int count, char** arguments) { return count > 1 ? std::atoi(arguments[1]) : 1; }

/// The same numbers everywhere (xorshift, 32 bits).
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed * 2654435761u + 1) {}
  std::uint32_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 17, state_ ^= state_ << 5;
    return state_;
  }
  /// From -1 to below 1.
  float uniform() { return static_cast<float>(next() >> 8) * (2.0f / 16777216.0f) - 1.0f; }

 private:
  std::uint32_t state_;
};

inline std::vector<float> random_floats(std::size_t count, std::uint32_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (auto& value : values) value = random.uniform();
  return values;
}

inline std::vector<int> random_ints(std::size_t count, std::uint32_t seed, std::uint32_t below) {
  Random random(seed);
  std::vector<int> values(count);
  for (auto& value : values) value = static_cast<int>(random.next() % below);
  return values;
}

/// FNV-1a of the bytes: a result in one line.
inline unsigned long long checksum(const void* data, std::size_t size) {
  std::uint64_t hash = 14695981039346656037ull;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ull;
  return hash;
}
template <class T>
void print_checksum(const char* what, const std::vector<T>& values) {
  std::printf("%s: %016llx\n", what, checksum(values.data(), values.size() * sizeof(T)));
}

inline bool is_near(double a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * std::fmax(1.0, std::fabs(b));
}

/// Memory of the device that is freed at the end.
template <class T>
class Device {
 public:
  explicit Device(std::size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count * sizeof(T))); }
  explicit Device(const std::vector<T>& values) : Device(values.size()) {
    CHECK(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  operator T*() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    CHECK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

}  // namespace program
