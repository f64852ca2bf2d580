// mma of 16 rows and 8 columns, of halves, bfloat16, tf32 and bytes: what frameworks use, by whole tiles. Products of
// floats are exact in double, and their sums are made in the order of k, as ops_matrix.cpp makes them for any shape:
// the same bits.
//
// In registers a matrix lies so that vectors fit it (9.7.14.5): 32 lanes of one register are eight rows of a's or d's,
// or eight columns of b's, of 16 bytes each.
#include <array>
#include <cstring>

#include "sim/exec/fragment.h"
#include "sim/exec/narrow.h"
#include "sim/exec/ops_matrix.h"
#include "sim/exec/shells.h"
#include "sim/exec/tile_layout.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using ptx::Fragment;
using ptx::Matrix;

constexpr unsigned kRegisters = 4;                ///< of a fragment, at most

/// The registers of a fragment; what is read is copied, so that results may lie where sources did.
u32* fragment_register(Warp& warp, const ptx::Operand& list, unsigned at) {
  return reinterpret_cast<u32*>(warp.registers<u32>(place_of(warp.frame->code->function->operands[list.at + at])));
}

namespace any_machine {

/// Where a lane's elements lie in a and b, c and d: by their number and the lane.
struct TileLayout {
  std::array<u16, 8 * kLanes> a{};
  std::array<u16, 4 * kLanes> b{}, c{};

  TileLayout(unsigned k, unsigned each) {
    const Matrix shape{16, 8, k, false, false, false, Type::none, Type::none, Type::none, Type::none};
    const unsigned count = 16 * k / kLanes;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned at = 0; at < count; ++at) {
        const auto [row, column] = mma_place(Fragment::a, shape, lane, at, each);
        a[at * kLanes + lane] = static_cast<u16>(row * k + column);
      }
      for (unsigned at = 0; at < count / 2; ++at) {
        const auto [row, column] = mma_place(Fragment::b, shape, lane, at, each);
        b[at * kLanes + lane] = static_cast<u16>(row * 8 + column);
      }
      for (unsigned at = 0; at < 4; ++at) {
        const auto [row, column] = mma_place(Fragment::d, shape, lane, at, 1);
        c[at * kLanes + lane] = static_cast<u16>(row * 8 + column);
      }
    }
  }
};

FLEXRACK_INLINE float tile_element(u32 raw, Type type) {
  return type == Type::f16    ? half_to_float(static_cast<u16>(raw))
         : type == Type::bf16 ? bfloat_to_float(static_cast<u16>(raw))
                              : bits<float>(raw & 0xffffe000U);
}

template <Type Element>
void gather_tile(Warp& warp, const ptx::Operand& list, const u16* places, double* to) {
  constexpr unsigned kEach = Element == Type::tf32 ? 1 : 2;
  for (unsigned word = 0; word < list.count; ++word) {
    const u32* from = fragment_register(warp, list, word);
    for (unsigned part = 0; part < kEach; ++part, places += kLanes) {
      for (unsigned lane = 0; lane < kLanes; ++lane)
        to[places[lane]] = tile_element(from[lane] >> (16 * part), Element);
    }
  }
}

template <Type Element, unsigned K>
const Step* multiplies_floats(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  static const TileLayout layout(K, Element == Type::tf32 ? 1 : 2);
  double a[16 * K], b[8 * K], d[16 * 8];
  gather_tile<Element>(warp, from.o[1], layout.a.data(), a);
  gather_tile<Element>(warp, from.o[2], layout.b.data(), b);
  for (unsigned at = 0; at < 4; ++at) {
    const u32* values = fragment_register(warp, from.o[3], at);
    for (unsigned lane = 0; lane < kLanes; ++lane) d[layout.c[at * kLanes + lane]] = bits<float>(values[lane]);
  }
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned k = 0; k < K; ++k) {
      for (unsigned column = 0; column < 8; ++column) d[row * 8 + column] += a[row * K + k] * b[k * 8 + column];
    }
  }
  for (unsigned at = 0; at < 4; ++at) {
    u32* values = fragment_register(warp, from.o[0], at);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = bits<u32>(nan_to_one(static_cast<float>(d[layout.c[at * kLanes + lane]])));
  }
  return step + 1;
}

}  // namespace any_machine

