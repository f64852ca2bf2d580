// Results rounded toward zero, down or up, from the nearest one and the sign of what is missing. That sign is exact:
// products of two floats fit a wider type, sums are two of those.
#pragma once

#include <cmath>
#include <limits>

#include "sim/exec/numbers.h"
#include "sim/ptx/types.h"

namespace flexrack::sim::exec {

using ptx::Rounding;

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Quad;
#else
typedef long double Quad;
#endif

template <class T>
struct WiderOf;
template <>
struct WiderOf<float> {
  using type = double;
};
template <>
struct WiderOf<double> {
  using type = Quad;
};
template <class T>
using Wider = typename WiderOf<T>::type;

template <class W>
constexpr int sign_of(W value) {
  return value > 0 ? 1 : value < 0 ? -1 : 0;  // 0 for a NaN: there is nothing to round
}

/// `missing`: the sign of the exact value minus `nearest`.
template <class T>
T directed(T nearest, int missing, Rounding mode) {
  if (missing == 0 || nearest != nearest) return nearest;
  constexpr T kUp = std::numeric_limits<T>::infinity();
  switch (mode) {
    case Rounding::rm: return missing < 0 ? std::nextafter(nearest, -kUp) : nearest;
    case Rounding::rp: return missing > 0 ? std::nextafter(nearest, kUp) : nearest;
    case Rounding::rz:
      if ((nearest > 0 && missing < 0) || (nearest < 0 && missing > 0)) return std::nextafter(nearest, T{0});
      return nearest;
    default: return nearest;
  }
}

template <class T>
bool is_finite(T value) {
  return value - value == T{0};
}

/// The exact x + y against `nearest`. Both are exact in W.
template <class T, class W>
int missing_of_sum(W x, W y, T nearest) {
  const W sum = x + y, part = sum - x, rest = (x - (sum - part)) + (y - part);
  const W wide = static_cast<W>(nearest);
  return sum != wide ? sign_of(sum - wide) : sign_of(rest);
}

template <class T>
T add_rounded(T a, T b, Rounding mode) {
  const T nearest = a + b;
  if (!is_finite(a) || !is_finite(b)) return nearest;
  // A sum of opposites is +0, and -0 when rounding down.
  if (nearest == T{0} && a == -b) return mode == Rounding::rm && (has_sign(a) != has_sign(b)) ? -T{0} : nearest;
  return directed(nearest, missing_of_sum<T, Wider<T>>(a, b, nearest), mode);
}

template <class T>
T mul_rounded(T a, T b, Rounding mode) {
  const T nearest = a * b;
  if (!is_finite(a) || !is_finite(b)) return nearest;
  return directed(nearest, sign_of(static_cast<Wider<T>>(a) * b - static_cast<Wider<T>>(nearest)), mode);
}

template <class T>
T fma_rounded(T a, T b, T c, Rounding mode) {
  using W = Wider<T>;
  const T nearest = std::fma(a, b, c);
  if (!is_finite(a) || !is_finite(b) || !is_finite(c)) return nearest;
  const W product = static_cast<W>(a) * b;
  if (nearest == T{0} && product == -static_cast<W>(c)) {
    const bool are_opposites = (has_sign(a) != has_sign(b)) != has_sign(c);
    return mode == Rounding::rm && are_opposites ? -T{0} : nearest;
  }
  return directed(nearest, missing_of_sum<T, W>(product, c, nearest), mode);
}

template <class T>
T div_rounded(T a, T b, Rounding mode) {
  using W = Wider<T>;
  const T nearest = a / b;
  if (!is_finite(a) || !is_finite(b) || b == T{0}) return nearest;
  const int missing = sign_of(static_cast<W>(a) - static_cast<W>(nearest) * b);
  return directed(nearest, has_sign(b) ? -missing : missing, mode);
}

template <class T>
T sqrt_rounded(T a, Rounding mode) {
  using W = Wider<T>;
  const T nearest = std::sqrt(a);
  if (!is_finite(a) || a <= T{0}) return nearest;
  return directed(nearest, sign_of(static_cast<W>(a) - static_cast<W>(nearest) * nearest), mode);
}

inline float narrow_rounded(double value, Rounding mode) {
  const auto nearest = static_cast<float>(value);
  if (!is_finite(value)) return nearest;
  return directed(nearest, sign_of(value - static_cast<double>(nearest)), mode);
}

/// To an integral value.
template <class T>
T integral(T value, Rounding mode) {
  switch (mode) {
    case Rounding::rzi:
    case Rounding::rz: return std::trunc(value);
    case Rounding::rmi:
    case Rounding::rm: return std::floor(value);
    case Rounding::rpi:
    case Rounding::rp: return std::ceil(value);
    default: return std::nearbyint(value);  // the mode of the process is to nearest even
  }
}

}  // namespace flexrack::sim::exec
