// Copies and fills of every shape: to, from and on the device, in rows, boxes and batches, into symbols and arrays, and
// what may overlap.
#include "program.h"

__device__ int symbol[64];

constexpr int kCount = 4096;
constexpr std::size_t kBytes = kCount * sizeof(int);

std::vector<int> numbers(int first) {
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = first + i;
  return values;
}

void lines() {
  const auto values = numbers(100);
  const program::Device<int> a(values), b(kCount);
  std::vector<int> back(kCount);
  CHECK(cudaMemcpy(b, a, kBytes, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(back.data(), b, kBytes, cudaMemcpyDefault));
  program::expect(back == values, "to the device, on it, and back");
  CHECK(cudaMemcpy(static_cast<int*>(b) + 7, static_cast<const int*>(a) + 3, 10 * sizeof(int), cudaMemcpyDefault));
  CHECK(cudaMemcpy(back.data(), static_cast<const int*>(b) + 6, 12 * sizeof(int), cudaMemcpyDeviceToHost));
  bool is_right = back[0] == 106 && back[11] == 117;
  for (int i = 1; i < 11; ++i) is_right &= back[i] == 102 + i;
  program::expect(is_right, "a piece lands where it was sent");
  // Odd sizes at odd addresses.
  CHECK(cudaMemcpy(reinterpret_cast<char*>(static_cast<int*>(b)) + 1, "abcdefg", 7, cudaMemcpyHostToDevice));
  char text[8] = {};
  CHECK(cudaMemcpy(text, reinterpret_cast<char*>(static_cast<int*>(b)) + 2, 5, cudaMemcpyDeviceToHost));
  program::expect(std::strcmp(text, "bcdef") == 0, "bytes have no alignment");
  CHECK(cudaMemcpy(back.data(), values.data(), kBytes, cudaMemcpyHostToHost));
  program::expect(back == values, "from host to host");
  CHECK(cudaMemcpy(back.data(), a, 0, cudaMemcpyDeviceToHost));
  program::expect(back == values, "nothing is nothing");
}

void fills() {
  const program::Device<int> memory(kCount);
  CHECK(cudaMemset(memory, 0xab, kBytes));
  CHECK(cudaMemset(static_cast<int*>(memory) + 10, 0, 5));
  auto found = memory.read();
  program::expect(
      found[9] == static_cast<int>(0xabababab) && found[10] == 0 && found[11] == static_cast<int>(0xababab00),
      "bytes are filled");
  // 20 rows of 12 bytes, 64 apart.
  CHECK(cudaMemset2D(memory, 64, 1, 12, 20));
  found = memory.read();
  bool is_right = true;
  for (int row = 0; row < 20; ++row)
    is_right &= found[row * 16 + 2] == 0x01010101 && found[row * 16 + 3] == static_cast<int>(0xabababab);
  program::expect(is_right, "rows are filled");
  const auto box = make_cudaPitchedPtr(memory, 32, 32, 4);
  CHECK(cudaMemset3D(box, 2, make_cudaExtent(8, 2, 3)));
  found = memory.read();
  program::expect(found[0] == 0x02020202 && found[8] == 0x02020202 && found[32] == 0x02020202 &&
                      found[64] == 0x02020202 && found[96] != 0x02020202,
                  "boxes are filled");
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemsetAsync(memory, 3, kBytes, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
  program::expect(memory.read() == std::vector<int>(kCount, 0x03030303), "in a stream's order too");
}

void rows_and_boxes() {
  const auto values = numbers(0);
  const program::Device<int> a(values), b(kCount);
  CHECK(cudaMemset(b, 0xff, kBytes));
  // 5 rows of 6 ints, from rows of 32 to rows of 64.
  CHECK(cudaMemcpy2D(static_cast<int*>(b) + 2, 64 * 4, static_cast<const int*>(a) + 1, 32 * 4, 6 * 4, 5,
                     cudaMemcpyDeviceToDevice));
  const auto found = b.read();
  bool is_right = true;
  for (int i = 0; i < kCount; ++i) {
    const int row = i / 64, column = i % 64 - 2;
    is_right &= found[i] == (row < 5 && column >= 0 && column < 6 ? row * 32 + column + 1 : -1);
  }
  program::expect(is_right, "rows of one pitch land in rows of another");

  cudaPitchedPtr box;
  CHECK(cudaMalloc3D(&box, make_cudaExtent(10 * 4, 8, 6)));
  std::vector<int> out(10 * 8 * 6, 0);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<int*>(values.data()), 16 * 4, 16, 16);  // 16 x 16 x 16 ints
  copy.srcPos = make_cudaPos(2 * 4, 3, 4);
  copy.dstPtr = box;
  copy.extent = make_cudaExtent(10 * 4, 8, 6);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaMemcpy3DParms back{};
  back.srcPtr = box;
  back.srcPos = make_cudaPos(4, 1, 1);
  back.dstPtr = make_cudaPitchedPtr(out.data(), 10 * 4, 10, 8);
  back.dstPos = make_cudaPos(4, 1, 1);
  back.extent = make_cudaExtent(9 * 4, 7, 5);
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3DAsync(&back, nullptr));
  CHECK(cudaDeviceSynchronize());
  is_right = true;
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 10; ++x)
        is_right &= out[(z * 8 + y) * 10 + x] == (x > 0 && y > 0 && z > 0 ? (z + 4) * 256 + (y + 3) * 16 + x + 2 : 0);
  program::expect(is_right, "boxes within boxes");
  CHECK(cudaFree(box.ptr));
}

