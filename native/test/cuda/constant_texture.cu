// Constant memory, and textures and surfaces over linear memory, pitched memory and arrays.
#include <algorithm>

#include "program.h"

__constant__ float coefficients[8];
__constant__ int offset = 3;

__global__ void polynomial(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float value = 0;
  for (int k = 7; k >= 0; --k) value = value * x[i] + coefficients[k];
  y[i] = value + static_cast<float>(offset);
}

__global__ void fetch_linear(cudaTextureObject_t texture, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<float>(texture, i);
}

__global__ void sample(cudaTextureObject_t texture, float* out, int width, int height, float scale, float shift) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    out[y * width + x] =
        tex2D<float>(texture, static_cast<float>(x) * scale + shift, static_cast<float>(y) * scale + shift);
}

__global__ void sample_colours(cudaTextureObject_t texture, float4* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float4>(texture, x + 0.5f, y + 0.5f);
}

__global__ void invert(cudaSurfaceObject_t surface, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float value;
  surf2Dread(&value, surface, x * static_cast<int>(sizeof(float)), y);
  surf2Dwrite(1.0f - value, surface, x * static_cast<int>(sizeof(float)), y);
}

__global__ void sample_volume(cudaTextureObject_t texture, float* out, int size) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < size * size * size)
    out[i] = tex3D<float>(texture, i % size + 0.5f, i / size % size + 0.5f, i / size / size + 0.5f);
}

constexpr int kWidth = 40, kHeight = 30;
const dim3 kGrid(3, 2), kBlock(16, 16);

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureAddressMode address,
                               cudaTextureFilterMode filter, cudaTextureReadMode read = cudaReadModeElementType,
                               bool is_normalized = false) {
  cudaTextureDesc description{};
  description.addressMode[0] = description.addressMode[1] = description.addressMode[2] = address;
  description.filterMode = filter;
  description.readMode = read;
  description.normalizedCoords = is_normalized;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

void constants() {
  const auto x = program::random_floats(1000, 13), c = program::random_floats(8, 14);
  CHECK(cudaMemcpyToSymbol(coefficients, c.data(), sizeof coefficients));
  const program::Device<float> on_x(x), on_y(1000);
  polynomial<<<8, 128>>>(on_x, on_y, 1000);
  const int five = 5;
  const auto first = on_y.read();
  CHECK(cudaMemcpyToSymbol(offset, &five, sizeof five));
  polynomial<<<8, 128>>>(on_x, on_y, 1000);
  const auto second = on_y.read();
  bool is_right = true, is_shifted = true;
  for (int i = 0; i < 1000; ++i) {
    double value = 0;
    for (int k = 7; k >= 0; --k) value = value * x[i] + c[k];
    is_right &= program::is_near(first[i], value + 3, 1e-5);
    is_shifted &= program::is_near(second[i], value + 5, 1e-5);
  }
  program::expect(is_right && is_shifted, "constants are what was copied into them last");
  std::size_t size = 0;
  float back[8];
  CHECK(cudaGetSymbolSize(&size, coefficients));
  CHECK(cudaMemcpyFromSymbol(back, coefficients, sizeof back));
  program::expect(size == sizeof back && std::memcmp(back, c.data(), size) == 0, "and can be read back");
  program::print_checksum("polynomials", second);
}

void linear_memory() {
  const auto values = program::random_floats(kWidth * kHeight, 15);
  const program::Device<float> memory(values), out(values.size() + 10);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = memory.bytes();
  const auto texture = texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint);
  fetch_linear<<<10, 128>>>(texture, out, kWidth * kHeight + 10);
  auto right = values;
  right.resize(right.size() + 10, 0.0f);
  program::expect(out.read() == right, "a linear texture is its memory, and zero behind it");
  CHECK(cudaDestroyTextureObject(texture));
}