#if defined(__x86_64__)
namespace with_avx2 {
#define FLEXRACK_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"), FLEXRACK_FAST))
#define FLEXRACK_AVX2_INLINE [[gnu::always_inline]] FLEXRACK_AVX2 inline

/// Of b, whose columns lie as rows: even ones first, then odd ones. So a row of four doubles each is what two registers
/// of d have in four lanes.
constexpr unsigned kEvenThenOdd[8] = {0, 2, 4, 6, 1, 3, 5, 7}, kInOrder[8] = {0, 1, 2, 3, 4, 5, 6, 7};

FLEXRACK_AVX2_INLINE __m128i row_of(const u32* from, unsigned row) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 4 * row));
}

template <Type Element>
FLEXRACK_AVX2_INLINE __m256 widened_row(__m128i halves) {
  if constexpr (Element == Type::f16) return _mm256_cvtph_ps(halves);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
FLEXRACK_AVX2_INLINE void put_doubles(__m256 from, double* to) {
  _mm256_storeu_pd(to, _mm256_cvtps_pd(_mm256_castps256_ps128(from)));
  _mm256_storeu_pd(to + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(from, 1)));
}
FLEXRACK_AVX2_INLINE __m128 tf32_row(const u32* from, unsigned row) {
  return _mm_castsi128_ps(_mm_and_si128(row_of(from, row), _mm_set1_epi32(static_cast<int>(0xffffe000U))));
}

/// Of one register, eight rows of a, `stride` doubles from one to the next.
template <Type Element>
FLEXRACK_AVX2_INLINE void rows_of_a(const u32* from, double* to, unsigned stride) {
  for (unsigned row = 0; row < 8; ++row) {
    if constexpr (Element == Type::tf32) _mm256_storeu_pd(to + row * stride, _mm256_cvtps_pd(tf32_row(from, row)));
    else put_doubles(widened_row<Element>(row_of(from, row)), to + row * stride);
  }
}

/// Of one register, rows of b: eight of halves, four of tf32.
template <Type Element>
FLEXRACK_AVX2_INLINE void rows_of_b(const u32* from, double* to, const unsigned (&order)[8]) {
  if constexpr (Element == Type::tf32) {
    for (unsigned half = 0; half < 2; ++half) {
      __m128 columns[4];
      for (unsigned i = 0; i < 4; ++i) columns[i] = tf32_row(from, order[4 * half + i]);
      _MM_TRANSPOSE4_PS(columns[0], columns[1], columns[2], columns[3]);
      for (unsigned k = 0; k < 4; ++k) _mm256_storeu_pd(to + 8 * k + 4 * half, _mm256_cvtps_pd(columns[k]));
    }
  } else {
    __m128i rows[8];
    for (unsigned i = 0; i < 8; ++i) rows[i] = row_of(from, order[i]);
    turn_eight(rows);
    for (unsigned k = 0; k < 8; ++k) put_doubles(widened_row<Element>(rows[k]), to + 8 * k);
  }
}

/// d += a * b. A product is exact, so that adding it in the same instruction rounds where two would.
template <unsigned K>
FLEXRACK_AVX2_INLINE void multiply_doubles(const double* a, const double* b, double* d) {
  for (unsigned row = 0; row < 16; row += 4) {
    __m256d sums[4][2];
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned j = 0; j < 2; ++j) sums[i][j] = _mm256_loadu_pd(d + 8 * (row + i) + 4 * j);
    }
    for (unsigned k = 0; k < K; ++k) {
      const __m256d left = _mm256_loadu_pd(b + 8 * k), right = _mm256_loadu_pd(b + 8 * k + 4);
      for (unsigned i = 0; i < 4; ++i) {
        const __m256d by = _mm256_broadcast_sd(a + K * (row + i) + k);
        sums[i][0] = _mm256_fmadd_pd(by, left, sums[i][0]);
        sums[i][1] = _mm256_fmadd_pd(by, right, sums[i][1]);
      }
    }
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned j = 0; j < 2; ++j) _mm256_storeu_pd(d + 8 * (row + i) + 4 * j, sums[i][j]);
    }
  }
}

