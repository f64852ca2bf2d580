// Matrix products through tiles in shared memory, in single and double precision, for shapes that no tile divides.
#include "program.h"

constexpr int kTile = 16;

template <class T>
__global__ void multiply(const T* a, const T* b, T* c, int rows, int inner, int columns) {
  __shared__ T tile_a[kTile][kTile], tile_b[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  T sum = 0;
  for (int at = 0; at < inner; at += kTile) {
    tile_a[threadIdx.y][threadIdx.x] =
        row < rows && at + threadIdx.x < inner ? a[row * inner + at + threadIdx.x] : T(0);
    tile_b[threadIdx.y][threadIdx.x] =
        column < columns && at + threadIdx.y < inner ? b[(at + threadIdx.y) * columns + column] : T(0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}

template <class T>
void try_shape(const char* type, int rows, int inner, int columns, double tolerance) {
  const auto random_a = program::random_floats(rows * inner, 3), random_b = program::random_floats(inner * columns, 4);
  const std::vector<T> a(random_a.begin(), random_a.end()), b(random_b.begin(), random_b.end());
  const program::Device<T> on_a(a), on_b(b), on_c(rows * columns);
  const dim3 grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  multiply<T><<<grid, dim3(kTile, kTile)>>>(on_a, on_b, on_c, rows, inner, columns);
  CHECK(cudaGetLastError());
  const auto c = on_c.read();
  bool is_right = true;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      for (int k = 0; k < inner; ++k) sum += double(a[row * inner + k]) * double(b[k * columns + column]);
      is_right &= program::is_near(c[row * columns + column], sum, tolerance);
    }
  std::printf("%s, %d x %d by %d x %d\n", type, rows, inner, inner, columns);
  program::expect(is_right, "products are the CPU's");
  program::print_checksum("products", c);
}

int main(int count, char** arguments) {
  const int scale = program::scale(count, arguments);
  try_shape<float>("float", 64 * scale, 64 * scale, 64 * scale, 1e-4);
  try_shape<float>("float", 33, 70, 129, 1e-5);
  try_shape<float>("float", 1, 1, 1, 1e-6);
  try_shape<double>("double", 48, 50, 47, 1e-12);
  return program::verdict();
}
