// What kernels do, as loops that a compiler makes vector code of: what a core can do at best with the same work,
// without a GPU's program in between.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flexrack::bench::loops {

void integer(std::uint32_t* out, unsigned threads, unsigned rounds);
void fma(float* out, unsigned threads, unsigned rounds);
void streaming(const std::uint32_t* in, std::uint32_t* out, unsigned threads, unsigned rounds);
/// c (m x n) = a (m x k) * b (k x n), all by rows.
void matmul(const float* a, const float* b, float* c, unsigned m, unsigned n, unsigned k);
void histogram(const std::uint32_t* in, std::uint32_t* out, unsigned blocks, unsigned block, unsigned rounds);
void shuffles(std::uint32_t* out, unsigned threads, unsigned rounds);
/// Of messages whose words are all the thread's number and `offset`.
void md5(std::uint32_t* out, unsigned threads, unsigned rounds, std::uint32_t offset);
/// out = x * sigmoid(x) + y, of four floats a thread.
void silu(const float* in, float* out, std::size_t count);
/// One sum a block, of `rows` rows of 1024 each.
void sums(const float* in, float* out, unsigned blocks, unsigned rows);
/// Of rows of 1024.
void softmax(const float* in, float* out, std::size_t rows);
/// Halves of tiles of 64 x 32 and 32 x 64, `rounds` of them, into one of 64 x 64 floats for each block.
void products_of_halves(const std::uint16_t* in, float* out, unsigned blocks, unsigned rounds);
/// Eight terms of a polynomial whose coefficients are 1/2, times x.
void polynomial(const double* in, double* out, std::size_t count);
/// x x + x, of an array of `columns` columns that is read by columns and written by rows, again and again.
void turned(const float* in, float* out, std::size_t count, unsigned columns, unsigned rows);
/// The greater of 2 x - 1 and 0, in bfloat16.
void brain_floats(const std::uint16_t* in, std::uint16_t* out, std::size_t count);
/// Of each warp, 16 x 32 bytes times 32 x 8, four times a round.
void products_of_bytes(const std::int8_t* in, float* out, unsigned warps, unsigned rounds);
void doubled(const float* in, float* out, std::size_t count);

}  // namespace flexrack::bench::loops