/// A double as a float whose last bit is set where bits were lost (halves.h).
FLEXRACK_AVX2_INLINE __m128 rounded_to_odd(__m256d value) {
  const __m128 near = _mm256_cvtpd_ps(value);
  const __m256d rest = _mm256_sub_pd(value, _mm256_cvtps_pd(near)), zero = _mm256_setzero_pd();
  const __m256d is_lost = _mm256_cmp_pd(rest, zero, _CMP_NEQ_OQ);
  const __m256d grows = _mm256_xor_pd(_mm256_cmp_pd(rest, zero, _CMP_GT_OQ),
                                      _mm256_cmp_pd(value, zero, _CMP_GT_OQ));  // where not: the signs are the same
  const auto narrow = [](__m256d mask) __attribute__((always_inline, target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))) {
    const __m256i both = _mm256_castpd_si256(mask);
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(_mm256_castsi256_si128(both)),
                                           _mm_castsi128_ps(_mm256_extracti128_si256(both, 1)), 0x88));
  };
  const __m128i raw = _mm_castps_si128(near), one = _mm_set1_epi32(1),
                is_even = _mm_cmpeq_epi32(_mm_and_si128(raw, one), _mm_setzero_si128());
  const __m128i change =
      _mm_or_si128(_mm_and_si128(narrow(grows), _mm_set1_epi32(-2)), one);  // 1, or -1 where the magnitude shrinks
  return _mm_castsi128_ps(_mm_add_epi32(raw, _mm_and_si128(_mm_and_si128(narrow(is_lost), is_even), change)));
}

template <Type Element, Type Sum, unsigned K>
FLEXRACK_AVX2 const Step* multiplies_floats(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  constexpr unsigned kColumns = Element == Type::tf32 ? 4 : 8;  // of a register of a, rows of one of b
  constexpr bool kIsHalf = Sum == Type::f16;
  double a[16 * K], b[8 * K], d[16 * 8];
  for (unsigned r = 0; r < 2 * K / kColumns; ++r)
    rows_of_a<Element>(fragment_register(warp, from.o[1], r), a + K * 8 * (r & 1) + kColumns * (r >> 1), K);
  for (unsigned r = 0; r < K / kColumns; ++r)
    rows_of_b<Element>(fragment_register(warp, from.o[2], r), b + 8 * kColumns * r, kIsHalf ? kInOrder : kEvenThenOdd);
  for (unsigned r = 0; r < (kIsHalf ? 2 : 4); ++r) {
    const u32* values = fragment_register(warp, from.o[3], r);
    for (unsigned row = 0; row < 8; ++row) {
      if constexpr (kIsHalf) put_doubles(_mm256_cvtph_ps(row_of(values, row)), d + 64 * r + 8 * row);
      else
        _mm256_storeu_pd(d + 64 * (r >> 1) + 8 * row + 4 * (r & 1),
                         _mm256_cvtps_pd(_mm_castsi128_ps(row_of(values, row))));
    }
  }
  multiply_doubles<K>(a, b, d);
  for (unsigned r = 0; r < (kIsHalf ? 2 : 4); ++r) {
    u32* values = fragment_register(warp, from.o[0], r);
    for (unsigned row = 0; row < 8; ++row) {
      auto* to = reinterpret_cast<__m128i*>(values + 4 * row);
      if constexpr (kIsHalf) {
        const __m128 left = rounded_to_odd(_mm256_loadu_pd(d + 64 * r + 8 * row)),
                     right = rounded_to_odd(_mm256_loadu_pd(d + 64 * r + 8 * row + 4));
        const __m128i is_nan = _mm_packs_epi32(_mm_castps_si128(_mm_cmpunord_ps(left, left)),
                                               _mm_castps_si128(_mm_cmpunord_ps(right, right)));
        _mm_storeu_si128(
            to, _mm_blendv_epi8(_mm256_cvtps_ph(_mm256_set_m128(right, left), 0), _mm_set1_epi16(kNan16), is_nan));
      } else {
        const __m128 sum = _mm256_cvtpd_ps(_mm256_loadu_pd(d + 64 * (r >> 1) + 8 * row + 4 * (r & 1)));
        _mm_storeu_si128(to, _mm_castps_si128(_mm_blendv_ps(sum, _mm_castsi128_ps(_mm_set1_epi32(kNan32)),
                                                            _mm_cmpunord_ps(sum, sum))));
      }
    }
  }
  return step + 1;
}

