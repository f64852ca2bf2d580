#include "bench/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/answer.h"
#include "bench/cuda_driver.h"
#include "bench/kernel_texts.h"
#include "bench/rounds.h"

namespace flexrack::bench {
namespace {

constexpr int kTimed = 25;             ///< rounds: most take some milliseconds
constexpr double kEnough = 3;          ///< seconds, after which a few rounds are enough
constexpr std::size_t kFewest = 3;

class Speed {
 public:
  Speed() {
    check(cu_.cuInit(0), "cuInit");
    check(cu_.cuDeviceGet(&device_, 0), "cuDeviceGet");
    check(cu_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(cu_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    for (auto* memory : {&in_, &out_}) check(cu_.cuMemAlloc(memory, kInputWords * sizeof(std::uint32_t)), "cuMemAlloc");
    check(cu_.cuMemsetD8(in_, kWord & 0xff, kInputWords * sizeof(std::uint32_t)), "cuMemsetD8");
  }
  ~Speed() {
    if (context_) cu_.cuDevicePrimaryCtxRelease(device_);
  }

  void run(const Kernel& kernel) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    check(cu_.cuModuleLoadData(&module, kernel.text().c_str()), kernel.name);
    check(cu_.cuModuleGetFunction(&function, module, kernel.name.c_str()), "cuModuleGetFunction");
    const auto millions = static_cast<double>(kernel.instructions()) * kernel.threads() / 1e6;
    std::vector<double> own, wall, loop;
    std::vector<std::uint32_t> in(kInputWords, kWord), out(kInputWords);
    const auto begun = seconds();
    for (int round = -1; round < kTimed && (own.size() < kFewest || seconds() - begun < kEnough); round++) {
      const auto process = processor_seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds();
      launch(kernel, function);
      check(cu_.cuCtxSynchronize(), kernel.name);
      const auto took = seconds() - start, used = processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - process;
      const auto before = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
      kernel.loop_of_cpp(in.data(), out.data());
      const auto looped = processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
      if (round < 0) continue;
      wall.push_back(took), own.push_back(used), loop.push_back(looped);
    }
    check_result(kernel, out);
    // The least of several: what else the machine does makes times longer, never shorter.
    const auto least = [](const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); };
    tell((kernel.name + "_per_core").c_str(), millions / least(own));
    tell((kernel.name + "_per_second").c_str(), millions / least(wall));
    tell((kernel.name + "_loop").c_str(), least(own) / least(loop));
  }

 private:
  void check(CUresult code, const std::string& what) const { cu_.check(code, what.c_str()); }

  void launch(const Kernel& kernel, CUfunction function) {
    auto rounds = kernel.rounds;
    void* parameters[] = {&in_, &out_, &rounds};
    check(cu_.cuLaunchKernel(function, kernel.grid, kernel.grid_rows, 1, kernel.block, kernel.block_rows, 1, 0, nullptr,
                             parameters, nullptr),
          kernel.name);
  }

  /// The loop's results, too: both do the same work.
  void check_result(const Kernel& kernel, const std::vector<std::uint32_t>& of_loop) {
    std::vector<std::uint32_t> words(kInputWords);
    check(cu_.cuMemcpyDtoH(words.data(), out_, kInputWords * sizeof(std::uint32_t)), "cuMemcpyDtoH");
    const auto all = kernel.words != 0 ? kernel.words : kernel.threads();
    for (std::size_t i = 0; i < all; i += 97) {
      const auto wanted = kernel.right(static_cast<unsigned>(i), kernel.rounds);
      for (const std::vector<std::uint32_t>* one : {static_cast<const std::vector<std::uint32_t>*>(&words), &of_loop}) {
        if ((*one)[i] == wanted || (kernel.is_close && is_close((*one)[i], wanted))) continue;
        throw std::runtime_error(kernel.name + ": word " + std::to_string(i) + (one == &words ? "" : " of the loop") +
                                 " is wrong");
      }
    }
  }

  static bool is_close(std::uint32_t a, std::uint32_t b) {
    float x = 0, y = 0;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    return std::fabs(x - y) <= 1e-4f * std::fabs(y);
  }

  CudaDriver cu_{""};
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUdeviceptr in_ = 0, out_ = 0;
};

}  // namespace

void measure_kernels(const std::string& only) {
#if defined(__x86_64__)
  // What the loops are compiled for.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    throw std::runtime_error("the loops to compare with need a processor with AVX2 and FMA");
#endif
  Speed speed;
  for (const auto& kernels : {simple_kernels(), framework_kernels(), wheel_kernels()}) {
    for (const auto& kernel : kernels) {
      if (only.empty() || only == kernel.name) speed.run(kernel);
    }
  }
}

}  // namespace flexrack::bench
