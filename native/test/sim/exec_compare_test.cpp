// setp, set, selp, slct and predicates (PTX ISA 9.0, 9.7.6 and 9.7.7).
#include <cmath>
#include <functional>

#include "exec_lanes.h"

namespace {

using namespace flexrack::test;

constexpr std::size_t kCount = 600;
const std::vector<u32> kNo;

const std::pair<const char*, std::function<bool(bool, bool, bool, bool)>> kFloatOps[] = {
    {"eq", [](bool, bool eq, bool, bool) { return eq; }},
    {"ne", [](bool lt, bool, bool gt, bool) { return lt || gt; }},
    {"lt", [](bool lt, bool, bool, bool) { return lt; }},
    {"le", [](bool lt, bool eq, bool, bool) { return lt || eq; }},
    {"gt", [](bool, bool, bool gt, bool) { return gt; }},
    {"ge", [](bool, bool eq, bool gt, bool) { return eq || gt; }},
    {"equ", [](bool, bool eq, bool, bool nan) { return eq || nan; }},
    {"neu", [](bool, bool eq, bool, bool) { return !eq; }},
    {"ltu", [](bool lt, bool, bool, bool nan) { return lt || nan; }},
    {"leu", [](bool, bool, bool gt, bool) { return !gt; }},
    {"gtu", [](bool, bool, bool gt, bool nan) { return gt || nan; }},
    {"geu", [](bool lt, bool, bool, bool) { return !lt; }},
    {"num", [](bool, bool, bool, bool nan) { return !nan; }},
    {"nan", [](bool, bool, bool, bool nan) { return nan; }},
};

template <class T>
void compare_all(const std::string& type, const std::vector<T>& a, const std::vector<T>& b, std::size_t ops) {
  for (std::size_t k = 0; k < ops; ++k) {
    const std::string op = kFloatOps[k].first;
    CAPTURE(op);
    const auto got =
        lanes<u32, T, T>("setp." + op + "." + type + " %r, %a, %b; selp.u32 %d, 5, 9, %r;", a, b, kNo, false);
    // The same with a second result and a predicate that says whether the lane's number is odd.
    const auto two = lanes<u32, T, T>(
        "and.b32 %x, %i, 1; setp.eq.u32 %u, %x, 1; setp." + op + ".and." + type +
            " %r|%s, %a, %b, %u; selp.u32 %d, 1, 0, %r; selp.u32 %t32, 2, 0, %s; add.u32 %d, %d, %t32;",
        a, b, kNo, false);
    const auto set = lanes<u32, T, T>("set." + op + ".u32." + type + " %d, %a, %b;", a, b);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool holds = kFloatOps[k].second(a[i]<b[i], a[i] == b[i], a[i]> b[i], a[i] != a[i] || b[i] != b[i]);
      wrong += got[i] != (holds ? 5 : 9);
      wrong += two[i] != (i % 2 == 1 ? (holds ? 1 : 2) : 0);
      wrong += set[i] != (holds ? ~0U : 0);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("comparisons of integers of all widths and signs") {
  compare_all<u32>("u32", integers<u32>(kCount, 1), integers<u32>(kCount, 2), 6);
  compare_all<s32>("s32", integers<s32>(kCount, 1), integers<s32>(kCount, 2), 6);
  compare_all<u64>("u64", integers<u64>(kCount, 1), integers<u64>(kCount, 2), 6);
  compare_all<s64>("s64", integers<s64>(kCount, 1), integers<s64>(kCount, 2), 6);
  compare_all<u16>("u16", integers<u16>(kCount, 1), integers<u16>(kCount, 2), 6);
  compare_all<s16>("s16", integers<s16>(kCount, 1), integers<s16>(kCount, 2), 6);
  compare_all<u64>("b64", integers<u64>(kCount, 1), integers<u64>(kCount, 2), 2);
}

TEST_CASE("comparisons of floats: ordered, unordered, with subnormals flushed") {
  compare_all<float>("f32", reals<float>(kCount, 3), reals<float>(kCount, 4), 14);
  compare_all<double>("f64", reals<double>(kCount, 3), reals<double>(kCount, 4), 14);
  const float tiny = std::numeric_limits<float>::denorm_min();
  const auto flushed = lanes<u32, float, float>("setp.eq.ftz.f32 %r, %a, %b; selp.u32 %d, 1, 0, %r;",
                                                std::vector<float>{tiny, -tiny, 1e-30f},
                                                std::vector<float>{0.0f, tiny, 0.0f}, kNo, false);
  CHECK(flushed == std::vector<u32>{1, 1, 0});
}

TEST_CASE("combining with a predicate that is negated, or a constant") {
  const auto a = integers<u32>(kCount, 5), b = integers<u32>(kCount, 6);
  const auto got = lanes<u32, u32, u32>(
      "and.b32 %x, %a, 2; setp.eq.u32 %u, %x, 0; setp.lt.xor.u32 %r, %a, %b, !%u; setp.gt.or.u32 %s, %a, %b, %u; selp.u32 %d, 1, 0, %r; @%s add.u32 %d, %d, 2;",
      a, b, kNo, false);
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool u = (a[i] & 2) == 0;
    CHECK(got[i] == ((a[i] < b[i]) != !u ? 1U : 0U) + (a[i] > b[i] || u ? 2U : 0U));
  }
}

TEST_CASE("set gives ones of each type") {
  const std::vector<float> a = {1, 2, NAN}, b = {2, 1, 1};
  CHECK(lanes<u32, float, float>("set.lt.f32.f32 %d, %a, %b;", a, b) == std::vector<u32>{0x3f800000, 0, 0});
  CHECK(lanes<u32, float, float>("set.gtu.s32.f32 %d, %a, %b;", a, b) == std::vector<u32>{0, ~0U, ~0U});
  const auto c = integers<u32>(3, 7);
  CHECK(lanes<u32, u32>("set.eq.f32.u32 %d, %a, %a;", c) == std::vector<u32>{0x3f800000, 0x3f800000, 0x3f800000});
}

TEST_CASE("choices") {
  const auto a = integers<u64>(kCount, 8), b = integers<u64>(kCount, 9);
  const auto c = integers<s32>(kCount, 10);
  const auto by_sign = lanes<u64, u64, u64, s32>("slct.u64.s32 %d, %a, %b, %c;", a, b, c);
  const auto f = reals<float>(kCount, 11);
  const auto by_float = lanes<u64, u64, u64, float>("slct.u64.f32 %d, %a, %b, %c;", a, b, f);
  const auto short_ones = lanes<u16, u16, u16>("setp.lt.u16 %r, %a, %b; selp.b16 %d, %a, %b, %r;",
                                               integers<u16>(kCount, 12), integers<u16>(kCount, 13), kNo, false);
  const auto x = integers<u16>(kCount, 12), y = integers<u16>(kCount, 13);
  for (std::size_t i = 0; i < kCount; ++i) {
    CHECK(by_sign[i] == (c[i] >= 0 ? a[i] : b[i]));
    CHECK(by_float[i] == (f[i] >= 0 ? a[i] : b[i]));
    CHECK(short_ones[i] == std::min(x[i], y[i]));
  }
}

TEST_CASE("logic of predicates, and lop3 with one") {
  const auto a = integers<u32>(kCount, 14), b = integers<u32>(kCount, 15), c = integers<u32>(kCount, 16);
  const auto got = lanes<u32, u32, u32>(
      "setp.lt.u32 %q, %a, %b; setp.gt.s32 %r, %a, %b; and.pred %s, %q, %r; xor.pred %u, %q, !%r; or.pred %q, %s, %u; not.pred %r, %q; selp.u32 %d, 1, 0, %s; @%u add.u32 %d, %d, 2; @%q add.u32 %d, %d, 4; "
      "@%r add.u32 %d, %d, 8;",
      a, b, kNo, false);
  const auto lop = lanes<u32, u32, u32, u32>(
      "setp.lt.u32 %u, %a, %b; lop3.or.b32 %d|%r, %a, %b, %c, 0x80, %u; @%r add.u32 %d, %d, 1;", a, b, c, false);
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool q = a[i]<b[i], r = static_cast<s32>(a[i])> static_cast<s32>(b[i]), s = q && r, u = q != !r, any = s || u;
    CHECK(got[i] == (s ? 1U : 0U) + (u ? 2U : 0U) + (any ? 4U : 0U) + (any ? 0U : 8U));
    const u32 all = a[i] & b[i] & c[i];
    CHECK(lop[i] == all + (all != 0 || q ? 1 : 0));
  }
}

}  // namespace
