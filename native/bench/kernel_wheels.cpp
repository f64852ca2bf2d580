// One kernel in the manner of each framework's compiler or library, written by us: types, widths, and how addresses are
// made are theirs.
#include <cmath>
#include <cstring>

#include "bench/kernel_loops.h"
#include "bench/kernel_texts.h"

namespace flexrack::bench {
namespace {

constexpr unsigned kWheelThreads = 64 * 256;

/// numba: float64 throughout, a 64-bit index compared with the size; a polynomial of eight terms.
Kernel numba() {
  return {
      .name = "numba",
      .begin = input_start(8) + "mad.wide.u32 %o, %i, 8, %o;\ncvt.s64.s32 %l0, %i;\n",
      .loop =
          "setp.ge.s64 %p1, %l0, 1048576;\n@%p1 bra over;\nld.global.f64 %d0, [%a];\nmov.f64 %d1, 0d3FF0000000000000;\n" +
          repeat(8, [](int) { return "fma.rn.f64 %d1, %d1, %d0, 0d3FE0000000000000;\n"; }) +
          "mul.f64 %d1, %d1, %d0;\nst.global.f64 [%o], %d1;\nover:\nadd.s64 %l0, %l0, 16384;\nadd.s64 %a, %a, 131072;\nadd.s64 %o, %o, 131072;\n",
      .end = "",
      .rounds = 64,
      .shared = ".reg .f64 %d<4>;\n.reg .b64 %l<4>;\n",
      .right =
          [](unsigned word, unsigned) {
            std::uint64_t raw = kWord | std::uint64_t{kWord} << 32;
            double x = 0;
            std::memcpy(&x, &raw, sizeof x);
            double sum = 1;
            for (int i = 0; i < 8; i++) sum = std::fma(sum, x, 0.5);
            sum *= x;
            std::memcpy(&raw, &sum, sizeof raw);
            return static_cast<std::uint32_t>(word % 2 == 0 ? raw : raw >> 32);
          },
      .words = kInputWords,
      .loop_of_cpp =
          [](const std::uint32_t* in, std::uint32_t* out) {
            loops::polynomial(reinterpret_cast<const double*>(in), reinterpret_cast<double*>(out), kInputWords / 2);
          }};
}

/// CuPy: element-wise over an array that does not lie as the result does, so that every index is taken apart by
/// division.
Kernel cupy() {
  return {
      .name = "cupy",
      .begin = input_start(0) + "mov.u32 %x, %i;\nmov.u32 %r5, 1000;\nmov.u32 %r6, 1000;\n",
      .loop =
          "div.s32 %r3, %x, %r5;\nmul.lo.s32 %r4, %r3, %r5;\nsub.s32 %r4, %x, %r4;\nrem.s32 %r3, %r3, %r6;\nmad.lo.s32 %r7, %r4, 2000, %r3;\nmad.wide.s32 %l0, %r7, 4, %a;\nld.global.f32 %f0, [%l0];\n"
          "fma.rn.f32 %f1, %f0, %f0, %f0;\nmad.wide.s32 %l1, %x, 4, %o;\nst.global.f32 [%l1], %f1;\nadd.s32 %x, %x, 16384;\n",
      .end = "",
      .rounds = 64,
      .shared = ".reg .b64 %l<4>;\n",
      .right =
          [](unsigned, unsigned) {
            float x = 0;
            std::memcpy(&x, &kWord, sizeof x);
            return bits_of(std::fmaf(x, x, x));
          },
      .words = kWheelThreads * 64,
      .loop_of_cpp =
          [](const std::uint32_t* in, std::uint32_t* out) {
            loops::turned(reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out), kWheelThreads * 64, 1000,
                          1000);
          }};
}

/// Triton: bfloat16 by eight in a vector load under a mask, computed in float, rounded by pairs.
Kernel triton() {
  const auto pair = [](int i) {
    const auto word = number("m", i);
    return "mov.b32 {%h0, %h1}, " + word +
           ";\ncvt.f32.bf16 %f0, %h0;\ncvt.f32.bf16 %f1, %h1;\nfma.rn.f32 %f0, %f0, 0f40000000, 0fBF800000;\nfma.rn.f32 %f1, %f1, 0f40000000, 0fBF800000;\n"
           "max.f32 %f0, %f0, 0f00000000;\nmax.f32 %f1, %f1, 0f00000000;\ncvt.rn.bf16x2.f32 " +
           number("m", 4 + i) + ", %f1, %f0;\n";
  };
  return {.name = "triton",
          .begin = input_start(16) + "mad.wide.u32 %o, %i, 16, %o;\nmov.u32 %x, %i;\n",
          .loop = "setp.lt.s32 %p1, %x, 524288;\n" +
                  repeat(4, [](int i) { return "mov.u32 " + number("m", i) + ", 0;\n"; }) + "@%p1 ld.global.v4.b32 " +
                  four("m", 0) + ", [%a];\n" + repeat(4, pair) + "@%p1 st.global.v4.b32 [%o], " + four("m", 4) +
                  ";\nadd.s32 %x, %x, 16384;\nadd.s64 %a, %a, 262144;\nadd.s64 %o, %o, 262144;\n",
          .end = "",
          .rounds = 32,
          .shared = ".reg .b16 %h<4>;\n",
          .right = [](unsigned, unsigned) { return 0x3efc3efcU; },
          .words = kInputWords,
          .loop_of_cpp =
              [](const std::uint32_t* in, std::uint32_t* out) {
                loops::brain_floats(reinterpret_cast<const std::uint16_t*>(in), reinterpret_cast<std::uint16_t*>(out),
                                    2 * kInputWords);
              }};
}

/// llama.cpp: quantised matrices, products of bytes on tensor cores, scaled to floats.
Kernel llama() {
  const auto tile = [](int t) {
    return repeat(4, [](int i) { return "mov.u32 " + number("m", 8 + i) + ", 0;\n"; }) +
           "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " + four("m", 8) + ", " + four("m", 0) + ", {" +
           number("m", 4 + 2 * (t % 2)) + ", " + number("m", 5 + 2 * (t % 2)) + "}, " + four("m", 8) + ";\n" +
           repeat(4, [&](int i) {
             return "cvt.rn.f32.s32 %f32, " + number("m", 8 + i) + ";\nfma.rn.f32 " + number("f", 4 * t + i) +
                    ", %f32, 0f38000000, " + number("f", 4 * t + i) + ";\n";
           });
  };
  return {
      .name = "llama",
      .begin =
          input_start(16) +
          "mad.wide.u32 %o, %i, 64, %o;\nmov.u32 %r3, rows;\nmad.lo.u32 %r4, %r2, 16, %r3;\nand.b32 %r5, %r2, 31;\nmad.lo.u32 %r6, %r5, 16, %r3;\n" +
          repeat(16, [](int i) { return "mov.f32 " + number("f", i) + ", 0f00000000;\n"; }),
      .loop = "ld.global.v4.b32 " + four("m", 0) + ", [%a];\nst.shared.v4.b32 [%r4], " + four("m", 0) +
              ";\nbar.sync 0;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 " + four("m", 0) +
              ", [%r6];\nldmatrix.sync.aligned.m8n8.x4.shared.b16 " + four("m", 4) + ", [%r6];\n" + repeat(4, tile) +
              "bar.sync 0;\nadd.s64 %a, %a, 65536;\n",
      .end = repeat(
          4, [](int i) { return "st.global.v4.f32 [%o+" + std::to_string(16 * i) + "], " + four("f", 4 * i) + ";\n"; }),
      .rounds = 32,
      .shared = ".shared .align 16 .b8 rows[2048];\n",
      .block = 128,
      .grid = 32,
      .right = [](unsigned, unsigned rounds) { return bits_of(static_cast<float>(rounds) * 32 * 0x3f * 0x3f / 32768); },
      .is_close = true,
      .words = 128 * 32 * 16,
      .loop_of_cpp =
          [](const std::uint32_t* in, std::uint32_t* out) {
            loops::products_of_bytes(reinterpret_cast<const std::int8_t*>(in), reinterpret_cast<float*>(out), 128 * 4,
                                     32);
          }};
}

/// tinygrad: a row times a column for each thread, unrolled by four.
Kernel tinygrad() {
  return {
      .name = "tinygrad",
      .begin =
          input_start(0) +
          "and.b32 %r3, %i, 127;\nshr.u32 %r4, %i, 7;\nmad.wide.u32 %b, %r3, 4, %a;\nmad.wide.u32 %a, %r4, 512, %a;\nmad.wide.u32 %o, %i, 4, %o;\nmov.f32 %f8, 0f00000000;\n",
      .loop =
          repeat(4,
                 [](int i) {
                   return "ld.global.f32 " + number("f", i) + ", [%a+" + std::to_string(4 * i) + "];\nld.global.f32 " +
                          number("f", 4 + i) + ", [%b+" + std::to_string(512 * i) + "];\n";
                 }) +
          repeat(4,
                 [](int i) { return "fma.rn.f32 %f8, " + number("f", i) + ", " + number("f", 4 + i) + ", %f8;\n"; }) +
          "add.s64 %a, %a, 16;\nadd.s64 %b, %b, 2048;\n",
      .end = "st.global.f32 [%o], %f8;\n",
      .rounds = 32,
      .right =
          [](unsigned, unsigned) {
            float one = 0, sum = 0;
            std::memcpy(&one, &kWord, sizeof one);
            for (unsigned i = 0; i < 128; i++) sum = std::fmaf(one, one, sum);
            return bits_of(sum);
          },
      .loop_of_cpp =
          [](const std::uint32_t* in, std::uint32_t* out) {
            loops::matmul(reinterpret_cast<const float*>(in), reinterpret_cast<const float*>(in),
                          reinterpret_cast<float*>(out), 128, 128, 128);
          }};
}

/// NCCL: 16 bytes a thread by volatile loads, summed up and sent on.
Kernel nccl() {
  return {
      .name = "nccl",
      .begin = input_start(16) + "mad.wide.u32 %o, %i, 16, %o;\n",
      .loop =
          "ld.volatile.global.v2.u64 {%l0, %l1}, [%a];\nmov.b64 {%m0, %m1}, %l0;\nmov.b64 {%m2, %m3}, %l1;\n" +
          repeat(4,
                 [](int i) {
                   return "mov.b32 " + number("f", i) + ", " + number("m", i) + ";\nadd.f32 " + number("f", i) + ", " +
                          number("f", i) + ", " + number("f", i) + ";\nmov.b32 " + number("m", i) + ", " +
                          number("f", i) + ";\n";
                 }) +
          "mov.b64 %l0, {%m0, %m1};\nmov.b64 %l1, {%m2, %m3};\nst.volatile.global.v2.u64 [%o], {%l0, %l1};\nadd.s64 %a, %a, 262144;\nadd.s64 %o, %o, 262144;\n",
      .end = "",
      .rounds = 32,
      .shared = ".reg .b64 %l<4>;\n",
      .right =
          [](unsigned, unsigned) {
            float x = 0;
            std::memcpy(&x, &kWord, sizeof x);
            return bits_of(x + x);
          },
      .words = kInputWords,
      .loop_of_cpp =
          [](const std::uint32_t* in, std::uint32_t* out) {
            loops::doubled(reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out), kInputWords);
          }};
}

}  // namespace

std::vector<Kernel> wheel_kernels() { return {numba(), cupy(), triton(), llama(), tinygrad(), nccl()}; }

}  // namespace flexrack::bench
