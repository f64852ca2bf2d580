// As frameworks and their compilers write them: loops over rows with vector loads, sums by shuffles and shared memory,
// tensor cores fed by asynchronous copies, a hash.
#include <cmath>
#include <cstring>

#include "bench/kernel_loops.h"
#include "bench/kernel_texts.h"

namespace flexrack::bench {
namespace {

float input() {
  float one = 0;
  std::memcpy(&one, &kWord, sizeof one);
  return one;
}

/// i, and a and o of four words a thread.
const std::string kFourWords = input_start(16);

/// torch.compile's element-wise code: x = 2 in + 0.5; x sigmoid(x) + in.
Kernel elementwise() {
  const auto one = [](int i) {
    const auto in = number("f", i), x = number("f", 4 + i), e = number("f", 8 + i);
    return "fma.rn.f32 " + x + ", " + in + ", 0f40000000, 0f3F000000;\nmul.f32 " + e + ", " + x +
           ", 0fBFB8AA3B;\nex2.approx.f32 " + e + ", " + e + ";\nadd.f32 " + e + ", " + e +
           ", 0f3F800000;\ndiv.full.f32 " + x + ", " + x + ", " + e + ";\nadd.f32 " + x + ", " + x + ", " + in + ";\n";
  };
  return {.name = "elementwise",
          .begin = kFourWords + "mad.wide.u32 %o, %i, 16, %o;\n",
          .loop = "ld.global.v4.f32 " + four("f", 0) + ", [%a];\n" + repeat(4, one) + "st.global.v4.f32 [%o], " +
                  four("f", 4) + ";\nadd.u64 %a, %a, 262144;\nadd.u64 %o, %o, 262144;\n",
          .end = "",
          .rounds = 32,
          .right =
              [](unsigned, unsigned) {
                const float x = input() * 2 + 0.5f;
                return bits_of(x / (1 + std::exp2(x * -1.442695041f)) + input());
              },
          .is_close = true,
          .words = kInputWords,
          .loop_of_cpp =
              [](const std::uint32_t* in, std::uint32_t* out) {
                loops::silu(reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out), kInputWords);
              }};
}

/// Over a warp, and by shared memory over the eight warps of a block; `what` is add.f32 or max.f32.
std::string over_block(const std::string& value, const std::string& what) {
  const auto steps = [&](int count) {
    return repeat(count, [&](int i) {
      return "shfl.sync.bfly.b32 %r5, " + value + ", " + std::to_string(1 << i) + ", 31, -1;\nmov.b32 %f30, %r5;\n" +
             what + " " + value + ", " + value + ", %f30;\n";
    });
  };
  return steps(5) + "@%p1 st.shared.f32 [%r6], " + value + ";\nbar.sync 0;\nld.shared.f32 " + value + ", [%r7];\n" +
         steps(3) + "bar.sync 0;\n";
}

const std::string kPartial = R"(and.b32 %r3, %r2, 31;
setp.eq.u32 %p1, %r3, 0;
shr.u32 %r4, %r2, 5;
mov.u32 %r8, partial;
mad.lo.u32 %r6, %r4, 4, %r8;
and.b32 %r3, %r2, 7;
mad.lo.u32 %r7, %r3, 4, %r8;
)";
const std::string kPartialShared = ".shared .align 4 .b8 partial[32];\n";

/// A block's sum of rows of 1024, all of it known after each row.
Kernel reduction() {
  return {.name = "reduction",
          .begin = kFourWords + "mad.wide.u32 %o, %i, 4, %o;\nmov.f32 %f10, 0f00000000;\n" + kPartial,
          .loop = "ld.global.v4.f32 " + four("f", 0) +
                  ", [%a];\nadd.f32 %f0, %f0, %f1;\nadd.f32 %f2, %f2, %f3;\nadd.f32 %f0, %f0, %f2;\n" +
                  over_block("%f0", "add.f32") + "add.f32 %f10, %f10, %f0;\nadd.u64 %a, %a, 262144;\n",
          .end = "st.global.f32 [%o], %f10;\n",
          .rounds = 32,
          .shared = kPartialShared,
          .right = [](unsigned, unsigned rounds) { return bits_of(input() * 1024 * static_cast<float>(rounds)); },
          .is_close = true,
          .loop_of_cpp =
              [](const std::uint32_t* in, std::uint32_t* out) {
                loops::sums(reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out), 64, 32);
              }};
}