template <Type Element>
FLEXRACK_AVX2_INLINE __m256i widened_bytes(__m128i bytes) {
  return Element == Type::u8 ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
}

/// Bytes, by pairs: two products fit into 32 bits, and so does the sum of all.
template <Type A, Type B, unsigned K, bool Saturates>
FLEXRACK_AVX2 const Step* multiplies_bytes(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  alignas(32) u32 a[16 * K / 2], d[4][kLanes];
  __m256i b[K / 2];
  for (unsigned r = 0; r < K / 8; ++r) {
    const u32* values = fragment_register(warp, from.o[1], r);
    for (unsigned row = 0; row < 8; ++row) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(a + K / 2 * (row + 8 * (r & 1)) + 8 * (r >> 1)),
                          widened_bytes<A>(row_of(values, row)));
    }
  }
  for (unsigned r = 0; r < K / 16; ++r) {
    __m128i rows[8];
    for (unsigned i = 0; i < 8; ++i) rows[i] = row_of(fragment_register(warp, from.o[2], r), kEvenThenOdd[i]);
    turn_eight(rows);
    for (unsigned i = 0; i < 8; ++i) b[8 * r + i] = widened_bytes<B>(rows[i]);
  }
  for (unsigned r = 0; r < kRegisters; ++r) std::memcpy(d[r], fragment_register(warp, from.o[3], r), sizeof d[r]);
  for (unsigned row = 0; row < 16; ++row) {
    auto* even = reinterpret_cast<__m128i*>(d[2 * (row / 8)] + 4 * (row % 8));
    auto* odd = reinterpret_cast<__m128i*>(d[2 * (row / 8) + 1] + 4 * (row % 8));
    __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (unsigned k = 0; k < K / 2; ++k) {
      sums[k % 2] = _mm256_add_epi32(sums[k % 2],
                                     _mm256_madd_epi16(_mm256_set1_epi32(static_cast<int>(a[K / 2 * row + k])), b[k]));
    }
    const __m256i dot = _mm256_add_epi32(sums[0], sums[1]),
                  c = _mm256_set_m128i(_mm_loadu_si128(odd), _mm_loadu_si128(even));
    __m256i sum = _mm256_add_epi32(c, dot);
    if constexpr (Saturates) {
      // Both of one sign, and the sum of the other: the greatest of c's sign.
      const __m256i over = _mm256_and_si256(_mm256_xor_si256(c, sum), _mm256_xor_si256(dot, sum));
      const __m256i most = _mm256_xor_si256(_mm256_srai_epi32(c, 31), _mm256_set1_epi32(0x7fffffff));
      sum = _mm256_castps_si256(
          _mm256_blendv_ps(_mm256_castsi256_ps(sum), _mm256_castsi256_ps(most), _mm256_castsi256_ps(over)));
    }
    _mm_storeu_si128(even, _mm256_castsi256_si128(sum));
    _mm_storeu_si128(odd, _mm256_extracti128_si256(sum, 1));
  }
  for (unsigned r = 0; r < kRegisters; ++r) std::memcpy(fragment_register(warp, from.o[0], r), d[r], sizeof d[r]);
  return step + 1;
}

