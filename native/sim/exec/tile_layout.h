// Matrices of 16-bit elements in registers and in rows, where the processor has vectors for it.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>

#include "sim/exec/numbers.h"

namespace flexrack::sim::exec {

#if defined(__x86_64__)
/// Eight rows of eight elements of 16 bits, turned over their diagonal.
FLEXRACK_INLINE void turn_eight(__m128i (&rows)[8]) {
  __m128i pairs[8], fours[8];
  for (int i = 0; i < 4; ++i) {
    pairs[2 * i] = _mm_unpacklo_epi16(rows[2 * i], rows[2 * i + 1]);
    pairs[2 * i + 1] = _mm_unpackhi_epi16(rows[2 * i], rows[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    fours[4 * i] = _mm_unpacklo_epi32(pairs[4 * i], pairs[4 * i + 2]);
    fours[4 * i + 1] = _mm_unpackhi_epi32(pairs[4 * i], pairs[4 * i + 2]);
    fours[4 * i + 2] = _mm_unpacklo_epi32(pairs[4 * i + 1], pairs[4 * i + 3]);
    fours[4 * i + 3] = _mm_unpackhi_epi32(pairs[4 * i + 1], pairs[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    rows[2 * i] = _mm_unpacklo_epi64(fours[i], fours[4 + i]);
    rows[2 * i + 1] = _mm_unpackhi_epi64(fours[i], fours[4 + i]);
  }
}
#endif

/// What ldmatrix puts into a register's 32 lanes of the rows of an 8x8 matrix: row after row, a lane two elements;
/// transposed, column after column.
FLEXRACK_INLINE void gather_rows(const std::byte* const* rows, bool is_transposed, std::uint32_t* lanes) {
  if (!is_transposed) {
    for (unsigned row = 0; row < 8; ++row) std::memcpy(lanes + 4 * row, rows[row], 16);
    return;
  }
#if defined(__x86_64__)
  __m128i all[8];
  for (unsigned row = 0; row < 8; ++row) all[row] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[row]));
  turn_eight(all);
  for (unsigned row = 0; row < 8; ++row) _mm_storeu_si128(reinterpret_cast<__m128i*>(lanes + 4 * row), all[row]);
#else
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::uint16_t low = 0, high = 0;
    std::memcpy(&low, rows[2 * (lane % 4)] + 2 * (lane / 4), sizeof low);
    std::memcpy(&high, rows[2 * (lane % 4) + 1] + 2 * (lane / 4), sizeof high);
    lanes[lane] = low | static_cast<std::uint32_t>(high) << 16;
  }
#endif
}

}  // namespace flexrack::sim::exec
