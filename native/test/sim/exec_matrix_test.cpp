// mma and ldmatrix by whole tiles: the same bits as by the definition of the ISA, with the loops for any machine and
// with vectors.
#include <cmath>
#include <functional>

#include "exec_lanes.h"

namespace {

using namespace flexrack::test;

/// A tile's element, exact.
struct Element {
  const char* name;
  unsigned bits;
  std::function<double(u32)> value;
};

double small_float(u32 raw, unsigned exponent_bits, unsigned fraction_bits) {
  const u32 exponent = raw >> fraction_bits & ((1U << exponent_bits) - 1), fraction = raw & ((1U << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = raw >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
  if (exponent == (1U << exponent_bits) - 1)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - static_cast<int>(fraction_bits));
  return sign * std::ldexp((1U << fraction_bits) + fraction,
                           static_cast<int>(exponent) - bias - static_cast<int>(fraction_bits));
}

const Element kHalf{"f16", 16, [](u32 raw) { return small_float(raw, 5, 10); }};
const Element kBrain{"bf16", 16, [](u32 raw) { return small_float(raw, 8, 7); }};
const Element kTensor{"tf32", 32, [](u32 raw) { return small_float(raw >> 13, 8, 10); }};
const Element kSigned{"s8", 8, [](u32 raw) { return static_cast<double>(static_cast<std::int8_t>(raw)); }};
const Element kUnsigned{"u8", 8, [](u32 raw) { return static_cast<double>(raw & 0xff); }};

struct Product {
  Element a, b;
  unsigned k;
  const char* sum;            ///< f32, f16, s32
  const char* more = "";      ///< .satfinite
};

/// Words of a fragment, a lane's after those of the lane before.
using Fragment = std::vector<u32>;

unsigned registers_of(unsigned elements, unsigned bits) { return elements * bits / 32 / 32; }

/// 9.7.14.5: where the i-th element of a lane is.
std::pair<unsigned, unsigned> place_in_a(unsigned lane, unsigned i, unsigned each) {
  return {lane / 4 + 8 * (i / each % 2), lane % 4 * each + i % each + i / each / 2 * 4 * each};
}
std::pair<unsigned, unsigned> place_in_b(unsigned lane, unsigned i, unsigned each) {
  return {lane % 4 * each + i % each + i / each * 4 * each, lane / 4};
}
std::pair<unsigned, unsigned> place_in_d(unsigned lane, unsigned i) {
  return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2};
}

u32 element(const Fragment& of, unsigned lane, unsigned i, unsigned bits) {
  const unsigned each = 32 / bits, count = static_cast<unsigned>(of.size()) / 32;
  const u32 word = of[lane * count + i / each] >> (i % each * bits);
  return bits == 32 ? word : word & ((1U << bits) - 1);
}

/// To nearest even, by the numbers around it.
u32 half_of(double value) {
  if (value != value) return 0x7fff;
  const u32 sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (size >= 65520) return sign | 0x7c00;
  const int exponent = std::max(size == 0 ? -14 : std::ilogb(size), -14);
  const auto steps = static_cast<u32>(
      std::nearbyint(std::ldexp(size, 10 - exponent)));  // of the last place; to even, as the processor is set
  return sign | (static_cast<u32>(exponent + 14) * 1024 + steps);
}

Fragment expected(const Product& product, const Fragment& a, const Fragment& b, const Fragment& c) {
  const bool is_half = std::string_view(product.sum) == "f16", is_integer = std::string_view(product.sum) == "s32";
  std::vector<double> va(16 * product.k), vb(product.k * 8);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 16 * product.k / 32; ++i) {
      const auto [row, column] = place_in_a(lane, i, 32 / product.a.bits);
      va[row * product.k + column] = product.a.value(element(a, lane, i, product.a.bits));
    }
    for (unsigned i = 0; i < 8 * product.k / 32; ++i) {
      const auto [row, column] = place_in_b(lane, i, 32 / product.b.bits);
      vb[row * 8 + column] = product.b.value(element(b, lane, i, product.b.bits));
    }
  }
  Fragment d(c.size());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      const auto [row, column] = place_in_d(lane, i);
      const u32 raw = element(c, lane, i, is_half ? 16 : 32);
      double sum = is_half      ? kHalf.value(raw)
                   : is_integer ? static_cast<double>(static_cast<s32>(raw))
                                : static_cast<double>(std::bit_cast<float>(raw));
      for (unsigned k = 0; k < product.k; ++k) {
        const volatile double one = va[row * product.k + k] * vb[k * 8 + column];
        sum += one;
      }
      u32 made = 0;
      if (is_integer) {
        if (*product.more != 0) sum = std::clamp(sum, -2147483648.0, 2147483647.0);
        made = static_cast<u32>(static_cast<s64>(sum));
      } else if (is_half) {
        made = half_of(sum);
      } else {
        const auto narrow = static_cast<float>(sum);
        made = narrow != narrow ? 0x7fffffff : std::bit_cast<u32>(narrow);
      }
      if (is_half) d[lane * 2 + i / 2] |= made << (16 * (i % 2));
      else d[lane * 4 + i] = made;
    }
  }
  return d;
}

