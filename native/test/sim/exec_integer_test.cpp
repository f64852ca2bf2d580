// Integer arithmetic and bits, one instruction at a time (PTX ISA 9.0, 9.7.1, 9.7.2 and 9.7.8).
#include <algorithm>

#include "exec_lanes.h"

namespace {

using namespace flexrack::test;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

constexpr std::size_t kIntegerCount = 400;

/// All operand triples against a formula.
template <class D, class A, class B = A, class C = B, class F>
void check(const std::string& text, const F& formula) {
  const auto a = integers<A>(kIntegerCount, 1);
  const auto b = integers<B>(kIntegerCount, 2);
  const auto c = integers<C>(kIntegerCount, 3);
  const auto got = lanes<D, A, B, C>(text, a, b, c);
  CAPTURE(text);
  std::size_t wrong = 0, first = kIntegerCount;
  for (std::size_t i = 0; i < kIntegerCount; ++i) {
    if (got[i] == static_cast<D>(formula(a[i], b[i], c[i]))) continue;
    ++wrong;
    first = std::min(first, i);
  }
  if (wrong != 0) {
    MESSAGE(text, ": a ", static_cast<s64>(a[first]), " b ", static_cast<s64>(b[first]), " c ",
            static_cast<s64>(c[first]), " gave ", static_cast<s64>(got[first]), ", not ",
            static_cast<s64>(static_cast<D>(formula(a[first], b[first], c[first]))));
  }
  CHECK(wrong == 0);
}

TEST_CASE("sums and products wrap") {
  check<u32, u32>("add.u32 %d, %a, %b;", [](u32 a, u32 b, u32) { return a + b; });
  check<u16, u16>("add.s16 %d, %a, %b;", [](u16 a, u16 b, u16) { return a + b; });
  check<u64, u64>("sub.s64 %d, %a, %b;", [](u64 a, u64 b, u64) { return a - b; });
  check<u32, u32>("add.s32 %d, %a, -7;", [](u32 a, u32, u32) { return a - 7; });
  check<u32, u32>("mul.lo.s32 %d, %a, %b;", [](u32 a, u32 b, u32) { return a * b; });
  check<u64, u64>("mad.lo.u64 %d, %a, %b, %c;", [](u64 a, u64 b, u64 c) { return a * b + c; });
  check<u16, u16>("mad.lo.u16 %d, %a, %b, %c;", [](u32 a, u32 b, u32 c) { return a * b + c; });
  check<u64, u32>("mul.wide.u32 %d, %a, %b;", [](u32 a, u32 b, u32) { return u64{a} * b; });
  check<s64, s32>("mul.wide.s32 %d, %a, %b;", [](s32 a, s32 b, s32) { return s64{a} * b; });
  check<s32, s16>("mul.wide.s16 %d, %a, %b;", [](s16 a, s16 b, s16) { return s32{a} * b; });
  check<s64, s32, s32, s64>("mad.wide.s32 %d, %a, %b, %c;",
                            [](s32 a, s32 b, s64 c) { return static_cast<u64>(s64{a} * b) + static_cast<u64>(c); });
  check<u32, u32>("mul.hi.u32 %d, %a, %b;", [](u32 a, u32 b, u32) { return u64{a} * b >> 32; });
  check<s64, s64>("mul.hi.s64 %d, %a, %b;", [](s64 a, s64 b, s64) { return (s128{a} * b) >> 64; });
  check<u64, u64>("mad.hi.u64 %d, %a, %b, %c;",
                  [](u64 a, u64 b, u64 c) { return static_cast<u64>((u128{a} * b) >> 64) + c; });
  check<s16, s16>("mul.hi.s16 %d, %a, %b;", [](s16 a, s16 b, s16) { return s32{a} * b >> 16; });
  check<u32, u32>("neg.s32 %d, %a;", [](u32 a, u32, u32) { return 0 - a; });
  check<u64, u64>("abs.s64 %d, %a;", [](u64 a, u64, u64) { return a >> 63 ? 0 - a : a; });
  check<u32, u32>("sad.u32 %d, %a, %b, %c;", [](u32 a, u32 b, u32 c) { return std::max(a, b) - std::min(a, b) + c; });
  check<s32, s32>("sad.s32 %d, %a, %b, %c;", [](s32 a, s32 b, s32 c) {
    return static_cast<u32>(std::max(a, b)) - static_cast<u32>(std::min(a, b)) + static_cast<u32>(c);
  });
}

TEST_CASE("saturation and 24-bit products") {
  const auto clamp = [](s64 value) { return std::clamp<s64>(value, INT32_MIN, INT32_MAX); };
  check<s32, s32>("add.sat.s32 %d, %a, %b;", [&](s64 a, s64 b, s64) { return clamp(a + b); });
  check<s32, s32>("sub.sat.s32 %d, %a, %b;", [&](s64 a, s64 b, s64) { return clamp(a - b); });
  check<s32, s32>("mad.hi.sat.s32 %d, %a, %b, %c;", [&](s64 a, s64 b, s64 c) { return clamp((a * b >> 32) + c); });
  check<u32, u32>("mul24.lo.u32 %d, %a, %b;", [](u64 a, u64 b, u64) { return (a & 0xffffff) * (b & 0xffffff); });
  check<u32, u32>("mul24.hi.u32 %d, %a, %b;", [](u64 a, u64 b, u64) { return (a & 0xffffff) * (b & 0xffffff) >> 16; });
  const auto low24 = [](s32 value) { return s64{static_cast<s32>(static_cast<u32>(value) << 8) >> 8}; };
  check<s32, s32>("mul24.hi.s32 %d, %a, %b;", [&](s32 a, s32 b, s32) { return low24(a) * low24(b) >> 16; });
  check<s32, s32>("mad24.lo.s32 %d, %a, %b, %c;",
                  [&](s32 a, s32 b, s32 c) { return static_cast<u32>(low24(a) * low24(b)) + static_cast<u32>(c); });
  check<s32, s32>("mad24.hi.sat.s32 %d, %a, %b, %c;",
                  [&](s32 a, s32 b, s32 c) { return clamp((low24(a) * low24(b) >> 16) + c); });
}

TEST_CASE("quotients and remainders, by zero and of the least number too") {
  check<u32, u32>("div.u32 %d, %a, %b;", [](u32 a, u32 b, u32) { return b == 0 ? ~0U : a / b; });
  check<s32, s32>("div.s32 %d, %a, %b;", [](s64 a, s64 b, s64) { return b == 0 ? -1 : a / b; });
  check<s64, s64>("div.s64 %d, %a, %b;", [](s128 a, s128 b, s128) { return b == 0 ? -1 : a / b; });
  check<s16, s16>("div.s16 %d, %a, %b;", [](s32 a, s32 b, s32) { return b == 0 ? -1 : a / b; });
  check<u64, u64>("rem.u64 %d, %a, %b;", [](u64 a, u64 b, u64) { return b == 0 ? a : a % b; });
  check<s32, s32>("rem.s32 %d, %a, %b;", [](s64 a, s64 b, s64) { return b == 0 ? a : a % b; });
}

TEST_CASE("least and greatest") {
  check<u32, u32>("min.u32 %d, %a, %b;", [](u32 a, u32 b, u32) { return std::min(a, b); });
  check<s32, s32>("max.s32 %d, %a, %b;", [](s32 a, s32 b, s32) { return std::max(a, b); });
  check<s64, s64>("min.s64 %d, %a, %b;", [](s64 a, s64 b, s64) { return std::min(a, b); });
  check<u16, u16>("max.u16 %d, %a, %b;", [](u16 a, u16 b, u16) { return std::max(a, b); });
  check<s32, s32>("max.s32.relu %d, %a, %b;", [](s32 a, s32 b, s32) { return std::max({a, b, 0}); });
  const auto halves = [](u32 a, u32 b, const auto& f) {
    return static_cast<u32>(static_cast<u16>(f(a & 0xffff, b & 0xffff))) |
           static_cast<u32>(static_cast<u16>(f(a >> 16, b >> 16))) << 16;
  };
  check<u32, u32>("add.u16x2 %d, %a, %b;",
                  [&](u32 a, u32 b, u32) { return halves(a, b, [](u32 x, u32 y) { return x + y; }); });
  check<u32, u32>("min.s16x2 %d, %a, %b;", [&](u32 a, u32 b, u32) {
    return halves(a, b, [](u32 x, u32 y) { return std::min(static_cast<s16>(x), static_cast<s16>(y)); });
  });
  check<u32, u32>("max.u16x2 %d, %a, %b;",
                  [&](u32 a, u32 b, u32) { return halves(a, b, [](u32 x, u32 y) { return std::max(x, y); }); });
}

TEST_CASE("carries from instruction to instruction") {
  const auto a = integers<u64>(kIntegerCount, 4), b = integers<u64>(kIntegerCount, 5);
  const std::string halves =
      "{ .reg .b32 %al, %ah, %bl, %bh, %dl, %dh, %e; mov.b64 {%al, %ah}, %a; mov.b64 {%bl, %bh}, %b; ";
  const auto sums =
      lanes<u64, u64, u64>(halves + "add.cc.u32 %dl, %al, %bl; addc.u32 %dh, %ah, %bh; mov.b64 %d, {%dl, %dh}; }", a, b,
                           std::vector<u32>{}, false);
  const auto differences =
      lanes<u64, u64, u64>(halves + "sub.cc.u32 %dl, %al, %bl; subc.u32 %dh, %ah, %bh; mov.b64 %d, {%dl, %dh}; }", a, b,
                           std::vector<u32>{}, false);
  const auto carries =
      lanes<u32, u64, u64>(halves + "add.cc.u32 %dl, %al, %bl; addc.cc.u32 %dh, %ah, %bh; addc.u32 %d, 0, 0; }", a, b,
                           std::vector<u32>{}, false);
  // The product's third word: two low products' highs and the carries of their sum.
  const auto products = lanes<u64, u64, u64>(
      halves +
          "mul.lo.u32 %dl, %al, %bl; mul.hi.u32 %dh, %al, %bl; mad.lo.cc.u32 %dh, %al, %bh, %dh; madc.hi.u32 %e, %al, %bh, 0; "
          "mad.lo.cc.u32 %dh, %ah, %bl, %dh; madc.hi.u32 %e, %ah, %bl, %e; mov.b64 %d, {%dh, %e}; }",
      a, b, std::vector<u32>{}, false);
  for (std::size_t i = 0; i < kIntegerCount; ++i) {
    CHECK(sums[i] == a[i] + b[i]);
    CHECK(differences[i] == a[i] - b[i]);
    CHECK(carries[i] == static_cast<u32>((u128{a[i]} + b[i]) >> 64));
    const u64 al = a[i] & 0xffffffff, ah = a[i] >> 32, bl = b[i] & 0xffffffff, bh = b[i] >> 32;
    CHECK(products[i] == static_cast<u64>((u128{al * bl >> 32} + u128{al * bh} + u128{ah * bl})));
  }
}

TEST_CASE("logic and shifts: amounts beyond the width shift everything out") {
  check<u32, u32>("and.b32 %d, %a, %b;", [](u32 a, u32 b, u32) { return a & b; });
  check<u64, u64>("xor.b64 %d, %a, %b;", [](u64 a, u64 b, u64) { return a ^ b; });
  check<u16, u16>("or.b16 %d, %a, %b;", [](u16 a, u16 b, u16) { return a | b; });
  check<u64, u64>("not.b64 %d, %a;", [](u64 a, u64, u64) { return ~a; });
  check<u32, u32>("cnot.b32 %d, %a;", [](u32 a, u32, u32) { return a == 0; });
  check<u32, u32>("shl.b32 %d, %a, %b;", [](u32 a, u32 b, u32) { return b > 31 ? 0 : a << b; });
  check<u64, u64, u32>("shl.b64 %d, %a, %b;", [](u64 a, u32 b, u32) { return b > 63 ? 0 : a << b; });
  check<u16, u16, u32>("shl.b16 %d, %a, %b;", [](u32 a, u32 b, u32) { return b > 15 ? 0 : a << b; });
  check<s32, s32, u32>("shr.s32 %d, %a, %b;", [](s32 a, u32 b, u32) { return a >> std::min(b, 31U); });
  check<s64, s64, u32>("shr.s64 %d, %a, %b;", [](s64 a, u32 b, u32) { return a >> std::min(b, 63U); });
  check<s16, s16, u32>("shr.s16 %d, %a, %b;", [](s32 a, u32 b, u32) { return a >> std::min(b, 31U); });
  check<u64, u64, u32>("shr.u64 %d, %a, %b;", [](u64 a, u32 b, u32) { return b > 63 ? 0 : a >> b; });
  check<u32, u32>("shf.l.wrap.b32 %d, %a, %b, %c;",
                  [](u64 a, u64 b, u32 c) { return (b << 32 | a) << (c & 31) >> 32; });
  check<u32, u32>("shf.r.clamp.b32 %d, %a, %b, %c;",
                  [](u64 a, u64 b, u32 c) { return (b << 32 | a) >> std::min(c, 32U); });
  check<u32, u32>("shf.l.clamp.b32 %d, %a, %b, %c;",
                  [](u64 a, u64 b, u32 c) { return c >= 32 ? a : (b << 32 | a) << c >> 32; });
  for (const u32 table : {0x96U, 0xe8U, 0x01U, 0x7fU, 0xcaU}) {
    check<u32, u32>("lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", [&](u32 a, u32 b, u32 c) {
      u32 made = 0;
      for (int i = 0; i < 32; ++i) made |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
      return made;
    });
  }
}

TEST_CASE("bits counted, found, reversed, taken out and put in") {
  check<u32, u64>("popc.b64 %d, %a;", [](u64 a, u64, u64) { return std::popcount(a); });
  check<u32, u32>("clz.b32 %d, %a;", [](u32 a, u32, u32) { return std::countl_zero(a); });
  check<u32, u64>("clz.b64 %d, %a;", [](u64 a, u64, u64) { return std::countl_zero(a); });
  check<u32, u32>("bfind.u32 %d, %a;", [](u32 a, u32, u32) { return a == 0 ? -1 : 31 - std::countl_zero(a); });
  check<u32, s64>("bfind.s64 %d, %a;", [](s64 a, s64, s64) {
    const u64 b = static_cast<u64>(a < 0 ? ~a : a);
    return b == 0 ? -1 : 63 - std::countl_zero(b);
  });
  check<u32, u32>("bfind.shiftamt.u32 %d, %a;", [](u32 a, u32, u32) { return a == 0 ? -1 : std::countl_zero(a); });
  check<u64, u64>("brev.b64 %d, %a;", [](u64 a, u64, u64) {
    u64 made = 0;
    for (int i = 0; i < 64; ++i) made |= (a >> i & 1) << (63 - i);
    return made;
  });
  // By the manual's own loop (9.7.1.19, 9.7.1.20).
  const auto extract = [](u64 a, u32 from, u32 length, int top, bool is_signed) {
    from &= 0xff, length &= 0xff;
    const int last = std::min<int>(static_cast<int>(from + length) - 1, top);
    const u64 sign = is_signed && length != 0 ? a >> last & 1 : 0;
    u64 made = 0;
    for (int i = 0; i <= top; ++i)
      made |= (i < static_cast<int>(length) && static_cast<int>(from) + i <= top ? a >> (from + static_cast<u32>(i)) & 1
                                                                                 : sign)
              << i;
    return made;
  };
  check<u32, u32>("bfe.u32 %d, %a, %b, %c;", [&](u32 a, u32 b, u32 c) { return extract(a, b, c, 31, false); });
  check<u32, u32>("bfe.s32 %d, %a, %b, %c;", [&](u32 a, u32 b, u32 c) { return extract(a, b, c, 31, true); });
  check<u64, u64, u32>("bfe.s64 %d, %a, %b, %c;", [&](u64 a, u32 b, u32 c) { return extract(a, b, c, 63, true); });
  const auto insert = [](u64 a, u64 b, u32 at, u32 length, u32 top) {
    at &= 0xff, length &= 0xff;
    for (u32 i = 0; i < length && at + i <= top; ++i) b = (b & ~(u64{1} << (at + i))) | (a >> i & 1) << (at + i);
    return b;
  };
  check<u32, u32>("bfi.b32 %d, %a, %b, %c, 9;", [&](u32 a, u32 b, u32 c) { return insert(a, b, c, 9, 31); });
  check<u64, u64, u64, u32>("bfi.b64 %d, %a, %b, 13, %c;",
                            [&](u64 a, u64 b, u32 c) { return insert(a, b, 13, c, 63); });
  check<u32, u32>("bmsk.clamp.b32 %d, %a, %b;", [](u32 a, u32 b, u32) {
    return a >= 32 ? 0 : static_cast<u32>((b >= 32 ? ~0ULL : (1ULL << b) - 1) << a);
  });
  check<u32, u32>("bmsk.wrap.b32 %d, %a, %b;",
                  [](u32 a, u32 b, u32) { return static_cast<u32>(((1ULL << (b & 31)) - 1) << (a & 31)); });
  check<s32, s32, u32>("szext.clamp.s32 %d, %a, %b;", [](s32 a, u32 b, u32) {
    return b >= 32 ? a : b == 0 ? 0 : static_cast<s32>(static_cast<u32>(a) << (32 - b)) >> (32 - b);
  });
  check<u32, u32>("fns.b32 %d, %a, 3, 2;", [](u32 a, u32, u32) {
    int wanted = 2;
    for (u32 i = 3; i < 32; ++i) {
      if ((a >> i & 1) && --wanted == 0) return i;
    }
    return ~0U;
  });
}

TEST_CASE("permutations of bytes and products of bytes") {
  const auto permute = [](u64 bytes, u32 selector) {
    u32 made = 0;
    for (u32 i = 0; i < 4; ++i) {
      const u32 byte = static_cast<u32>(bytes >> (8 * (selector >> 4 * i & 7))) & 0xff;
      made |= (selector >> 4 * i & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return made;
  };
  check<u32, u32>("prmt.b32 %d, %a, %b, %c;", [&](u64 a, u64 b, u32 c) { return permute(b << 32 | a, c); });
  check<u32, u32>("prmt.b32.f4e %d, %a, %b, %c;", [](u64 a, u64 b, u32 c) { return (b << 32 | a) >> 8 * (c & 3); });
  check<u32, u32>("prmt.b32.rc8 %d, %a, %b, %c;",
                  [](u32 a, u32, u32 c) { return (a >> 8 * (c & 3) & 0xff) * 0x01010101; });
  check<u32, u32>("prmt.b32.rc16 %d, %a, %b, %c;",
                  [](u32 a, u32, u32 c) { return (a >> 16 * (c & 1) & 0xffff) * 0x00010001; });
  const auto byte = [](u32 value, int at, bool is_signed) {
    return is_signed ? static_cast<s32>(static_cast<signed char>(value >> 8 * at))
                     : static_cast<s32>(value >> 8 * at & 0xff);
  };
  check<u32, u32>("dp4a.s32.u32 %d, %a, %b, %c;", [&](u32 a, u32 b, u32 c) {
    for (int i = 0; i < 4; ++i) c += static_cast<u32>(byte(a, i, true) * byte(b, i, false));
    return c;
  });
  check<u32, u32>("dp2a.hi.s32.s32 %d, %a, %b, %c;", [&](u32 a, u32 b, u32 c) {
    for (int i = 0; i < 2; ++i) c += static_cast<u32>(static_cast<s16>(a >> 16 * i) * byte(b, i + 2, true));
    return c;
  });
}

}  // namespace
