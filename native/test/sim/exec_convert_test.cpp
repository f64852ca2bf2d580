// cvt (PTX ISA 9.0, 9.7.9.21): integers, floats and the narrow ones; and mov between parts of registers.
#include <cfenv>
#include <cmath>
#include <functional>

#include "exec_lanes.h"
#include "exec_narrow.h"

namespace {

using namespace flexrack::test;
using Mode = NarrowFormat::Mode;
using s8 = std::int8_t;

constexpr std::size_t kConvertCount = 1500;
const std::vector<u32> kNoFloats;

template <class D, class A>
void check(const std::string& text, const std::vector<A>& a, const std::function<D(A)>& formula) {
  const auto got = lanes<D, A>(text, a);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const D expected = formula(a[i]);
    bool is_same = same_bits(got[i], expected);
    if constexpr (std::is_floating_point_v<D>) is_same |= std::isnan(got[i]) && std::isnan(expected);
    if (!is_same && wrong++ == 0) MESSAGE(text, ": ", +a[i], " gave ", +got[i], ", not ", +expected);
  }
  CAPTURE(text);
  CHECK(wrong == 0);
}

TEST_CASE("integers are cut and extended, in registers that may be wider") {
  const auto a = integers<u64>(kConvertCount, 1);
  const auto b = integers<u32>(kConvertCount, 2);
  const auto c = integers<u16>(kConvertCount, 3);
  check<u32, u64>("cvt.u32.u64 %d, %a;", a, [](u64 x) { return static_cast<u32>(x); });
  check<u64, u32>("cvt.u64.u32 %d, %a;", b, [](u32 x) { return x; });
  check<u64, u32>("cvt.s64.s32 %d, %a;", b, [](u32 x) { return static_cast<u64>(s64{static_cast<s32>(x)}); });
  check<u64, u32>("cvt.u64.s32 %d, %a;", b, [](u32 x) { return static_cast<u64>(s64{static_cast<s32>(x)}); });
  check<u32, u32>("cvt.u32.u8 %d, %a;", b, [](u32 x) { return x & 0xff; });
  check<u32, u32>("cvt.s32.s8 %d, %a;", b, [](u32 x) { return static_cast<u32>(static_cast<s8>(x)); });
  check<u32, u32>("cvt.u16.u32 %d, %a;", b, [](u32 x) { return x & 0xffff; });
  check<u32, u32>("cvt.s16.s32 %d, %a;", b, [](u32 x) { return static_cast<u32>(static_cast<s16>(x)); });
  check<u32, u32>("cvt.u16.s8 %d, %a;", b, [](u32 x) { return static_cast<u16>(static_cast<s8>(x)); });
  check<u64, u16>("cvt.s64.s16 %d, %a;", c, [](u16 x) { return static_cast<u64>(s64{static_cast<s16>(x)}); });
  check<u16, u16>("cvt.s16.s8 %d, %a;", c, [](u16 x) { return static_cast<u16>(static_cast<s8>(x)); });
  check<u16, u64>("cvt.u16.u64 %d, %a;", a, [](u64 x) { return static_cast<u16>(x); });
}

TEST_CASE("saturation to the range of a type") {
  const auto a = integers<u32>(kConvertCount, 4);
  const auto b = integers<u64>(kConvertCount, 5);
  check<u32, u32>("cvt.sat.u8.s32 %d, %a;", a,
                  [](u32 x) { return static_cast<u32>(std::clamp(static_cast<s32>(x), 0, 255)); });
  check<u32, u32>("cvt.sat.s8.s32 %d, %a;", a,
                  [](u32 x) { return static_cast<u32>(std::clamp(static_cast<s32>(x), -128, 127)); });
  check<u32, u32>("cvt.sat.s32.u32 %d, %a;", a, [](u32 x) { return std::min(x, 0x7fffffffU); });
  check<u32, u64>("cvt.sat.u32.s64 %d, %a;", b,
                  [](u64 x) { return static_cast<u32>(std::clamp<s64>(static_cast<s64>(x), 0, 0xffffffff)); });
  check<u64, u64>("cvt.sat.u64.s64 %d, %a;", b, [](u64 x) { return x >> 63 ? 0 : x; });
  const auto packed = lanes<u32, u32, u32, u32>("cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", a,
                                                integers<u32>(kConvertCount, 6), integers<u32>(kConvertCount, 7));
  const auto low = integers<u32>(kConvertCount, 6), above = integers<u32>(kConvertCount, 7);
  for (std::size_t i = 0; i < kConvertCount; ++i) {
    const auto byte = [](u32 x) { return static_cast<u32>(std::clamp(static_cast<s32>(x), 0, 255)); };
    CHECK(packed[i] == (above[i] << 16 | byte(a[i]) << 8 | byte(low[i])));
  }
}