std::string listed(const char* name, unsigned count, unsigned turned = 0) {
  std::string all = "{";
  for (unsigned i = 0; i < count; ++i) all += (i == 0 ? "%" : ", %") + std::string(name) + std::to_string(i ^ turned);
  return all + "}";
}

/// `alike`: what is summed up lies in the result's registers, in another order.
Fragment multiplied(const Product& product, const Fragment& a, const Fragment& b, const Fragment& c, bool alike) {
  const auto na = static_cast<unsigned>(a.size()) / 32, nb = static_cast<unsigned>(b.size()) / 32,
             nc = static_cast<unsigned>(c.size()) / 32;
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {\n.reg .b32 %i, %a<4>, %b<4>, %c<4>, %d<4>; .reg .b64 %p;\nmov.u32 %i, %tid.x;\n";
  const auto access = [&](const char* from, const char* name, unsigned count, bool is_load, unsigned turned) {
    text +=
        "ld.param.u64 %p, [" + std::string(from) + "]; mad.wide.u32 %p, %i, " + std::to_string(4 * count) + ", %p;\n";
    for (unsigned i = 0; i < count; ++i) {
      const auto place = "[%p+" + std::to_string(4 * i) + "]",
                 value = "%" + std::string(name) + std::to_string(i ^ turned);
      text +=
          is_load ? "ld.global.b32 " + value + ", " + place + ";\n" : "st.global.b32 " + place + ", " + value + ";\n";
    }
  };
  access("pa", "a", na, true, 0), access("pb", "b", nb, true, 0),
      access("pc", alike ? "d" : "c", nc, true, alike ? 1 : 0);
  text += "mma.sync.aligned.m16n8k" + std::to_string(product.k) + ".row.col" + product.more + "." + product.sum + "." +
          product.a.name + "." + product.b.name + "." + product.sum + " " + listed("d", nc) + ", " + listed("a", na) +
          ", " + listed("b", nb) + ", " + (alike ? listed("d", nc, 1) : listed("c", nc)) + ";\n";
  access("pd", "d", nc, false, 0);
  Rig rig(text + "ret;\n}\n");
  Buffer<u32> ba(rig.map, a), bb(rig.map, b), bc(rig.map, c), bd(rig.map, c.size(), 0x5a5a5a5a);
  rig.go("k", {1, 1, 1}, {32, 1, 1}, ba.address(), bb.address(), bc.address(), bd.address());
  return bd.all();
}

/// Of a size where sums round, and now and then anything at all.
Fragment chosen(std::mt19937& random, const Element& kind, unsigned words) {
  Fragment made;
  for (unsigned i = 0; i < words; ++i) {
    u32 word = random();
    if (kind.bits == 16 && random() % 4 != 0)
      word = (word & 0x87ff87ff) | (kind.name[0] == 'f' ? 0x38003800 : 0x3f803f80);
    if (kind.bits == 32 && random() % 4 != 0) word = (word & 0x81ffffff) | 0x3e000000;
    made.push_back(word);
  }
  return made;
}

std::size_t differing(const Fragment& a, const Fragment& b) {
  std::size_t wrong = a.size() != b.size();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) wrong += a[i] != b[i];
  return wrong;
}

