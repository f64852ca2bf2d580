#include "bench/kernels.h"

#include <array>
#include <cmath>
#include <cstring>

#include "bench/answer.h"
#include "bench/cuda_driver.h"
#include "bench/rounds.h"

namespace flexrack::bench {
namespace {

constexpr unsigned kBlock = 256, kBlocks = 64, kThreads = kBlock * kBlocks;
constexpr unsigned kSide = 256, kTile = 16;   ///< of the matrices
constexpr int kTimed = 7;

/// A kernel (u64 in, u64 out, u32 rounds) whose one loop is between begin and end: so its instructions can be counted from its text.
struct Kernel {
  const char* name;
  std::string begin, loop, end;
  unsigned rounds;
  std::string shared{};
  bool is_flat = false;   ///< blocks and grid of two dimensions, of kTile and kSide
  /// Of the result's i-th word, with kWord in every word of the input.
  std::function<std::uint32_t(unsigned thread, unsigned rounds)> right;
};

std::string repeat(int count, const std::function<std::string(int)>& text) {
  std::string all;
  for (int i = 0; i < count; i++) all += text(i);
  return all;
}

std::uint64_t instructions(const std::string& text) { return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), ';')); }
std::uint64_t instructions(const Kernel& kernel) {
  constexpr int kControl = 3;   // what counts the rounds and goes back
  return instructions(kernel.begin) + kernel.rounds * (instructions(kernel.loop) + kControl) + instructions(kernel.end);
}

std::string text_of(const Kernel& kernel) {
  return std::string(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ") + kernel.name +
         "(.param .u64 in, .param .u64 out, .param .u32 rounds) {\n"
         ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b32 %x, %t, %n, %i; .reg .b64 %a, %b, %o; .reg .f32 %f<16>;\n" + kernel.shared + kernel.begin + "loop:\n" + kernel.loop + "sub.u32 %n, %n, 1;\nsetp.ne.u32 %p0, %n, 0;\n@%p0 bra loop;\n" + kernel.end + "ret;\n}\n";
}

/// i is the thread's number, o the address of its word of the result, a that of its word of the input.
const std::string kStart = R"(ld.param.u64 %a, [in];
ld.param.u64 %o, [out];
ld.param.u32 %n, [rounds];
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %ntid.x;
mov.u32 %r2, %tid.x;
mad.lo.u32 %i, %r0, %r1, %r2;
mad.wide.u32 %a, %i, 4, %a;
mad.wide.u32 %o, %i, 4, %o;
)";

std::uint32_t bits(float value) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

/// What every word of an input is; as a float 0.747.
constexpr std::uint32_t kWord = 0x3f3f3f3f;

Kernel integer() {
  return {.name = "integer", .begin = kStart + "mov.u32 %x, %i;\n",
          .loop = repeat(8, [](int) { return "mad.lo.u32 %x, %x, 1664525, 1013904223;\nshr.u32 %t, %x, 7;\nxor.b32 %x, %x, %t;\n"; }),
          .end = "st.global.u32 [%o], %x;\n", .rounds = 200,
          .right = [](unsigned thread, unsigned rounds) {
            std::uint32_t x = thread;
            for (unsigned i = 0; i < 8 * rounds; i++) x = x * 1664525u + 1013904223u, x ^= x >> 7;
            return x;
          }};
}

Kernel fma() {
  return {.name = "fma",
          .begin = kStart + "cvt.rn.f32.u32 %f0, %i;\n" + repeat(3, [](int i) { return "mov.f32 %f" + std::to_string(i + 1) + ", %f0;\n"; }),
          .loop = repeat(24, [](int i) {
            const auto chain = "%f" + std::to_string(i % 4);
            return "fma.rn.f32 " + chain + ", " + chain + ", 0f3F000000, 0f3F800000;\n";
          }),
          .end = "st.global.f32 [%o], %f3;\n", .rounds = 200,
          .right = [](unsigned thread, unsigned rounds) {
            auto x = static_cast<float>(thread);
            for (unsigned i = 0; i < 6 * rounds; i++) x = std::fmaf(x, 0.5f, 1.0f);
            return bits(x);
          }};
}