void arrays() {
  const auto values = program::random_floats(kWidth * kHeight, 16);
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), kWidth * sizeof(float), kWidth * sizeof(float), kHeight,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const program::Device<float> out(kWidth * kHeight);
  const auto at = [&](int x, int y) {
    return values[std::min(std::max(y, 0), kHeight - 1) * kWidth + std::min(std::max(x, 0), kWidth - 1)];
  };

  auto texture = texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint);
  sample<<<kGrid, kBlock>>>(texture, out, kWidth, kHeight, 1.0f, 0.5f);
  program::expect(out.read() == values, "the middle of a texel is the texel");
  sample<<<kGrid, kBlock>>>(texture, out, kWidth, kHeight, 2.0f, -4.5f);
  auto found = out.read();
  bool is_right = true;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) is_right &= found[y * kWidth + x] == at(2 * x - 5, 2 * y - 5);
  program::expect(is_right, "outside, the edge goes on");
  CHECK(cudaDestroyTextureObject(texture));

  texture = texture_of(resource, cudaAddressModeBorder, cudaFilterModePoint);
  sample<<<kGrid, kBlock>>>(texture, out, kWidth, kHeight, 1.0f, 10.5f);
  found = out.read();
  is_right = true;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      is_right &= found[y * kWidth + x] == (x + 10 < kWidth && y + 10 < kHeight ? at(x + 10, y + 10) : 0.0f);
  program::expect(is_right, "outside a border there is nothing");
  CHECK(cudaDestroyTextureObject(texture));

  texture = texture_of(resource, cudaAddressModeClamp, cudaFilterModeLinear);
  sample<<<kGrid, kBlock>>>(texture, out, kWidth, kHeight, 1.0f, 1.0f);
  found = out.read();
  is_right = true;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      is_right &= program::is_near(found[y * kWidth + x],
                                   (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)) / 4, 1e-2);
  program::expect(is_right, "between four texels is their mean");
  CHECK(cudaDestroyTextureObject(texture));

  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  invert<<<kGrid, kBlock>>>(surface, kWidth, kHeight);
  std::vector<float> back(kWidth * kHeight);
  CHECK(cudaMemcpy2DFromArray(back.data(), kWidth * sizeof(float), array, 0, 0, kWidth * sizeof(float), kHeight,
                              cudaMemcpyDeviceToHost));
  is_right = true;
  for (int i = 0; i < kWidth * kHeight; ++i) is_right &= back[i] == 1.0f - values[i];
  program::expect(is_right, "a surface is written in place");
  program::print_checksum("surface", back);
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
}

void colours() {
  const auto random = program::random_ints(kWidth * kHeight * 4, 17, 256);
  const std::vector<unsigned char> values(random.begin(), random.end());
  const auto format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const auto texture = texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeNormalizedFloat);
  const program::Device<float4> out(kWidth * kHeight);
  sample_colours<<<kGrid, kBlock>>>(texture, out, kWidth, kHeight);
  const auto found = out.read();
  bool is_right = true;
  for (int i = 0; i < kWidth * kHeight; ++i) {
    const float parts[] = {found[i].x, found[i].y, found[i].z, found[i].w};
    for (int k = 0; k < 4; ++k) is_right &= program::is_near(parts[k], values[4 * i + k] / 255.0, 1e-6);
  }
  program::expect(is_right, "bytes are read as parts of one");
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
}

void volumes() {
  constexpr int kSize = 12;
  const auto values = program::random_floats(kSize * kSize * kSize, 18);
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kSize, kSize, kSize)));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(values.data()), kSize * sizeof(float), kSize, kSize);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(kSize, kSize, kSize);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const auto texture = texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint);
  const program::Device<float> out(kSize * kSize * kSize);
  sample_volume<<<(kSize * kSize * kSize + 127) / 128, 128>>>(texture, out, kSize);
  program::expect(out.read() == values, "a volume is its texels");
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
}

int main() {
  constants();
  linear_memory();
  arrays();
  colours();
  volumes();
  return program::verdict();
}