TEST_CASE("mma of 16 rows by whole tiles, as the ISA defines it") {
  const Product all[] = {{kHalf, kHalf, 16, "f32"},
                         {kHalf, kHalf, 8, "f32"},
                         {kHalf, kHalf, 16, "f16"},
                         {kHalf, kHalf, 8, "f16"},
                         {kBrain, kBrain, 16, "f32"},
                         {kBrain, kBrain, 8, "f32"},
                         {kTensor, kTensor, 8, "f32"},
                         {kTensor, kTensor, 4, "f32"},
                         {kSigned, kSigned, 32, "s32"},
                         {kSigned, kUnsigned, 32, "s32", ".satfinite"},
                         {kUnsigned, kSigned, 16, "s32"},
                         {kUnsigned, kUnsigned, 32, "s32"},
                         {kSigned, kSigned, 16, "s32", ".satfinite"}};
  std::mt19937 random(7);
  for (const auto& product : all) {
    const Element sum{product.sum, std::string_view(product.sum) == "f16" ? 16U : 32U, {}};
    for (unsigned round = 0; round < 12; ++round) {
      const auto a = chosen(random, product.a, 32 * registers_of(16 * product.k, product.a.bits)),
                 b = chosen(random, product.b, 32 * registers_of(8 * product.k, product.b.bits));
      const auto c = chosen(random, sum, 32 * registers_of(16 * 8, sum.bits));
      const auto wanted = expected(product, a, b, c);
      for (const bool plain : {false, true}) {
        for (const bool alike : {false, true}) {
          exec::use_plain_loops(plain);
          const auto found = multiplied(product, a, b, c, alike);
          exec::use_plain_loops(false);
          CAPTURE(product.a.name);
          CAPTURE(product.sum);
          CAPTURE(product.k);
          CAPTURE(plain);
          CAPTURE(alike);
          CHECK(differing(found, wanted) == 0);
        }
      }
    }
  }
}

/// Rows of a matrix anywhere in shared memory; `shift` bytes off, and the last row at `last` bytes.
std::string rows_kernel(unsigned count, bool is_transposed, unsigned shift, unsigned last) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b32 %i, %n, %l, %r<4>, %s; .reg .b64 %p, %q; .reg .pred %z; .shared .align 16 .b8 kept[1024];\n"
         "mov.u32 %i, %tid.x; mov.u32 %s, kept; ld.param.u64 %p, [in]; mad.wide.u32 %p, %i, 32, %p; mad.lo.u32 %n, %i, 32, %s;\n"
         "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%p]; st.shared.v4.b32 [%n], {%r0, %r1, %r2, %r3}; ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%p+16]; st.shared.v4.b32 [%n+16], {%r0, %r1, %r2, %r3};\nbar.sync 0;\n"
         "mul.lo.u32 %l, %i, 7; and.b32 %l, %l, 31; mad.lo.u32 %n, %l, 32, %s; add.u32 %n, %n, " +
         std::to_string(shift) + "; setp.eq.u32 %z, %i, 7; @%z add.u32 %n, %s, " + std::to_string(last) +
         ";\n"
         "ldmatrix.sync.aligned.m8n8.x" +
         std::to_string(count) + (is_transposed ? ".trans" : "") + ".shared.b16 " + listed("r", count) +
         ", [%n];\n"
         "ld.param.u64 %q, [out]; mad.wide.u32 %q, %i, 16, %q;\n" +
         (count == 1   ? "st.global.b32 [%q], %r0;\n"
          : count == 2 ? "st.global.v2.b32 [%q], {%r0, %r1};\n"
                       : "st.global.v4.b32 [%q], {%r0, %r1, %r2, %r3};\n") +
         "ret;\n}\n";
}

