// Arithmetic of f32 and f64 (PTX ISA 9.0, 9.7.3). Other roundings are compared with the processor's own, by fesetround.
#include <cfenv>
#include <cmath>
#include <functional>

#include "exec_lanes.h"

namespace {

using namespace flexrack::test;

constexpr std::size_t kFloatCount = 3000;

/// Runs the formula in a rounding mode of the processor. Values are volatile: nothing is computed before.
template <class T>
T in_mode(int mode, const std::function<T(volatile T&, volatile T&, volatile T&)>& formula, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  const volatile T result = formula(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class T>
T flushed(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

/// The same number; of f32 NaNs the one that PTX gives.
bool is_result(float got, float expected) {
  return std::isnan(expected) ? std::bit_cast<u32>(got) == 0x7fffffff
                              : std::bit_cast<u32>(got) == std::bit_cast<u32>(expected);
}
bool is_result(double got, double expected) {
  return std::isnan(expected) ? std::isnan(got) : std::bit_cast<u64>(got) == std::bit_cast<u64>(expected);
}

template <class T>
void check(const std::string& text, const std::function<T(T, T, T)>& formula) {
  const auto a = reals<T>(kFloatCount, 11), b = reals<T>(kFloatCount, 12), c = reals<T>(kFloatCount, 13);
  const auto got = lanes<T, T, T, T>(text, a, b, c);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kFloatCount; ++i) {
    const T expected = formula(a[i], b[i], c[i]);
    if (is_result(got[i], expected)) continue;
    if (wrong++ == 0) MESSAGE(text, ": a ", a[i], " b ", b[i], " c ", c[i], " gave ", got[i], ", not ", expected);
  }
  CAPTURE(text);
  CHECK(wrong == 0);
}

template <class T>
void check_modes(const std::string& before, const std::string& after,
                 const std::function<T(volatile T&, volatile T&, volatile T&)>& formula) {
  const std::pair<const char*, int> modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto& [name, mode] : modes) {
    check<T>(before + "." + name + after,
             [&, mode = mode](T a, T b, T c) { return in_mode<T>(mode, formula, a, b, c); });
  }
}

TEST_CASE("sums, products, quotients and roots in all four roundings") {
  check_modes<float>("add", ".f32 %d, %a, %b;", [](auto& a, auto& b, auto&) { return a + b; });
  check_modes<float>("sub", ".f32 %d, %a, %b;", [](auto& a, auto& b, auto&) { return a - b; });
  check_modes<float>("mul", ".f32 %d, %a, %b;", [](auto& a, auto& b, auto&) { return a * b; });
  check_modes<float>("fma", ".f32 %d, %a, %b, %c;", [](auto& a, auto& b, auto& c) { return std::fma(a, b, c); });
  check_modes<float>("div", ".f32 %d, %a, %b;", [](auto& a, auto& b, auto&) { return a / b; });
  check_modes<float>("rcp", ".f32 %d, %a;", [](auto& a, auto&, auto&) { return 1.0f / a; });
  check_modes<float>("sqrt", ".f32 %d, %a;", [](auto& a, auto&, auto&) { return std::sqrt(a); });
  check_modes<double>("add", ".f64 %d, %a, %b;", [](auto& a, auto& b, auto&) { return a + b; });
  check_modes<double>("mul", ".f64 %d, %a, %b;", [](auto& a, auto& b, auto&) { return a * b; });
  check_modes<double>("fma", ".f64 %d, %a, %b, %c;", [](auto& a, auto& b, auto& c) { return std::fma(a, b, c); });
  check_modes<double>("div", ".f64 %d, %a, %b;", [](auto& a, auto& b, auto&) { return a / b; });
  check_modes<double>("rcp", ".f64 %d, %a;", [](auto& a, auto&, auto&) { return 1.0 / a; });
  check_modes<double>("sqrt", ".f64 %d, %a;", [](auto& a, auto&, auto&) { return std::sqrt(a); });
}

TEST_CASE("subnormals flushed, results clamped") {
  const auto saturated = [](float x) { return x > 0 ? std::fmin(x, 1.0f) : 0.0f; };
  check<float>("add.ftz.f32 %d, %a, %b;", [](float a, float b, float) { return flushed(flushed(a) + flushed(b)); });
  check<float>("mul.ftz.f32 %d, %a, %b;", [](float a, float b, float) { return flushed(flushed(a) * flushed(b)); });
  check<float>("fma.rn.ftz.f32 %d, %a, %b, %c;",
               [](float a, float b, float c) { return flushed(std::fma(flushed(a), flushed(b), flushed(c))); });
  check<float>("mad.rz.ftz.f32 %d, %a, %b, %c;", [](float a, float b, float c) {
    return flushed(in_mode<float>(
        FE_TOWARDZERO, [](auto& x, auto& y, auto& z) { return std::fma(x, y, z); }, flushed(a), flushed(b),
        flushed(c)));
  });
  check<float>("add.sat.f32 %d, %a, %b;", [&](float a, float b, float) { return saturated(a + b); });
  check<float>("fma.rn.ftz.sat.f32 %d, %a, %b, %c;", [&](float a, float b, float c) {
    return saturated(flushed(std::fma(flushed(a), flushed(b), flushed(c))));
  });
}

TEST_CASE("least and greatest: -0 below +0, numbers before NaNs, or NaNs first") {
  const auto least = [](auto a, auto b) {
    return std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
  };
  const auto greatest = [](auto a, auto b) {
    return std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
  };
  check<float>("min.f32 %d, %a, %b;", [&](float a, float b, float) { return least(a, b); });
  check<float>("max.f32 %d, %a, %b;", [&](float a, float b, float) { return greatest(a, b); });
  check<float>("max.ftz.f32 %d, %a, %b;", [&](float a, float b, float) { return greatest(flushed(a), flushed(b)); });
  check<double>("min.f64 %d, %a, %b;", [&](double a, double b, double) { return least(a, b); });
  check<double>("max.f64 %d, %a, %b;", [&](double a, double b, double) { return greatest(a, b); });
  check<float>("min.NaN.f32 %d, %a, %b;",
               [&](float a, float b, float) { return std::isnan(a) || std::isnan(b) ? NAN : least(a, b); });
  check<float>("max.f32 %d, %a, %b, %c;", [&](float a, float b, float c) { return greatest(greatest(a, b), c); });
  check<float>("max.xorsign.abs.f32 %d, %a, %b;", [&](float a, float b, float) {
    const float chosen = greatest(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -chosen : chosen;
  });
}

TEST_CASE("signs") {
  const auto x = reals<float>(kFloatCount, 19), y = reals<float>(kFloatCount, 20);
  const auto copies = lanes<u32, float, float>("copysign.f32 %d, %a, %b;", x, y),
             negatives = lanes<u32, float>("neg.ftz.f32 %d, %a;", x);
  for (std::size_t i = 0; i < kFloatCount; ++i) {
    CHECK(copies[i] == ((std::bit_cast<u32>(y[i]) & 0x7fffffff) | (std::bit_cast<u32>(x[i]) & 0x80000000)));
    CHECK(negatives[i] == (std::bit_cast<u32>(flushed(x[i])) ^ 0x80000000));
  }
  check<double>("copysign.f64 %d, %a, %b;", [](double a, double b, double) { return std::copysign(b, a); });
  check<double>("abs.f64 %d, %a;", [](double a, double, double) { return std::fabs(a); });
  check<double>("neg.f64 %d, %a;", [](double a, double, double) { return -a; });
}

/// The greatest error of an approximation, relative, or absolute where `scale` says what to compare with.
double worst(const std::string& text, const std::vector<float>& a, const std::function<double(double)>& formula,
             bool is_absolute = false) {
  const auto got = lanes<float, float>(text, a);
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double expected = formula(a[i]);
    if (std::isnan(expected)) {
      CHECK(std::bit_cast<u32>(got[i]) == 0x7fffffff);
    } else if (std::isinf(static_cast<float>(expected)) || expected == 0) {
      CHECK(got[i] == static_cast<float>(expected));
    } else {
      most = std::max(most, std::fabs(got[i] - expected) / (is_absolute ? 1 : std::max(std::fabs(expected), 1.2e-38)));
    }
  }
  return most;
}

TEST_CASE("approximations are within the errors that PTX allows") {
  std::vector<float> wide = reals<float>(2000, 14), angles;
  for (int i = -2000; i < 2000; ++i) angles.push_back(static_cast<float>(i) * 0.0157f);
  const double ulp = std::ldexp(1.0, -23);
  CHECK(worst("ex2.approx.f32 %d, %a;", wide, [](double x) { return std::exp2(x); }) < ulp);
  CHECK(worst("ex2.approx.f32 %d, %a;", angles, [](double x) { return std::exp2(x); }) < ulp);
  CHECK(worst("lg2.approx.f32 %d, %a;", wide, [](double x) { return std::log2(x); }) < ulp);
  CHECK(worst("sin.approx.f32 %d, %a;", angles, [](double x) { return std::sin(x); }) < ulp);
  CHECK(worst("cos.approx.f32 %d, %a;", angles, [](double x) { return std::cos(x); }) < ulp);
  CHECK(worst("tanh.approx.f32 %d, %a;", angles, [](double x) { return std::tanh(x); }) < ulp);
  CHECK(worst("rcp.approx.f32 %d, %a;", angles, [](double x) { return 1 / x; }) < ulp);
  CHECK(worst("rsqrt.approx.f32 %d, %a;", wide, [](double x) { return 1 / std::sqrt(x); }) < ulp);
  CHECK(worst("sqrt.approx.f32 %d, %a;", wide, [](double x) { return std::sqrt(x); }) < ulp);
  const auto b = reals<float>(wide.size(), 15);
  const auto quotients = lanes<float, float, float>("div.full.f32 %d, %a, %b;", wide, b);
  for (std::size_t i = 0; i < wide.size(); ++i) CHECK(is_result(quotients[i], wide[i] / b[i]));
  // Angles that a float still tells apart, and what is none.
  const std::vector<float> far = {1e5f, -3.5e6f, 1e9f, HUGE_VALF, -HUGE_VALF, NAN, -0.0f};
  const auto sines = lanes<float, float>("sin.approx.ftz.f32 %d, %a;", far);
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::fabs(sines[i] - std::sin(double{far[i]})) < 1e-7);
  for (std::size_t i = 3; i < 6; ++i) CHECK(std::bit_cast<u32>(sines[i]) == 0x7fffffff);
  CHECK(std::bit_cast<u32>(sines[6]) == 0x80000000);
}

TEST_CASE("approximations of doubles have 20 bits of fraction") {
  std::vector<double> a;
  for (int i = 1; i < 500; ++i) a.push_back(i * 0.37);
  const auto reciprocals = lanes<double, double>("rcp.approx.ftz.f64 %d, %a;", a),
             roots = lanes<double, double>("rsqrt.approx.ftz.f64 %d, %a;", a);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(std::fabs(reciprocals[i] * a[i] - 1) < std::ldexp(1.0, -18));
    CHECK(std::fabs(roots[i] * std::sqrt(a[i]) - 1) < std::ldexp(1.0, -18));
    CHECK((std::bit_cast<u64>(reciprocals[i]) & 0xffffffff) == 0);
  }
}