/// A float as an integer of any mode, clamped; NaN is 0.
template <class D, class A>
D to_integer(A x, double (*round)(double)) {
  if (std::isnan(x)) return 0;
  const double whole = round(x), least = static_cast<double>(std::numeric_limits<D>::min()),
               most = std::ldexp(1.0, std::numeric_limits<D>::digits);
  return whole < least   ? std::numeric_limits<D>::min()
         : whole >= most ? std::numeric_limits<D>::max()
                         : static_cast<D>(whole);
}

TEST_CASE("floats to integers: rounded as asked, clamped, NaN is 0") {
  const auto f = reals<float>(kConvertCount, 8);
  const auto d = reals<double>(kConvertCount, 9);
  const std::pair<const char*, double (*)(double)> modes[] = {
      {"rni", std::nearbyint}, {"rzi", std::trunc}, {"rmi", std::floor}, {"rpi", std::ceil}};
  for (const auto& [mode, round] : modes) {
    const std::string name = mode;
    const auto by = round;
    check<s32, float>("cvt." + name + ".s32.f32 %d, %a;", f, [by](float x) { return to_integer<s32>(x, by); });
    check<u32, float>("cvt." + name + ".u32.f32 %d, %a;", f, [by](float x) { return to_integer<u32>(x, by); });
    check<s64, float>("cvt." + name + ".s64.f32 %d, %a;", f, [by](float x) { return to_integer<s64>(x, by); });
    check<s32, double>("cvt." + name + ".s32.f64 %d, %a;", d, [by](double x) { return to_integer<s32>(x, by); });
    check<u64, double>("cvt." + name + ".u64.f64 %d, %a;", d, [by](double x) { return to_integer<u64>(x, by); });
    check<s32, float>("cvt." + name + ".s8.f32 %d, %a;", f, [by](float x) { return s32{to_integer<s8>(x, by)}; });
    check<float, float>("cvt." + name + ".f32.f32 %d, %a;", f, [by](float x) { return static_cast<float>(by(x)); });
    check<double, double>("cvt." + name + ".f64.f64 %d, %a;", d, [by](double x) { return by(x); });
  }
  check<s32, float>("cvt.rzi.ftz.s32.f32 %d, %a;", f, [](float x) { return to_integer<s32>(x, std::trunc); });
}

template <class D, class A>
D in_mode(int mode, A x) {
  volatile A value = x;
  std::fesetround(mode);
  const volatile D made = static_cast<D>(value);
  std::fesetround(FE_TONEAREST);
  return made;
}

TEST_CASE("integers and doubles to floats in all roundings") {
  const auto i32 = integers<s32>(kConvertCount, 10);
  const auto i64 = integers<s64>(kConvertCount, 11);
  const auto u64s = integers<u64>(kConvertCount, 12);
  const auto d = reals<double>(kConvertCount, 13);
  const std::pair<const char*, int> modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto& [text, mode] : modes) {
    const std::string name = text;
    const int by = mode;
    check<float, s32>("cvt." + name + ".f32.s32 %d, %a;", i32, [by](s32 x) { return in_mode<float>(by, x); });
    check<float, s64>("cvt." + name + ".f32.s64 %d, %a;", i64, [by](s64 x) { return in_mode<float>(by, x); });
    check<double, s64>("cvt." + name + ".f64.s64 %d, %a;", i64, [by](s64 x) { return in_mode<double>(by, x); });
    // The host converts unsigned ones by way of signed ones, in two roundings: of 63 bits it is one.
    auto halved = u64s;
    for (auto& x : halved) x >>= 1;
    check<double, u64>("cvt." + name + ".f64.u64 %d, %a;", halved,
                       [by](u64 x) { return in_mode<double>(by, static_cast<s64>(x)); });
    check<float, double>("cvt." + name + ".f32.f64 %d, %a;", d, [by](double x) { return in_mode<float>(by, x); });
  }
  check<float, u64>("cvt.rn.f32.u64 %d, %a;", u64s, [](u64 x) { return static_cast<float>(x); });
  check<double, float>("cvt.f64.f32 %d, %a;", reals<float>(kConvertCount, 14), [](float x) { return x; });
  check<float, float>("cvt.sat.f32.f32 %d, %a;", reals<float>(kConvertCount, 15),
                      [](float x) { return x > 0 ? std::fmin(x, 1.0f) : 0.0f; });
}

