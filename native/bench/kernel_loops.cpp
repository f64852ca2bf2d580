#include "bench/kernel_loops.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "bench/kernel_texts.h"

namespace flexrack::bench::loops {

constexpr unsigned kLanes = 32;

void integer(std::uint32_t* out, unsigned threads, unsigned rounds) {
  for (unsigned first = 0; first < threads; first += kLanes) {
    std::uint32_t x[kLanes];
    for (unsigned i = 0; i < kLanes; i++) x[i] = first + i;
    for (unsigned round = 0; round < rounds; round++) {
      for (unsigned i = 0; i < kLanes; i++) x[i] = x[i] * 1664525u + 1013904223u, x[i] ^= x[i] >> 7;
    }
    std::memcpy(out + first, x, sizeof x);
  }
}

void fma(float* out, unsigned threads, unsigned rounds) {
  // Four chains a thread, of which the last counts.
  for (unsigned first = 0; first < threads; first += kLanes) {
    float x[4][kLanes];
    for (auto& chain : x) {
      for (unsigned i = 0; i < kLanes; i++) chain[i] = static_cast<float>(first + i);
    }
    for (unsigned round = 0; round < rounds; round++) {
      for (auto& chain : x) {
        for (unsigned i = 0; i < kLanes; i++) chain[i] = __builtin_fmaf(chain[i], 0.5f, 1.0f);
      }
    }
    for (unsigned i = 0; i < kLanes; i++) out[first + i] = x[3][i] + 0 * (x[0][i] + x[1][i] + x[2][i]);
  }
}

void streaming(const std::uint32_t* in, std::uint32_t* out, unsigned threads, unsigned rounds) {
  std::vector<std::uint32_t> sums(threads);
  for (unsigned round = 0; round < rounds; round++) {
    const std::size_t at = std::size_t{round} * threads;
    for (unsigned i = 0; i < threads; i++) out[at + i] = sums[i] += in[at + i];
  }
}

void matmul(const float* a, const float* b, float* c, unsigned m, unsigned n, unsigned k) {
  for (unsigned row = 0; row < m; row++) {
    float* to = c + std::size_t{row} * n;
    std::memset(to, 0, n * sizeof(float));
    for (unsigned i = 0; i < k; i++) {
      const float one = a[std::size_t{row} * k + i];
      const float* from = b + std::size_t{i} * n;
      for (unsigned column = 0; column < n; column++) to[column] = __builtin_fmaf(one, from[column], to[column]);
    }
  }
}

void histogram(const std::uint32_t* in, std::uint32_t* out, unsigned blocks, unsigned block, unsigned rounds) {
  for (unsigned b = 0; b < blocks; b++) {
    std::array<std::uint32_t, 32> counts{};
    for (unsigned thread = 0; thread < block; thread++) {
      std::uint32_t x = thread;
      for (unsigned round = 0; round < rounds; round++) counts[(x += in[b * block + thread]) & 31]++;
    }
    for (unsigned thread = 0; thread < block; thread++) out[b * block + thread] = counts[thread & 31];
  }
}

void shuffles(std::uint32_t* out, unsigned threads, unsigned rounds) {
  for (unsigned first = 0; first < threads; first += kLanes) {
    std::uint32_t x[kLanes], from[kLanes];
    for (auto& one : x) one = 1;
    for (unsigned round = 0; round < rounds; round++) {
      for (unsigned by = 1; by < kLanes; by *= 2) {
        std::memcpy(from, x, sizeof x);
        for (unsigned i = 0; i < kLanes; i++) x[i] += from[i ^ by];
      }
      for (auto& one : x) one += 3;
    }
    std::memcpy(out + first, x, sizeof x);
  }
}

/// RFC 1321, of one block whose words are all the thread's number; the state goes on.
void md5(std::uint32_t* out, unsigned threads, unsigned rounds, std::uint32_t offset) {
  static constexpr unsigned kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  std::uint32_t constants[64];
  for (unsigned i = 0; i < 64; i++)
    constants[i] = static_cast<std::uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
  for (unsigned first = 0; first < threads; first += kLanes) {
    std::uint32_t state[4][kLanes], of[4][kLanes];
    for (unsigned i = 0; i < kLanes; i++)
      state[0][i] = 0x67452301, state[1][i] = 0xefcdab89, state[2][i] = 0x98badcfe, state[3][i] = 0x10325476;
    for (unsigned round = 0; round < rounds; round++) {
      std::memcpy(of, state, sizeof of);
      const auto turn_all = [&](unsigned part, const auto& function) __attribute__((always_inline)) {
#pragma GCC unroll 16
        for (unsigned i = 16 * part; i < 16 * part + 16; i++) {
          auto &a = of[(64 - i) % 4], &b = of[(65 - i) % 4], &c = of[(66 - i) % 4], &d = of[(67 - i) % 4];
          const unsigned turn = kTurns[part][i % 4];
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
          for (unsigned lane = 0; lane < kLanes; lane++) {
            const std::uint32_t sum =
                a[lane] + function(b[lane], c[lane], d[lane]) + constants[i] + (offset + first + lane);
            a[lane] = b[lane] + (sum << turn | sum >> (32 - turn));
          }
        }
      };
      turn_all(0, [](std::uint32_t b, std::uint32_t c, std::uint32_t d) { return (b & c) | (~b & d); });
      turn_all(1, [](std::uint32_t b, std::uint32_t c, std::uint32_t d) { return (d & b) | (~d & c); });
      turn_all(2, [](std::uint32_t b, std::uint32_t c, std::uint32_t d) { return b ^ c ^ d; });
      turn_all(3, [](std::uint32_t b, std::uint32_t c, std::uint32_t d) { return c ^ (b | ~d); });
      for (unsigned part = 0; part < 4; part++) {
        for (unsigned i = 0; i < kLanes; i++) state[part][i] += of[part][i];
      }
    }
    std::memcpy(out + first, state[0], sizeof state[0]);
  }
}

void silu(const float* in, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    const float x = in[i] * 2.0f + 0.5f;
    out[i] = x / (1.0f + exp2f(x * -1.442695041f)) + in[i];
  }
}

