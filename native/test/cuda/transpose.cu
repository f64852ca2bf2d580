// Transposes through padded tiles, in memory with a pitch.
#include "program.h"

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* in, std::size_t in_pitch, float* out, std::size_t out_pitch, int width,
                          int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int row = 0; row < kTile; row += kRows)
    if (x < width && y + row < height)
      tile[threadIdx.y + row][threadIdx.x] =
          *reinterpret_cast<const float*>(reinterpret_cast<const char*>(in) + (y + row) * in_pitch + x * sizeof(float));
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x, y = blockIdx.x * kTile + threadIdx.y;
  for (int row = 0; row < kTile; row += kRows)
    if (x < height && y + row < width)
      *reinterpret_cast<float*>(reinterpret_cast<char*>(out) + (y + row) * out_pitch + x * sizeof(float)) =
          tile[threadIdx.x][threadIdx.y + row];
}

int main(int count, char** arguments) {
  const int scale = program::scale(count, arguments);
  const int shapes[][2] = {{1, 1}, {32, 32}, {33, 31}, {100, 7}, {200 * scale, 150 * scale}};
  for (const auto& [width, height] : shapes) {
    const auto in = program::random_floats(width * height, 9);
    std::vector<float> out(width * height);
    float *on_in = nullptr, *on_out = nullptr;
    std::size_t in_pitch = 0, out_pitch = 0;
    CHECK(cudaMallocPitch(&on_in, &in_pitch, width * sizeof(float), height));
    CHECK(cudaMallocPitch(&on_out, &out_pitch, height * sizeof(float), width));
    CHECK(cudaMemcpy2D(on_in, in_pitch, in.data(), width * sizeof(float), width * sizeof(float), height,
                       cudaMemcpyHostToDevice));
    const dim3 grid((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
    transpose<<<grid, dim3(kTile, kRows)>>>(on_in, in_pitch, on_out, out_pitch, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(out.data(), height * sizeof(float), on_out, out_pitch, height * sizeof(float), width,
                       cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) is_right &= out[x * height + y] == in[y * width + x];
    std::printf("%d x %d\n", width, height);
    program::expect(in_pitch >= width * sizeof(float) && out_pitch >= height * sizeof(float), "pitches hold a row");
    program::expect(is_right, "rows are columns");
    program::print_checksum("transposed", out);
    CHECK(cudaFree(on_in));
    CHECK(cudaFree(on_out));
  }
  return program::verdict();
}
