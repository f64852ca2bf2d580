// Copies from device to device on streams of the one, of the other and of a third: the right bytes in the right order.
// Arguments: MiB, how often everything is copied round all devices, and a word where copies may wait for their stream.
#include <atomic>

#include "program.h"

namespace {

std::atomic<bool> is_open{false};

void wait_until_open(void*) {
  while (!is_open.load()) continue;
}

/// Long enough that what does not wait for it is seen not to have waited.
__global__ void add_late(unsigned* values, int count, unsigned number, int turns) {
  unsigned much = 0;
  for (int i = 0; i < turns; ++i) much += number * i;
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] += number + (much == 1 ? 1 : 0);
}

constexpr int kWorked = 256, kTurns = 3000;
int devices = 0;

struct On {
  unsigned* memory = nullptr;
  cudaStream_t stream = nullptr;
};
std::vector<On> each;

On& use(int device) {
  CHECK(cudaSetDevice(device % devices));
  return each[device % devices];
}

std::vector<unsigned> numbers(std::size_t count, unsigned first) {
  std::vector<unsigned> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<unsigned>(i) * 2654435761u;
  return values;
}

void set(int device, const std::vector<unsigned>& values) {
  CHECK(cudaMemcpy(use(device).memory, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize());
}

bool holds(int device, std::vector<unsigned> values, unsigned added) {
  for (int i = 0; i < kWorked; ++i) values[i] += added;
  std::vector<unsigned> found(values.size());
  CHECK(cudaMemcpy(found.data(), use(device).memory, found.size() * 4, cudaMemcpyDeviceToHost));
  return found == values;
}

void later(int device, unsigned number) {
  add_late<<<1, 64, 0, use(device).stream>>>(use(device).memory, kWorked, number, kTurns);
}

/// What the stream of one device did is waited for by that of another.
void behind(int device, int other) {
  cudaEvent_t event;
  use(other);
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventRecord(event, each[other % devices].stream));
  use(device);
  CHECK(cudaStreamWaitEvent(each[device % devices].stream, event, 0));
  use(other);
  CHECK(cudaEventDestroy(event));
}

void order(std::size_t count) {
  const auto values = numbers(count, 100), others = numbers(count, 7);
  const std::size_t bytes = count * 4;
  // On the stream of the source: what is before it is copied, what is behind it is not, and who waits for the stream
  // finds the bytes there.
  set(0, values), set(1, others);
  later(0, 1);
  CHECK(cudaMemcpyPeerAsync(each[1 % devices].memory, 1 % devices, each[0].memory, 0, devices > 1 ? bytes : 0,
                            use(0).stream));
  later(0, 10);
  behind(1, 0);
  later(1, 1000);
  CHECK(cudaStreamSynchronize(use(1).stream));
  program::expect(devices == 1 || (holds(1, values, 1001) && holds(0, values, 11)),
                  "a copy on the stream of its source");
  // On the stream of the target, where the target is still worked on.
  set(0, values), set(1, others);
  later(0, 2);
  behind(1, 0);
  later(1, 5);
  CHECK(cudaMemcpyAsync(use(1).memory, each[0].memory, bytes, cudaMemcpyDefault, each[1 % devices].stream));
  later(1, 20);
  CHECK(cudaStreamSynchronize(use(1).stream));
  program::expect(devices == 1 || holds(1, values, 22), "a copy on the stream of its target");
  // On the stream of a third, which the two others have nothing to do with.
  set(0, values), set(1, others);
  later(0, 3);
  behind(2, 0);
  CHECK(cudaMemcpyPeerAsync(each[1 % devices].memory, 1 % devices, each[0].memory, 0, devices > 1 ? bytes : 0,
                            use(2).stream));
  CHECK(cudaStreamSynchronize(use(2).stream));
  program::expect(devices == 1 || holds(1, values, 3), "a copy on the stream of a third");
  // Without a stream: both have been waited for.
  set(0, values), set(1, others);
  use(0);
  add_late<<<1, 64>>>(each[0].memory, kWorked, 4, kTurns);
  use(1);
  add_late<<<1, 64>>>(each[1 % devices].memory, kWorked, 6, kTurns);
  CHECK(cudaMemcpyPeer(each[1 % devices].memory, 1 % devices, each[0].memory, 0, devices > 1 ? bytes : 0));
  program::expect(devices == 1 || holds(1, values, 4), "a copy that waits");
  use(0);
  CHECK(cudaMemcpy(reinterpret_cast<char*>(each[1 % devices].memory) + 1, reinterpret_cast<char*>(each[0].memory) + 6,
                   5, cudaMemcpyDefault));
  CHECK(cudaDeviceSynchronize());
  unsigned found[2] = {}, changed[3] = {values[0] + 4, values[1] + 4, values[2] + 4},
           expected[2] = {changed[0], changed[1]};
  std::memcpy(reinterpret_cast<char*>(expected) + 1, reinterpret_cast<char*>(changed) + 6, 5);
  CHECK(cudaMemcpy(found, use(1).memory, 8, cudaMemcpyDefault));
  program::expect(devices == 1 || std::memcmp(found, expected, 8) == 0, "bytes have no alignment");
}