Kernel softmax() {
  const auto all = [](const std::function<std::string(const std::string&)>& text) {
    return repeat(4, [&](int i) { return text(number("f", i)); });
  };
  return {.name = "softmax",
          .begin = kFourWords + "mad.wide.u32 %o, %i, 16, %o;\n" + kPartial,
          .loop = "ld.global.v4.f32 " + four("f", 0) +
                  ", [%a];\nmax.f32 %f4, %f0, %f1;\nmax.f32 %f5, %f2, %f3;\nmax.f32 %f4, %f4, %f5;\n" +
                  over_block("%f4", "max.f32") + all([](const std::string& x) {
                    return "sub.f32 " + x + ", " + x + ", %f4;\nmul.f32 " + x + ", " + x +
                           ", 0f3FB8AA3B;\nex2.approx.f32 " + x + ", " + x + ";\n";
                  }) +
                  "add.f32 %f4, %f0, %f1;\nadd.f32 %f5, %f2, %f3;\nadd.f32 %f4, %f4, %f5;\n" +
                  over_block("%f4", "add.f32") + "rcp.approx.f32 %f4, %f4;\n" +
                  all([](const std::string& x) { return "mul.f32 " + x + ", " + x + ", %f4;\n"; }) +
                  "st.global.v4.f32 [%o], " + four("f", 0) + ";\nadd.u64 %a, %a, 262144;\nadd.u64 %o, %o, 262144;\n",
          .end = "",
          .rounds = 32,
          .shared = kPartialShared,
          .right = [](unsigned, unsigned) { return bits_of(1.0f / 1024); },
          .is_close = true,
          .words = kInputWords,
          .loop_of_cpp =
              [](const std::uint32_t* in, std::uint32_t* out) {
                loops::softmax(reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out), 64 * 32);
              }};
}

/// Triton's matrix product: tiles of halves by cp.async, ldmatrix, mma of 16 x 8 x 16. Four warps, 16 rows of a tile of
/// 64 x 64 each.
Kernel tensor() {
  const auto accumulators = [](int tile) { return four("f", 4 * tile); };
  const auto step = [&](int k) {
    return "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%m0, %m1, %m2, %m3}, [%r6+" + std::to_string(32 * k) + "];\n" +
           repeat(4, [&](int pair) {
             return "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%m4, %m5, %m6, %m7}, [%r7+" +
                    std::to_string(2048 * k + 32 * pair) + "];\n" + repeat(2, [&](int half) {
                      return "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + accumulators(2 * pair + half) +
                             ", {%m0, %m1, %m2, %m3}, {" + number("m", 4 + 2 * half) + ", " +
                             number("m", 5 + 2 * half) + "}, " + accumulators(2 * pair + half) + ";\n";
                    });
           });
  };
  return {
      .name = "tensor",
      .begin = R"(ld.param.u64 %a, [in];
ld.param.u64 %o, [out];
ld.param.u32 %n, [rounds];
mov.u32 %r0, %ctaid.x;
mov.u32 %r2, %tid.x;
mad.wide.u32 %a, %r2, 16, %a;
mov.u32 %r3, left;
mov.u32 %r4, right;
mad.lo.u32 %r8, %r2, 16, %r3;
mad.lo.u32 %r9, %r2, 16, %r4;
shr.u32 %r5, %r2, 5;
and.b32 %r10, %r2, 15;
mad.lo.u32 %r11, %r5, 16, %r10;
mad.lo.u32 %r6, %r11, 64, %r3;
shr.u32 %r12, %r2, 4;
and.b32 %r12, %r12, 1;
mad.lo.u32 %r6, %r12, 16, %r6;
mad.lo.u32 %r7, %r10, 128, %r4;
mad.lo.u32 %r7, %r12, 16, %r7;
mad.lo.u32 %i, %r0, 128, %r2;
mad.wide.u32 %o, %i, 128, %o;
)" + repeat(32, [](int i) { return "mov.f32 " + number("f", i) + ", 0f00000000;\n"; }),
      .loop = repeat(2,
                     [](int i) {
                       return "cp.async.cg.shared.global [%r8+" + std::to_string(2048 * i) +
                              "], [%a], 16;\nadd.u64 %b, %a, 4096;\ncp.async.cg.shared.global [%r9+" +
                              std::to_string(2048 * i) + "], [%b], 16;\n";
                     }) +
              "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n" + step(0) + step(1) + "bar.sync 0;\n",
      .end = repeat(
          8, [&](int i) { return "st.global.v4.f32 [%o+" + std::to_string(16 * i) + "], " + accumulators(i) + ";\n"; }),
      .rounds = 32,
      .shared = ".shared .align 16 .b8 left[4096];\n.shared .align 16 .b8 right[4096];\n",
      .block = 128,
      .grid = 32,
      .right = [](unsigned,
                  unsigned rounds) { return bits_of(1.8115234375f * 1.8115234375f * 32 * static_cast<float>(rounds)); },
      .is_close = true,
      .words = 32 * 4096,
      .loop_of_cpp =
          [](const std::uint32_t* in, std::uint32_t* out) {
            loops::products_of_halves(reinterpret_cast<const std::uint16_t*>(in), reinterpret_cast<float*>(out), 32,
                                      32);
          }};
}