TEST_CASE("properties of floats, and pairs of them in 64 bits") {
  const auto a = reals<float>(kFloatCount, 16);
  const std::pair<const char*, std::function<bool(float)>> properties[] = {
      {"finite", [](float x) { return std::isfinite(x); }},
      {"infinite", [](float x) { return std::isinf(x); }},
      {"number", [](float x) { return !std::isnan(x); }},
      {"notanumber", [](float x) { return std::isnan(x); }},
      {"normal", [](float x) { return std::isnormal(x); }},
      {"subnormal", [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; }},
  };
  for (const auto& [name, holds] : properties) {
    const auto got = lanes<u32, float>("testp." + std::string(name) + ".f32 %r, %a; selp.u32 %d, 1, 0, %r;", a,
                                       std::vector<u32>{}, std::vector<u32>{}, false);
    for (std::size_t i = 0; i < kFloatCount; ++i) CHECK(got[i] == holds(a[i]));
  }
  const auto x = reals<float>(2 * kFloatCount, 17), y = reals<float>(2 * kFloatCount, 18);
  std::vector<u64> px, py;
  const auto pair = [](float low, float high) {
    return std::bit_cast<u32>(low) | static_cast<u64>(std::bit_cast<u32>(high)) << 32;
  };
  for (std::size_t i = 0; i < kFloatCount; ++i)
    px.push_back(pair(x[2 * i], x[2 * i + 1])), py.push_back(pair(y[2 * i], y[2 * i + 1]));
  const auto products = lanes<u64, u64, u64>("mul.rn.f32x2 %d, %a, %b;", px, py);
  for (std::size_t i = 0; i < kFloatCount; ++i) {
    CHECK(is_result(std::bit_cast<float>(static_cast<u32>(products[i])), x[2 * i] * y[2 * i]));
    CHECK(is_result(std::bit_cast<float>(static_cast<u32>(products[i] >> 32)), x[2 * i + 1] * y[2 * i + 1]));
  }
}

}  // namespace