void independent(std::size_t count) {
  const auto values = numbers(count, 55);
  set(0, values);
  cudaStream_t held;
  use(1);
  CHECK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
  const program::Device<unsigned> first(count);
  is_open.store(false);
  CHECK(cudaLaunchHostFunc(held, wait_until_open, nullptr));
  CHECK(cudaMemcpyAsync(first, each[0].memory, count * 4, cudaMemcpyDefault, held));
  CHECK(cudaMemcpyAsync(use(1).memory, each[0].memory, devices > 1 ? count * 4 : 0, cudaMemcpyDefault,
                        each[1 % devices].stream));
  CHECK(cudaStreamSynchronize(use(1).stream));
  is_open.store(true);
  CHECK(cudaStreamSynchronize(held));
  program::expect(holds(1, values, 0) && first.read() == values, "copies on two streams do not wait for each other");
  CHECK(cudaStreamDestroy(held));
}

void boxes() {
  const auto values = numbers(64 * 64, 3);
  set(0, values), set(1, std::vector<unsigned>(64 * 64, 0));
  // 20 rows of 12 numbers, from rows of 64 to rows of 32.
  CHECK(cudaMemcpy2DAsync(use(1).memory + 5, 32 * 4, each[0].memory + 3, 64 * 4, 12 * 4, 20, cudaMemcpyDefault,
                          each[1 % devices].stream));
  CHECK(cudaStreamSynchronize(use(1).stream));
  std::vector<unsigned> found(64 * 64);
  CHECK(cudaMemcpy(found.data(), each[1 % devices].memory, found.size() * 4, cudaMemcpyDefault));
  bool is_right = true;
  for (int row = 0; row < 20; ++row)
    for (int i = 0; i < 12; ++i) is_right &= found[row * 32 + 5 + i] == values[row * 64 + 3 + i];
  program::expect(devices == 1 || is_right, "rows");
  cudaMemcpy3DPeerParms box{};
  const auto format = cudaCreateChannelDesc<unsigned>();
  use(1);
  CHECK(cudaMalloc3DArray(&box.dstArray, &format, make_cudaExtent(8, 6, 4)));
  box.dstDevice = 1 % devices;
  box.srcPtr = make_cudaPitchedPtr(each[0].memory + 2, 16 * 4, 16, 16);
  box.srcPos = make_cudaPos(0, 1, 3);
  box.extent = make_cudaExtent(8, 6, 4);
  CHECK(cudaMemcpy3DPeerAsync(&box, each[1 % devices].stream));
  CHECK(cudaStreamSynchronize(use(1).stream));
  cudaMemcpy3DParms back{};
  back.srcArray = box.dstArray;
  back.dstPtr = make_cudaPitchedPtr(found.data(), 8 * 4, 8, 6);
  back.extent = make_cudaExtent(8, 6, 4);
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&back));
  is_right = true;
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 8; ++x)
        is_right &= found[(z * 6 + y) * 8 + x] == values[(z + 3) * 256 + (y + 1) * 16 + x + 2];
  program::expect(devices == 1 || is_right, "boxes into arrays");
  CHECK(cudaFreeArray(box.dstArray));
}

void rounds(std::size_t count, int times) {
  const auto values = numbers(count, 1);
  set(0, values);
  for (int step = 0; step < times * devices; ++step) {
    later(step, 1);
    behind(step + 1, step);
    if (devices > 1)
      CHECK(cudaMemcpyPeerAsync(use(step + 1).memory, (step + 1) % devices, each[step % devices].memory, step % devices,
                                count * 4, each[(step + 1) % devices].stream));
  }
  CHECK(cudaStreamSynchronize(use(times * devices).stream));
  program::expect(holds(0, values, static_cast<unsigned>(times * devices)), "round all devices, changed by each");
}

}  // namespace

int main(int arguments, char** words) {
  CHECK(cudaGetDeviceCount(&devices));
  const std::size_t count = (std::size_t{1} << 18) * program::scale(arguments, words) + 3;
  const int times = arguments > 2 ? std::atoi(words[2]) : 1;
  each.resize(devices);
  for (int device = 0; device < devices; ++device) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&each[device].memory, count * 4));
    CHECK(cudaStreamCreateWithFlags(&each[device].stream, device % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
  }
  order(count);
  if (arguments <= 3) independent(count);
  boxes();
  rounds(count, times);
  for (int device = 0; device < devices; ++device) {
    use(device);
    CHECK(cudaStreamDestroy(each[device].stream));
    CHECK(cudaFree(each[device].memory));
  }
  return program::verdict();
}
