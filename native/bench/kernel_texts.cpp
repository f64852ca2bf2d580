#include "bench/kernel_texts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/kernel_loops.h"

namespace flexrack::bench {

std::string repeat(int count, const std::function<std::string(int)>& text) {
  std::string all;
  for (int i = 0; i < count; i++) all += text(i);
  return all;
}

std::string number(const std::string& name, int i) { return "%" + name + std::to_string(i); }
std::string four(const std::string& name, int first) {
  return "{" + number(name, first) + ", " + number(name, first + 1) + ", " + number(name, first + 2) + ", " +
         number(name, first + 3) + "}";
}

std::uint32_t bits_of(float value) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

std::string input_start(int bytes) {
  return R"(ld.param.u64 %a, [in];
ld.param.u64 %o, [out];
ld.param.u32 %n, [rounds];
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %ntid.x;
mov.u32 %r2, %tid.x;
mad.lo.u32 %i, %r0, %r1, %r2;
mad.wide.u32 %a, %i, )" +
         std::to_string(bytes) + ", %a;\n";
}

std::string kernel_start() { return input_start(4) + "mad.wide.u32 %o, %i, 4, %o;\n"; }

namespace {

std::uint64_t count(const std::string& text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), ';'));
}

}  // namespace

std::uint64_t Kernel::instructions() const {
  constexpr int kControl = 3;   // what counts the rounds and goes back
  return count(begin) + rounds * (count(loop) + kControl) + count(end);
}

std::string Kernel::text() const {
  return ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry " + name +
         "(.param .u64 in, .param .u64 out, .param .u32 rounds) {\n"
         ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b32 %m<20>; .reg .b32 %x, %t, %n, %i; .reg .b64 %a, %b, %o; .reg .f32 %f<40>;\n" +
         shared + begin + "loop:\n" + loop + "sub.u32 %n, %n, 1;\nsetp.ne.u32 %p0, %n, 0;\n@%p0 bra loop;\n" + end +
         "ret;\n}\n";
}