/// Each thread adds words that lie as far apart as there are threads.
Kernel streaming() {
  return {.name = "streaming", .begin = kStart + "mov.u32 %x, 0;\n",
          .loop = repeat(4, [](int) {
            return "ld.global.u32 %t, [%a];\nadd.u32 %x, %x, %t;\nst.global.u32 [%o], %x;\nadd.u64 %a, %a, 65536;\nadd.u64 %o, %o, 65536;\n";
          }),
          .end = "", .rounds = 32, .right = [](unsigned word, unsigned) { return kWord * (word / kThreads + 1); }};
}

/// C = A B, tiles in shared memory; A and B are the input, of words that are small floats.
Kernel matmul() {
  return {.name = "matmul",
          .begin = R"(ld.param.u64 %a, [in];
ld.param.u64 %o, [out];
ld.param.u32 %n, [rounds];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %tid.y;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ctaid.y;
mad.lo.u32 %r4, %r3, 16, %r1;
mad.lo.u32 %r5, %r2, 16, %r0;
mad.lo.u32 %r6, %r4, 256, %r0;
mad.lo.u32 %r7, %r1, 256, %r5;
mad.lo.u32 %r8, %r4, 256, %r5;
mad.wide.u32 %o, %r8, 4, %o;
mad.wide.u32 %b, %r7, 4, %a;
mad.wide.u32 %a, %r6, 4, %a;
mad.lo.u32 %r9, %r1, 16, %r0;
shl.b32 %r9, %r9, 2;
mov.u32 %r10, left;
mov.u32 %r11, right;
add.u32 %r12, %r10, %r9;
add.u32 %r13, %r11, %r9;
mad.lo.u32 %r10, %r1, 64, %r10;
mad.lo.u32 %r11, %r0, 4, %r11;
mov.f32 %f0, 0f00000000;
)",
          .loop = "ld.global.f32 %f1, [%a];\nld.global.f32 %f2, [%b];\nst.shared.f32 [%r12], %f1;\nst.shared.f32 [%r13], %f2;\nbar.sync 0;\n" +
                  repeat(kTile, [](int i) {
                    return "ld.shared.f32 %f1, [%r10+" + std::to_string(4 * i) + "];\nld.shared.f32 %f2, [%r11+" + std::to_string(64 * i) + "];\n" +
                           "fma.rn.f32 %f0, %f1, %f2, %f0;\n";
                  }) + "bar.sync 0;\nadd.u64 %a, %a, 64;\nadd.u64 %b, %b, 16384;\n",
          .end = "st.global.f32 [%o], %f0;\n", .rounds = kSide / kTile,
          .shared = ".shared .align 4 .b8 left[1024];\n.shared .align 4 .b8 right[1024];\n", .is_flat = true,
          .right = [](unsigned, unsigned) {
            float one = 0, sum = 0;
            std::memcpy(&one, &kWord, sizeof one);
            for (unsigned i = 0; i < kSide; i++) sum = std::fmaf(one, one, sum);
            return bits(sum);
          }};
}

/// Into one of 32 counters of its block, one that changes; the result is a block's counter, read by its threads.
Kernel histogram() {
  return {.name = "histogram",
          .begin = kStart + "mov.u32 %r3, counts;\nmad.lo.u32 %r4, %r2, 4, %r3;\nmov.u32 %t, 0;\nst.shared.u32 [%r4], %t;\nbar.sync 0;\n" +
                   "mov.u32 %x, %r2;\n",
          .loop = repeat(4, [](int) {
            return "ld.global.u32 %t, [%a];\nadd.u32 %x, %x, %t;\nand.b32 %r5, %x, 31;\nmad.lo.u32 %r6, %r5, 4, %r3;\nred.shared.add.u32 [%r6], 1;\n";
          }),
          .end = "bar.sync 0;\nand.b32 %r5, %r2, 31;\nmad.lo.u32 %r6, %r5, 4, %r3;\nld.shared.u32 %t, [%r6];\nst.global.u32 [%o], %t;\n",
          .rounds = 64, .shared = ".shared .align 4 .b8 counts[1024];\n", .right = [](unsigned, unsigned rounds) { return kBlock / 32 * 4 * rounds; }};
}