void sums(const float* in, float* out, unsigned blocks, unsigned rows) {
  for (unsigned block = 0; block < blocks; block++) {
    float all[kLanes] = {};
    for (unsigned row = 0; row < rows; row++) {
      const float* from = in + (std::size_t{row} * blocks + block) * 1024;
      for (unsigned i = 0; i < 1024; i += kLanes) {
        for (unsigned lane = 0; lane < kLanes; lane++) all[lane] += from[i + lane];
      }
    }
    float sum = 0;
    for (const float one : all) sum += one;
    for (unsigned i = 0; i < 256; i++) out[block * 256 + i] = sum;
  }
}

void softmax(const float* in, float* out, std::size_t rows) {
  for (std::size_t row = 0; row < rows; row++) {
    const float* from = in + row * 1024;
    float* to = out + row * 1024;
    float greatest[kLanes], sums[kLanes] = {};
    std::memcpy(greatest, from, sizeof greatest);
    for (unsigned i = 0; i < 1024; i += kLanes) {
      for (unsigned lane = 0; lane < kLanes; lane++)
        greatest[lane] = from[i + lane] > greatest[lane] ? from[i + lane] : greatest[lane];
    }
    float most = greatest[0];
    for (const float one : greatest) most = one > most ? one : most;
    for (unsigned i = 0; i < 1024; i += kLanes) {
      for (unsigned lane = 0; lane < kLanes; lane++)
        sums[lane] += to[i + lane] = exp2f((from[i + lane] - most) * 1.442695041f);
    }
    float sum = 0;
    for (const float one : sums) sum += one;
    const float by = 1.0f / sum;
    for (unsigned i = 0; i < 1024; i++) to[i] *= by;
  }
}

void products_of_halves(const std::uint16_t* in, float* out, unsigned blocks, unsigned rounds) {
  // The table is what a core has instead of a tensor core's inputs.
  static const std::vector<float> kFloats = [] {
    std::vector<float> all(65536);
    for (unsigned raw = 0; raw < 65536; raw++) {
      const int exponent = static_cast<int>(raw >> 10 & 31);
      const auto fraction = static_cast<float>(raw & 1023);
      const float size = exponent == 0    ? std::ldexp(fraction, -24)
                         : exponent == 31 ? HUGE_VALF
                                          : std::ldexp(fraction + 1024, exponent - 25);
      all[raw] = raw & 0x8000 ? -size : size;
    }
    return all;
  }();
  std::vector<float> a(64 * 32), b(32 * 64);
  for (unsigned block = 0; block < blocks; block++) {
    float* to = out + std::size_t{block} * 64 * 64;
    std::memset(to, 0, 64 * 64 * sizeof(float));
    for (unsigned round = 0; round < rounds; round++) {
      for (unsigned i = 0; i < 64 * 32; i++) a[i] = kFloats[in[i]], b[i] = kFloats[in[2048 + i]];
      for (unsigned row = 0; row < 64; row++) {
        for (unsigned k = 0; k < 32; k++) {
          for (unsigned column = 0; column < 64; column++)
            to[row * 64 + column] = __builtin_fmaf(a[row * 32 + k], b[k * 64 + column], to[row * 64 + column]);
        }
      }
    }
  }
}

void polynomial(const double* in, double* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    double sum = 1;
    for (int term = 0; term < 8; term++) sum = __builtin_fma(sum, in[i], 0.5);
    out[i] = sum * in[i];
  }
}

void turned(const float* in, float* out, std::size_t count, unsigned columns, unsigned rows) {
  for (std::size_t i = 0; i < count; i++) {
    const unsigned index = static_cast<unsigned>(i), row = index / columns % rows, column = index % columns;
    const float x = in[std::size_t{column} * 2000 + row];
    out[i] = __builtin_fmaf(x, x, x);
  }
}

void brain_floats(const std::uint16_t* in, std::uint16_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    const std::uint32_t raw = static_cast<std::uint32_t>(in[i]) << 16;
    float x = __builtin_bit_cast(float, raw);
    x = __builtin_fmaf(x, 2.0f, -1.0f);
    x = x > 0.0f ? x : 0.0f;
    const auto word = __builtin_bit_cast(std::uint32_t, x);
    out[i] = static_cast<std::uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
}

void products_of_bytes(const std::int8_t* in, float* out, unsigned warps, unsigned rounds) {
  for (unsigned warp = 0; warp < warps; warp++) {
    float* to = out + std::size_t{warp} * 512;
    std::memset(to, 0, 512 * sizeof(float));
    for (unsigned round = 0; round < rounds; round++) {
      const std::int8_t* a = in + std::size_t{round} * 65536 + std::size_t{warp} % 128 * 512;
      for (unsigned tile = 0; tile < 4; tile++) {
        const std::int8_t* b = a + tile % 2 * 256;
        for (unsigned row = 0; row < 16; row++) {
          for (unsigned column = 0; column < 8; column++) {
            int sum = 0;
            for (unsigned k = 0; k < 32; k++) sum += a[row * 32 + k] * b[column * 32 + k];
            to[tile * 128 + row * 8 + column] =
                __builtin_fmaf(static_cast<float>(sum), 1.0f / 32768, to[tile * 128 + row * 8 + column]);
          }
        }
      }
    }
  }
}

void doubled(const float* in, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) out[i] = in[i] + in[i];
}

}  // namespace flexrack::bench::loops