namespace {

constexpr unsigned kSide = 256, kTile = 16;   ///< of the matrices
constexpr unsigned kThreads = 64 * 256;

Kernel integer() {
  return {
      .name = "integer",
      .begin = kernel_start() + "mov.u32 %x, %i;\n",
      .loop = repeat(
          8, [](int) { return "mad.lo.u32 %x, %x, 1664525, 1013904223;\nshr.u32 %t, %x, 7;\nxor.b32 %x, %x, %t;\n"; }),
      .end = "st.global.u32 [%o], %x;\n",
      .rounds = 200,
      .right =
          [](unsigned thread, unsigned rounds) {
            std::uint32_t x = thread;
            for (unsigned i = 0; i < 8 * rounds; i++) x = x * 1664525u + 1013904223u, x ^= x >> 7;
            return x;
          },
      .loop_of_cpp = [](const std::uint32_t*, std::uint32_t* out) { loops::integer(out, kThreads, 8 * 200); }};
}

Kernel fma() {
  return {.name = "fma",
          .begin = kernel_start() + "cvt.rn.f32.u32 %f0, %i;\n" +
                   repeat(3, [](int i) { return "mov.f32 %f" + std::to_string(i + 1) + ", %f0;\n"; }),
          .loop = repeat(24,
                         [](int i) {
                           const auto chain = "%f" + std::to_string(i % 4);
                           return "fma.rn.f32 " + chain + ", " + chain + ", 0f3F000000, 0f3F800000;\n";
                         }),
          .end = "st.global.f32 [%o], %f3;\n",
          .rounds = 200,
          .right =
              [](unsigned thread, unsigned rounds) {
                auto x = static_cast<float>(thread);
                for (unsigned i = 0; i < 6 * rounds; i++) x = std::fmaf(x, 0.5f, 1.0f);
                return bits_of(x);
              },
          .loop_of_cpp = [](const std::uint32_t*,
                            std::uint32_t* out) { loops::fma(reinterpret_cast<float*>(out), kThreads, 6 * 200); }};
}

/// Each thread adds words that lie as far apart as there are threads.
Kernel streaming() {
  return {
      .name = "streaming",
      .begin = kernel_start() + "mov.u32 %x, 0;\n",
      .loop = repeat(
          4,
          [](int) {
            return "ld.global.u32 %t, [%a];\nadd.u32 %x, %x, %t;\nst.global.u32 [%o], %x;\nadd.u64 %a, %a, 65536;\nadd.u64 %o, %o, 65536;\n";
          }),
      .end = "",
      .rounds = 32,
      .right = [](unsigned word, unsigned) { return kWord * (word / kThreads + 1); },
      .words = kInputWords,
      .loop_of_cpp = [](const std::uint32_t* in, std::uint32_t* out) { loops::streaming(in, out, kThreads, 4 * 32); }};
}

/// C = A B, tiles in shared memory; A and B are the input, of words that are small floats.
Kernel matmul() {
  return {
      .name = "matmul",
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
      .loop =
          "ld.global.f32 %f1, [%a];\nld.global.f32 %f2, [%b];\nst.shared.f32 [%r12], %f1;\nst.shared.f32 [%r13], %f2;\nbar.sync 0;\n" +
          repeat(kTile,
                 [](int i) {
                   return "ld.shared.f32 %f1, [%r10+" + std::to_string(4 * i) + "];\nld.shared.f32 %f2, [%r11+" +
                          std::to_string(64 * i) + "];\n" + "fma.rn.f32 %f0, %f1, %f2, %f0;\n";
                 }) +
          "bar.sync 0;\nadd.u64 %a, %a, 64;\nadd.u64 %b, %b, 16384;\n",
      .end = "st.global.f32 [%o], %f0;\n",
      .rounds = kSide / kTile,
      .shared = ".shared .align 4 .b8 left[1024];\n.shared .align 4 .b8 right[1024];\n",
      .block = kTile,
      .block_rows = kTile,
      .grid = kSide / kTile,
      .grid_rows = kSide / kTile,
      .right =
          [](unsigned, unsigned) {
            float one = 0, sum = 0;
            std::memcpy(&one, &kWord, sizeof one);
            for (unsigned i = 0; i < kSide; i++) sum = std::fmaf(one, one, sum);
            return bits_of(sum);
          },
      .loop_of_cpp =
          [](const std::uint32_t* in, std::uint32_t* out) {
            loops::matmul(reinterpret_cast<const float*>(in), reinterpret_cast<const float*>(in),
                          reinterpret_cast<float*>(out), kSide, kSide, kSide);
          }};
}

/// Into one of 32 counters of its block, one that changes; the result is a block's counter, read by its threads.
Kernel histogram() {
  return {
      .name = "histogram",
      .begin =
          kernel_start() +
          "mov.u32 %r3, counts;\nmad.lo.u32 %r4, %r2, 4, %r3;\nmov.u32 %t, 0;\nst.shared.u32 [%r4], %t;\nbar.sync 0;\n" +
          "mov.u32 %x, %r2;\n",
      .loop = repeat(
          4,
          [](int) {
            return "ld.global.u32 %t, [%a];\nadd.u32 %x, %x, %t;\nand.b32 %r5, %x, 31;\nmad.lo.u32 %r6, %r5, 4, %r3;\nred.shared.add.u32 [%r6], 1;\n";
          }),
      .end =
          "bar.sync 0;\nand.b32 %r5, %r2, 31;\nmad.lo.u32 %r6, %r5, 4, %r3;\nld.shared.u32 %t, [%r6];\nst.global.u32 [%o], %t;\n",
      .rounds = 64,
      .shared = ".shared .align 4 .b8 counts[1024];\n",
      .right = [](unsigned, unsigned rounds) { return 256 / 32 * 4 * rounds; },
      .loop_of_cpp = [](const std::uint32_t* in, std::uint32_t* out) { loops::histogram(in, out, 64, 256, 4 * 64); }};
}

/// Sums over a warp, again and again.
Kernel shuffles() {
  return {.name = "shuffles",
          .begin = kernel_start() + "mov.u32 %x, 1;\n",
          .loop = repeat(5,
                         [](int i) {
                           return "shfl.sync.bfly.b32 %t, %x, " + std::to_string(1 << i) +
                                  ", 31, -1;\nadd.u32 %x, %x, %t;\n";
                         }) +
                  "add.u32 %x, %x, 3;\n",
          .end = "st.global.u32 [%o], %x;\n",
          .rounds = 200,
          .right =
              [](unsigned, unsigned rounds) {
                std::uint32_t x = 1;
                for (unsigned i = 0; i < rounds; i++) x = 32 * x + 3;
                return x;
              },
          .loop_of_cpp = [](const std::uint32_t*, std::uint32_t* out) { loops::shuffles(out, kThreads, 200); }};
}

}  // namespace

std::vector<Kernel> simple_kernels() { return {integer(), fma(), streaming(), matmul(), histogram(), shuffles()}; }

}  // namespace flexrack::bench
