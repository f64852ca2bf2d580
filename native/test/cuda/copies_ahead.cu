// Hundreds of copies between devices that are put on streams before anybody waits: many on one stream, and few on each
// of many streams, there and back. Arguments: copies a stream, streams, and bytes of each copy.
#include "driver.h"

namespace {

constexpr std::size_t kWords = 64;

struct On {
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
};

/// A word goes from device to device, and one is added to it nowhere: what arrives is what left, copy after copy.
void pass_on(const std::vector<On>& each, unsigned streams, unsigned copies, std::size_t bytes) {
  const auto count = static_cast<unsigned>(each.size());
  std::vector<CUstream> all(streams);
  for (unsigned i = 0; i < streams; ++i) {
    DRIVER(cuCtxSetCurrent(each[i % count].context));
    DRIVER(cuStreamCreate(&all[i], CU_STREAM_NON_BLOCKING));
    DRIVER(cuMemsetD32(each[i % count].memory + i * bytes, 1000 + i, bytes / 4));
  }
  for (const auto& one : each) {
    DRIVER(cuCtxSetCurrent(one.context));
    DRIVER(cuCtxSynchronize());
  }
  for (unsigned copy = 0; copy < copies; ++copy) {
    for (unsigned i = 0; i < streams; ++i) {
      const auto &from = each[(i + copy) % count], &to = each[(i + copy + 1) % count];
      // With one device the copies are within it, and go nowhere.
      DRIVER(
          cuMemcpyPeerAsync(to.memory + i * bytes, to.context, from.memory + i * bytes, from.context, bytes, all[i]));
    }
  }
  std::printf("%u copies on each of %u streams are put there\n", copies, streams);
  unsigned wrong = 0;
  for (unsigned i = 0; i < streams; ++i) {
    DRIVER(cuStreamSynchronize(all[i]));
    std::vector<unsigned> found(bytes / 4);
    const auto& last = each[(i + copies) % count];
    DRIVER(cuCtxSetCurrent(last.context));
    DRIVER(cuMemcpyDtoH(found.data(), last.memory + i * bytes, bytes));
    for (const auto word : found) wrong += word != 1000 + i;
    DRIVER(cuStreamDestroy(all[i]));
  }
  program::expect(wrong == 0, "what arrives is what left");
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int which, unsigned without) {
    return count > which ? static_cast<unsigned>(std::atoi(arguments[which])) : without;
  };
  const auto copies = number(1, 40), streams = number(2, 16);
  const std::size_t bytes = number(3, kWords * 4);
  int devices = 0;
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGetCount(&devices));
  std::vector<On> each(devices);
  for (int i = 0; i < devices; ++i) {
    DRIVER(cuDevicePrimaryCtxRetain(&each[i].context, i));
    DRIVER(cuCtxSetCurrent(each[i].context));
    DRIVER(cuMemAlloc(&each[i].memory, std::max(streams, copies) * bytes));
  }
  pass_on(each, 1, copies * streams, bytes);
  pass_on(each, streams, copies, bytes);
  for (int i = 0; i < devices; ++i) {
    DRIVER(cuCtxSetCurrent(each[i].context));
    DRIVER(cuMemFree(each[i].memory));
    DRIVER(cuDevicePrimaryCtxRelease(i));
  }
  return program::verdict();
}