template <Type Sum>
Handler halves_handler(const Matrix& shape) {
  if (shape.a == Type::f16)
    return shape.k == 16 ? multiplies_floats<Type::f16, Sum, 16> : multiplies_floats<Type::f16, Sum, 8>;
  return shape.k == 16 ? multiplies_floats<Type::bf16, Sum, 16> : multiplies_floats<Type::bf16, Sum, 8>;
}
template <Type A, Type B, unsigned K>
Handler bytes_handler(bool saturates) {
  return saturates ? multiplies_bytes<A, B, K, true> : multiplies_bytes<A, B, K, false>;
}
template <Type A, Type B>
Handler bytes_handler(unsigned k, bool saturates) {
  return k == 32 ? bytes_handler<A, B, 32>(saturates) : bytes_handler<A, B, 16>(saturates);
}

}  // namespace with_avx2

Handler vector_tile_handler(const Matrix& shape) {
  const bool is_k16 = shape.k == 16 || shape.k == 8;
  if (shape.d == Type::f32 && (shape.a == Type::f16 || shape.a == Type::bf16) && is_k16)
    return with_avx2::halves_handler<Type::f32>(shape);
  if (shape.d == Type::f16 && shape.a == Type::f16 && is_k16) return with_avx2::halves_handler<Type::f16>(shape);
  if (shape.d == Type::f32 && shape.a == Type::tf32)
    return shape.k == 8 ? with_avx2::multiplies_floats<Type::tf32, Type::f32, 8>
                        : with_avx2::multiplies_floats<Type::tf32, Type::f32, 4>;
  return nullptr;
}
Handler byte_tile_handler(const Matrix& shape, bool saturates) {
  if (shape.d != Type::s32 || (shape.k != 32 && shape.k != 16)) return nullptr;
  if (shape.a == Type::s8)
    return shape.b == Type::s8   ? with_avx2::bytes_handler<Type::s8, Type::s8>(shape.k, saturates)
           : shape.b == Type::u8 ? with_avx2::bytes_handler<Type::s8, Type::u8>(shape.k, saturates)
                                 : nullptr;
  if (shape.a == Type::u8)
    return shape.b == Type::s8   ? with_avx2::bytes_handler<Type::u8, Type::s8>(shape.k, saturates)
           : shape.b == Type::u8 ? with_avx2::bytes_handler<Type::u8, Type::u8>(shape.k, saturates)
                                 : nullptr;
  return nullptr;
}
#endif

Handler plain_tile_handler(const Matrix& shape) {
  if (shape.d != Type::f32) return nullptr;
  if (shape.a == Type::f16 && shape.k == 16) return any_machine::multiplies_floats<Type::f16, 16>;
  if (shape.a == Type::f16 && shape.k == 8) return any_machine::multiplies_floats<Type::f16, 8>;
  if (shape.a == Type::bf16 && shape.k == 16) return any_machine::multiplies_floats<Type::bf16, 16>;
  if (shape.a == Type::bf16 && shape.k == 8) return any_machine::multiplies_floats<Type::bf16, 8>;
  if (shape.a == Type::tf32 && shape.k == 8) return any_machine::multiplies_floats<Type::tf32, 8>;
  if (shape.a == Type::tf32 && shape.k == 4) return any_machine::multiplies_floats<Type::tf32, 4>;
  return nullptr;
}

}  // namespace

Handler tile_handler(const Making& making, const Instruction& from) {
  const Matrix& shape = making.function.matrices[from.index];
  if (from.op != Op::mma || shape.m != 16 || shape.n != 8 || shape.c != shape.d) return nullptr;
  if (!has_avx2()) return shape.a == shape.b ? plain_tile_handler(shape) : nullptr;
#if defined(__x86_64__)
  if (const auto found = byte_tile_handler(shape, from.flags & ptx::kSatFinite)) return found;
  return shape.a == shape.b ? vector_tile_handler(shape) : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace flexrack::sim::exec