TEST_CASE("ldmatrix: rows anywhere, as they are and transposed") {
  const auto words = integers<u32>(256, 3);
  const auto half_at = [&](unsigned byte) { return words[byte / 4] >> (byte % 4 * 8) & 0xffff; };
  for (const unsigned count : {1U, 2U, 4U}) {
    for (const bool is_transposed : {false, true}) {
      Rig rig(rows_kernel(count, is_transposed, 16, 48));
      Buffer<u32> in(rig.map, words), out(rig.map, 128, 0x5a5a5a5a);
      rig.go("k", {1, 1, 1}, {32, 1, 1}, in.address(), out.address());
      const auto row_at = [](unsigned row) { return row == 7 ? 48 : row * 7 % 32 * 32 + 16; };
      std::size_t wrong = 0;
      for (unsigned matrix = 0; matrix < count; ++matrix) {
        for (unsigned lane = 0; lane < 32; ++lane) {
          for (unsigned half = 0; half < 2; ++half) {
            const unsigned first = lane / 4, second = lane % 4 * 2 + half;
            const u32 wanted =
                half_at(row_at(8 * matrix + (is_transposed ? second : first)) + 2 * (is_transposed ? first : second));
            wrong += (out[4 * lane + matrix] >> (16 * half) & 0xffff) != wanted;
          }
        }
      }
      CAPTURE(count);
      CAPTURE(is_transposed);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("ldmatrix: a row that is not aligned, or ends behind shared memory, is a fault") {
  const auto fault_of = [](unsigned shift, unsigned last) {
    Rig rig(rows_kernel(4, true, shift, last));
    Buffer<u32> in(rig.map, integers<u32>(256, 3)), out(rig.map, 128);
    return rig.run(rig.launch("k", {1, 1, 1}, {32, 1, 1}), Parameters(in.address(), out.address()));
  };
  CHECK(!fault_of(0, 1008));
  REQUIRE(fault_of(0, 1016));
  CHECK(fault_of(0, 1016)->kind == exec::Fault::Kind::misaligned);
  REQUIRE(fault_of(0, 1024));
  CHECK(fault_of(0, 1024)->kind == exec::Fault::Kind::out_of_bounds);
  REQUIRE(fault_of(8, 0));
  CHECK(fault_of(8, 0)->kind == exec::Fault::Kind::misaligned);
}

/// Each lane copies `bytes` into shared memory, of which the source has as many as its word of `sizes` says; out has
/// what is there then. Of lanes that read nothing the address is none.
std::string copy_kernel(unsigned bytes, bool has_size) {
  const auto wide = std::to_string(bytes);
  return std::string(
             ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 sizes, .param .u64 out) {\n.reg .b32 %i, %n, %s, %v, %k; .reg .b64 %p, %q; .reg .pred %z; .shared .align 16 .b8 kept[512];\n"
             "mov.u32 %i, %tid.x; mov.u32 %n, kept; mad.lo.u32 %s, %i, 16, %n; mov.u32 %v, 1515870810; st.shared.v4.b32 [%s], {%v, %v, %v, %v};\n"
             "ld.param.u64 %p, [sizes]; mad.wide.u32 %p, %i, 4, %p; ld.global.u32 %k, [%p]; ld.param.u64 %p, [in]; mad.wide.u32 %p, %i, 16, %p;\n") +
         (has_size ? "setp.eq.u32 %z, %k, 0; @%z mov.u64 %p, 64;\n" : "") + "cp.async." + (bytes == 16 ? "cg" : "ca") +
         ".shared.global [%s], [%p], " + wide + (has_size ? ", %k" : "") +
         ";\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n"
         "ld.param.u64 %q, [out]; mad.wide.u32 %q, %i, 16, %q; .reg .b32 %r<4>; ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%s]; st.global.v4.b32 [%q], {%r0, %r1, %r2, %r3};\nret;\n}\n";
}

TEST_CASE("cp.async: all bytes, a part with zeros behind it, and nothing, of which the address need not exist") {
  const auto words = integers<u32>(128, 5);
  for (const unsigned bytes : {4U, 8U, 16U}) {
    for (const unsigned kind : {0U, 1U, 2U}) {  // no size; all of it; whatever
      std::vector<u32> sizes(32, bytes);
      for (u32 lane = 0; kind == 2 && lane < 32; ++lane) sizes[lane] = lane % 3 == 0 ? bytes : lane % (bytes + 1);
      Rig rig(copy_kernel(bytes, kind != 0));
      Buffer<u32> in(rig.map, words), given(rig.map, sizes), out(rig.map, 128);
      rig.go("k", {1, 1, 1}, {32, 1, 1}, in.address(), given.address(), out.address());
      std::size_t wrong = 0;
      for (unsigned at = 0; at < 512; ++at) {
        const unsigned lane = at / 16, byte = at % 16;
        const u32 wanted = byte >= bytes ? 0x5a : byte < sizes[lane] ? words[at / 4] >> (at % 4 * 8) & 0xff : 0;
        wrong += (out[at / 4] >> (at % 4 * 8) & 0xff) != wanted;
      }
      CAPTURE(bytes);
      CAPTURE(kind);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("cp.async: an address that is read and does not exist is a fault") {
  Rig rig(copy_kernel(16, false));
  Buffer<u32> in(rig.map, integers<u32>(64, 5)), sizes(rig.map, std::vector<u32>(32, 16)), out(rig.map, 128);
  const auto fault =
      rig.run(rig.launch("k", {1, 1, 1}, {32, 1, 1}), Parameters(in.address(), sizes.address(), out.address()));
  REQUIRE(fault);
  CHECK(fault->kind == exec::Fault::Kind::out_of_bounds);
}

}  // namespace