TEST_CASE("every half to f32, and back") {
  std::vector<u16> all;
  for (u32 raw = 0; raw < 0x10000; ++raw) all.push_back(static_cast<u16>(raw));
  const auto halves = lanes<float, u16>("cvt.f32.f16 %d, %a;", all),
             brains = lanes<float, u16>("cvt.f32.bf16 %d, %a;", all);
  const auto back = lanes<u16, float>("cvt.rn.f16.f32 %d, %a;", halves),
             brain_back = lanes<u16, float>("cvt.rn.bf16.f32 %d, %a;", brains);
  std::size_t wrong = 0;
  for (u32 raw = 0; raw < 0x10000; ++raw) {
    const double half = half_format().value(raw), brain = bfloat_format().value(raw);
    wrong += !(halves[raw] == half || (std::isnan(half) && std::bit_cast<u32>(halves[raw]) == 0x7fffffff));
    wrong += !(brains[raw] == brain || (std::isnan(brain) && std::bit_cast<u32>(brains[raw]) == 0x7fffffff));
    wrong += back[raw] != (std::isnan(half) ? 0x7fff : raw);
    wrong += brain_back[raw] != (std::isnan(brain) ? 0x7fff : raw);
  }
  CHECK(wrong == 0);
}

TEST_CASE("floats to halves in all roundings") {
  auto f = reals<float>(kConvertCount, 16);
  // And all around ties and the ends of the format.
  for (u32 raw = 0; raw < 0x7c00; raw += 37) {
    const auto value = static_cast<float>((half_format().value(raw) + half_format().value(raw + 1)) / 2);
    f.push_back(value), f.push_back(-std::nextafter(value, 1e9f)), f.push_back(std::nextafter(value, 0.0f));
  }
  const auto narrow = [](const NarrowFormat& format, float x, Mode mode, u32 infinity) {
    return static_cast<u16>(std::isnan(x)   ? 0x7fff
                            : std::isinf(x) ? (x < 0 ? 0x8000 | infinity : infinity)
                                            : format.round(x, mode, infinity));
  };
  check<u16, float>("cvt.rn.f16.f32 %d, %a;", f,
                    [&](float x) { return narrow(half_format(), x, Mode::nearest, 0x7c00); });
  check<u16, float>("cvt.rz.f16.f32 %d, %a;", f, [&](float x) { return narrow(half_format(), x, Mode::zero, 0x7c00); });
  check<u16, float>("cvt.rm.f16.f32 %d, %a;", f, [&](float x) { return narrow(half_format(), x, Mode::down, 0x7c00); });
  check<u16, float>("cvt.rp.f16.f32 %d, %a;", f, [&](float x) { return narrow(half_format(), x, Mode::up, 0x7c00); });
  check<u16, float>("cvt.rn.bf16.f32 %d, %a;", f,
                    [&](float x) { return narrow(bfloat_format(), x, Mode::nearest, 0x7f80); });
  check<u16, float>("cvt.rz.bf16.f32 %d, %a;", f,
                    [&](float x) { return narrow(bfloat_format(), x, Mode::zero, 0x7f80); });
  check<u16, float>("cvt.rn.relu.f16.f32 %d, %a;", f, [&](float x) {
    return std::signbit(x) && !std::isnan(x) ? u16{0} : narrow(half_format(), x, Mode::nearest, 0x7c00);
  });
  check<u16, s32>("cvt.rn.f16.s32 %d, %a;", integers<s32>(kConvertCount, 17),
                  [&](s32 x) { return static_cast<u16>(half_format().round(x, Mode::nearest, 0x7c00)); });
  check<u16, u64>("cvt.rn.bf16.u64 %d, %a;",
                  {(u64{1} << 63) + (u64{1} << 55), (u64{1} << 63) + (u64{1} << 55) + 1, 255, 0}, [](u64 x) {
                    return static_cast<u16>(x == 255 ? 0x437f : x == 0 ? 0 : x & 1 ? 0x5f01 : 0x5f00);
                  });
  const auto g = reals<float>(kConvertCount, 18);
  const auto first = std::vector<float>(f.begin(), f.begin() + kConvertCount);
  const auto pairs = lanes<u32, float, float>("cvt.rn.f16x2.f32 %d, %a, %b;", first, g);
  for (std::size_t i = 0; i < kConvertCount; ++i)
    CHECK(pairs[i] == (narrow(half_format(), g[i], Mode::nearest, 0x7c00) |
                       static_cast<u32>(narrow(half_format(), first[i], Mode::nearest, 0x7c00)) << 16));
}