/// RFC 1321 as hashcat's kernels have it: a function of three words by lop3, sums, a rotation.
Kernel md5() {
  static constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  static constexpr int kTables[4] = {0xca, 0xe4, 0x96, 0x39};
  const auto step = [](int i) {
    const auto name = [&](int of) { return "%r" + std::to_string((of + 64 - i) % 4); };
    const auto a = name(0), b = name(1), c = name(2), d = name(3);
    const auto constant = static_cast<std::uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
    return "lop3.b32 %t, " + b + ", " + c + ", " + d + ", " + std::to_string(kTables[i / 16]) + ";\nadd.u32 " + a +
           ", " + a + ", %t;\nadd.u32 " + a + ", " + a + ", " + std::to_string(constant) + ";\nadd.u32 " + a + ", " +
           a + ", %i;\nshf.l.wrap.b32 " + a + ", " + a + ", " + a + ", " + std::to_string(kTurns[i / 16][i % 4]) +
           ";\nadd.u32 " + a + ", " + a + ", " + b + ";\n";
  };
  const auto start = [](int i) {
    static constexpr const char* kStart[] = {"0x67452301", "0xefcdab89", "0x98badcfe", "0x10325476"};
    return "mov.u32 %r" + std::to_string(8 + i) + ", " + kStart[i] + ";\n";
  };
  return {
      .name = "md5",
      .begin = kernel_start() + repeat(4, start),
      .loop =
          repeat(4, [](int i) { return "mov.u32 %r" + std::to_string(i) + ", %r" + std::to_string(8 + i) + ";\n"; }) +
          repeat(64, step) +
          repeat(4,
                 [](int i) {
                   return "add.u32 %r" + std::to_string(8 + i) + ", %r" + std::to_string(8 + i) + ", %r" +
                          std::to_string(i) + ";\n";
                 }),
      .end = "st.global.u32 [%o], %r8;\n",
      .rounds = 16,
      .right =
          [](unsigned word, unsigned rounds) {
            std::uint32_t all[32];
            loops::md5(all, 32, rounds, word);
            return all[0];
          },
      .loop_of_cpp = [](const std::uint32_t*, std::uint32_t* out) { loops::md5(out, 64 * 256, 16, 0); }};
}

}  // namespace

std::vector<Kernel> framework_kernels() { return {elementwise(), reduction(), softmax(), tensor(), md5()}; }

}  // namespace flexrack::bench