/// Sums over a warp, again and again.
Kernel shuffles() {
  return {.name = "shuffles", .begin = kStart + "mov.u32 %x, 1;\n",
          .loop = repeat(5, [](int i) { return "shfl.sync.bfly.b32 %t, %x, " + std::to_string(1 << i) + ", 31, -1;\nadd.u32 %x, %x, %t;\n"; }) + "add.u32 %x, %x, 3;\n",
          .end = "st.global.u32 [%o], %x;\n", .rounds = 200,
          .right = [](unsigned, unsigned rounds) {
            std::uint32_t x = 1;
            for (unsigned i = 0; i < rounds; i++) x = 32 * x + 3;
            return x;
          }};
}

class Speed {
 public:
  Speed() {
    check(cu_.cuInit(0), "cuInit");
    check(cu_.cuDeviceGet(&device_, 0), "cuDeviceGet");
    check(cu_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(cu_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    for (auto* memory : {&in_, &out_}) check(cu_.cuMemAlloc(memory, kBytes), "cuMemAlloc");
    check(cu_.cuMemsetD8(in_, 0x3f, kBytes), "cuMemsetD8");
  }
  ~Speed() {
    if (context_) cu_.cuDevicePrimaryCtxRelease(device_);
  }

  void run(const Kernel& kernel) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    check(cu_.cuModuleLoadData(&module, text_of(kernel).c_str()), kernel.name);
    check(cu_.cuModuleGetFunction(&function, module, kernel.name), "cuModuleGetFunction");
    const auto threads = kernel.is_flat ? kSide * kSide : kThreads;
    const auto millions = static_cast<double>(instructions(kernel) * threads) / 1e6;
    std::vector<double> own, wall;
    for (int round = -1; round < kTimed; round++) {
      const auto process = processor_seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds();
      launch(kernel, function);
      check(cu_.cuCtxSynchronize(), kernel.name);
      if (round < 0) continue;
      wall.push_back(millions / (seconds() - start));
      own.push_back(millions / (processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - process));
    }
    check_result(kernel, threads);
    for (auto* values : {&own, &wall}) std::sort(values->begin(), values->end());
    tell((std::string(kernel.name) + "_per_core").c_str(), own[own.size() / 2]);
    tell((std::string(kernel.name) + "_per_second").c_str(), wall[wall.size() / 2]);
  }

 private:
  static constexpr std::size_t kBytes = 128 * 65536;   ///< what streaming goes through

  void check(CUresult code, const char* what) const { cu_.check(code, what); }

  void launch(const Kernel& kernel, CUfunction function) {
    auto rounds = kernel.rounds;
    void* parameters[] = {&in_, &out_, &rounds};
    const auto grid = kernel.is_flat ? kSide / kTile : kBlocks, block = kernel.is_flat ? kTile : kBlock;
    check(cu_.cuLaunchKernel(function, grid, kernel.is_flat ? grid : 1, 1, block, kernel.is_flat ? block : 1, 1, 0, nullptr, parameters, nullptr), kernel.name);
  }

  void check_result(const Kernel& kernel, unsigned threads) {
    std::vector<std::uint32_t> words(kBytes / sizeof(std::uint32_t));
    check(cu_.cuMemcpyDtoH(words.data(), out_, kBytes), "cuMemcpyDtoH");
    const auto all = std::strcmp(kernel.name, "streaming") == 0 ? words.size() : threads;
    for (std::size_t i = 0; i < all; i += 97) {
      if (words[i] == kernel.right(static_cast<unsigned>(i), kernel.rounds)) continue;
      throw std::runtime_error(std::string(kernel.name) + ": word " + std::to_string(i) + " is wrong");
    }
  }

  CudaDriver cu_{""};
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUdeviceptr in_ = 0, out_ = 0;
};

}  // namespace

void measure_kernels() {
  Speed speed;
  for (const auto& kernel : {integer(), fma(), streaming(), matmul(), histogram(), shuffles()}) speed.run(kernel);
}

}  // namespace flexrack::bench