TEST_CASE("8-bit floats and tf32") {
  const NarrowFormat e4m3(4, 3, 7, false, 0x7f), e5m2(5, 2, 15, true, 0x7c);
  const auto a = reals<float>(kConvertCount, 19), b = reals<float>(kConvertCount, 20);
  const auto four = lanes<u16, float, float>("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", a, b),
             five = lanes<u16, float, float>("cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;", a, b);
  const auto expected = [](const NarrowFormat& format, float x, u32 greatest, u32 nan) {
    return std::isnan(x)   ? nan
           : std::isinf(x) ? (x < 0 ? 0x80 | greatest : greatest)
                           : format.round(x, Mode::nearest, greatest);
  };
  for (std::size_t i = 0; i < kConvertCount; ++i) {
    CHECK(four[i] == (expected(e4m3, b[i], 0x7e, 0x7f) | expected(e4m3, a[i], 0x7e, 0x7f) << 8));
    CHECK(five[i] == (expected(e5m2, b[i], 0x7b, 0x7f) | expected(e5m2, a[i], 0x7b, 0x7f) << 8));
  }
  std::vector<u16> bytes;
  for (u32 raw = 0; raw < 256; ++raw) bytes.push_back(static_cast<u16>(raw | (255 - raw) << 8));
  const auto back = lanes<u32, u16>("cvt.rn.f16x2.e4m3x2 %d, %a;", bytes);
  for (u32 raw = 0; raw < 256; ++raw) {
    const double low = e4m3.value(raw), high = e4m3.value(255 - raw), got_low = half_format().value(back[raw] & 0xffff),
                 got_high = half_format().value(back[raw] >> 16);
    CHECK((std::isnan(low) ? std::isnan(got_low) : got_low == low));
    CHECK((std::isnan(high) ? std::isnan(got_high) : got_high == high));
  }
  const NarrowFormat tf32(8, 10, 127, true, 0xff << 10);
  // Ties away from zero.
  check<u32, float>("cvt.rna.tf32.f32 %d, %a;", a, [&](float x) {
    if (std::isnan(x)) return 0x7fffffffU;
    const u32 raw = std::bit_cast<u32>(x);
    return std::isinf(x) ? raw : (raw + 0x1000) & 0xffffe000;
  });
}

TEST_CASE("registers from parts, and parts from registers") {
  const auto a = integers<u64>(kConvertCount, 21);
  const auto b = integers<u32>(kConvertCount, 22), c = integers<u32>(kConvertCount, 23);
  const auto joined = lanes<u64, u32, u32>("mov.b64 %d, {%a, %b};", b, c);
  const auto high = lanes<u32, u64>("mov.b64 {_, %d}, %a;", a);
  const auto swapped = lanes<u32, u32>("{ .reg .b16 %l, %h; mov.b32 {%l, %h}, %a; mov.b32 %d, {%h, %l}; }", b,
                                       kNoFloats, kNoFloats, false);
  const auto quarters =
      lanes<u64, u64>("{ .reg .b16 %w, %x, %y, %z; mov.b64 {%w, %x, %y, %z}, %a; mov.b64 %d, {%z, %y, %x, %w}; }", a,
                      kNoFloats, kNoFloats, false);
  const auto wide = lanes<u64, u64, u32>(
      "{ .reg .b128 %w; .reg .b64 %l, %h; cvt.u64.u32 %h, %b; mov.b128 %w, {%a, %h}; mov.b128 {%l, %h}, %w; add.u64 %d, %l, %h; }",
      a, b, kNoFloats, false);
  for (std::size_t i = 0; i < kConvertCount; ++i) {
    CHECK(joined[i] == (b[i] | u64{c[i]} << 32));
    CHECK(high[i] == a[i] >> 32);
    CHECK(swapped[i] == (b[i] << 16 | b[i] >> 16));
    CHECK(quarters[i] ==
          ((a[i] & 0xffff) << 48 | (a[i] >> 16 & 0xffff) << 32 | (a[i] >> 32 & 0xffff) << 16 | a[i] >> 48));
    CHECK(wide[i] == a[i] + b[i]);
  }
}

}  // namespace
