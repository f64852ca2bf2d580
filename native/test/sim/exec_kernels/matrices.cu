// Matrix instructions by way of the runtime's header.
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_half(const __half* a, const __half* b, const float* c, float* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 24);
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2;
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 16, wmma::mem_col_major);
}

extern "C" __global__ void wmma_bytes(const signed char* a, const signed char* b, int* d) {
  __shared__ signed char ta[8 * 16];
  for (int i = threadIdx.x; i < 128; i += 32) ta[i] = a[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 8, 32, 16, int> fd;
  wmma::fill_fragment(fd, 7);
  wmma::load_matrix_sync(fa, ta, 16);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::mma_sync(fd, fa, fb, fd);
  wmma::store_matrix_sync(d, fd, 32, wmma::mem_row_major);
}