void symbols_and_arrays() {
  const auto values = numbers(5);
  std::vector<int> back(64);
  CHECK(cudaMemcpyToSymbol(symbol, values.data(), 32 * 4, 16 * 4));
  CHECK(cudaMemcpyFromSymbol(back.data(), symbol, 64 * 4));
  void* address = nullptr;
  CHECK(cudaGetSymbolAddress(&address, symbol));
  int one = 0;
  CHECK(cudaMemcpy(&one, static_cast<int*>(address) + 20, sizeof one, cudaMemcpyDefault));
  program::expect(back[15] == 0 && back[16] == 5 && back[47] == 36 && back[48] == 0 && one == 9, "part of a symbol");

  const auto format = cudaCreateChannelDesc<int>();
  cudaArray_t first = nullptr, second = nullptr;
  CHECK(cudaMallocArray(&first, &format, 32, 16));
  CHECK(cudaMallocArray(&second, &format, 32, 16));
  CHECK(cudaMemcpy2DToArray(first, 0, 0, values.data(), 32 * 4, 32 * 4, 16, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DArrayToArray(second, 4 * 4, 2, first, 0, 0, 8 * 4, 5, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2DFromArray(back.data(), 8 * 4, second, 4 * 4, 2, 8 * 4, 5, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 8; ++x) is_right &= back[y * 8 + x] == 5 + y * 32 + x;
  program::expect(is_right, "from array to array");
  cudaChannelFormatDesc described{};
  cudaExtent extent{};
  unsigned flags = 1;
  CHECK(cudaArrayGetInfo(&described, &extent, &flags, first));
  program::expect(described.x == 32 && described.f == cudaChannelFormatKindSigned && extent.width == 32 &&
                      extent.height == 16 && extent.depth == 0 && flags == 0,
                  "an array knows its shape");
  CHECK(cudaFreeArray(first));
  CHECK(cudaFreeArray(second));
}

void batches() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  const auto values = numbers(1);
  const program::Device<int> a(values), b(kCount), c(kCount);
  int* host = nullptr;
  CHECK(cudaMallocHost(&host, kBytes));
  std::memcpy(host, values.data(), kBytes);
  CHECK(cudaMemsetAsync(b, 0, kBytes, stream));
  CHECK(cudaMemsetAsync(c, 0, kBytes, stream));
  const void* sources[] = {host, static_cast<const int*>(a) + 100, host + 50};
  const void* targets[] = {static_cast<int*>(b), static_cast<int*>(b) + 1000, static_cast<int*>(c)};
  const std::size_t sizes[] = {40, 80, 4000};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
  CHECK(cudaMemcpyBatchAsync(const_cast<void**>(targets), const_cast<void**>(sources), const_cast<std::size_t*>(sizes),
                             3, &attributes, &first, 1, stream));
  CHECK(cudaStreamSynchronize(stream));
  const auto in_b = b.read(), in_c = c.read();
  program::expect(in_b[9] == 10 && in_b[10] == 0 && in_b[1000] == 101 && in_b[1019] == 120 && in_b[1020] == 0 &&
                      in_c[0] == 51 && in_c[999] == 1050 && in_c[1000] == 0,
                  "several in one call");
  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(stream));
}

/// Large enough to go in pieces wherever they go.
void large(int scale) {
  const std::size_t count = (std::size_t{1} << 21) * scale + 13;
  const auto random = program::random_ints(count, 19, 1u << 30);
  const program::Device<int> on_device(random);
  program::expect(on_device.read() == random, "large ones, to the device and back");
  int* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, count * sizeof(int)));
  CHECK(cudaMemcpyAsync(pinned, on_device, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemsetAsync(on_device, 0, count * sizeof(int)));
  CHECK(cudaMemcpyAsync(on_device, pinned, count / 2 * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize());
  const auto found = on_device.read();
  program::expect(std::memcmp(pinned, random.data(), count * sizeof(int)) == 0,
                  "what is copied away is what was there before the fill");
  program::expect(found[count / 2 - 1] == random[count / 2 - 1] && found[count / 2] == 0, "and half of it comes back");
  std::printf("%016llx\n", program::checksum(found.data(), 1 << 16));
  CHECK(cudaFreeHost(pinned));
}

int main(int count, char** arguments) {
  lines();
  fills();
  rows_and_boxes();
  symbols_and_arrays();
  batches();
  large(program::scale(count, arguments));
  return program::verdict();
}
