#include "sim/exec/convert.h"

#include <algorithm>

#include "sim/exec/narrow.h"

namespace flexrack::sim::exec {
namespace {

using ptx::Type;

std::uint64_t cut(std::uint64_t raw, unsigned width) {
  return width >= 64 ? raw : raw & ((std::uint64_t{1} << width) - 1);
}

std::uint64_t extend(std::uint64_t raw, unsigned width) {
  const unsigned shift = 64 - width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(raw << shift) >> shift);
}

/// A magnitude as a float of T, rounded once.
template <class T>
T integer_to(const Exact& exact, Rounding mode) {
  // 64 bits are exact in two halves.
  const auto high = static_cast<double>(exact.magnitude >> 32 << 32),
             low = static_cast<double>(exact.magnitude & 0xffffffffU);
  const T nearest = exact.is_negative ? -static_cast<T>(exact.magnitude) : static_cast<T>(exact.magnitude);
  const double sign = exact.is_negative ? -1 : 1;
  return directed(nearest, missing_of_sum<T, Quad>(sign * high, sign * low, nearest), mode);
}

}  // namespace

const Format* format_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2: return &kF16;
    case Type::bf16:
    case Type::bf16x2: return &kBf16;
    case Type::tf32: return &kTf32;
    case Type::e4m3:
    case Type::e4m3x2: return &kE4m3;
    case Type::e5m2:
    case Type::e5m2x2: return &kE5m2;
    case Type::e2m3x2: return &kE2m3;
    case Type::e3m2x2: return &kE3m2;
    case Type::e2m1x2: return &kE2m1;
    default: return nullptr;
  }
}

unsigned bits_of(Type type) {
  switch (type) {
    case Type::e2m1x2: return 4;
    case Type::e4m3x2:
    case Type::e5m2x2:
    case Type::e2m3x2:
    case Type::e3m2x2:
    case Type::ue8m0x2: return 8;
    case Type::f16x2:
    case Type::bf16x2: return 16;
    default: return 8 * ptx::bytes_of(type);
  }
}

Exact Conversion::read(std::uint64_t raw, Type type) const {
  const unsigned width = bits_of(type);
  raw = cut(raw, width);
  Exact exact;
  exact.is_float = true;
  if (type == Type::f64) {
    exact.value = bits<double>(raw);
  } else if (type == Type::f32 || type == Type::tf32) {
    const float value = bits<float>(static_cast<std::uint32_t>(raw));
    exact.value = flags & ptx::kFtz ? flush(value) : value;
  } else if (type == Type::ue8m0x2) {
    exact.value = raw == 0xff ? std::nan("") : std::ldexp(1.0, static_cast<int>(raw) - 127);
  } else if (const auto* format = format_of(type)) {
    exact.value = decode(static_cast<std::uint32_t>(raw), *format);
  } else {
    exact.is_float = false;
    if (ptx::is_signed(type)) raw = extend(raw, width);
    exact.is_negative = ptx::is_signed(type) && static_cast<std::int64_t>(raw) < 0;
    exact.magnitude = exact.is_negative ? 0 - raw : raw;
  }
  return exact;
}

double Conversion::to_integral(double value) const {
  switch (rounding) {
    case Rounding::rni:
    case Rounding::rzi:
    case Rounding::rmi:
    case Rounding::rpi: return integral(value, rounding);
    default: return value;
  }
}

/// Too big values become the greatest, NaN 0. Integers from integers wrap, but with .sat.
std::uint64_t Conversion::write_integer(const Exact& exact) const {
  const unsigned width = bits_of(to);
  const bool is_signed = ptx::is_signed(to);
  const std::uint64_t greatest = is_signed ? cut(~std::uint64_t{0}, width) >> 1 : cut(~std::uint64_t{0}, width);
  const std::uint64_t least = is_signed ? greatest + 1 : 0;  // the magnitude of the lowest
  bool is_negative = exact.is_negative;
  std::uint64_t magnitude = exact.magnitude;
  bool clamps = flags & ptx::kSaturate;
  if (exact.is_float) {
    if (exact.value != exact.value) return 0;
    const double whole = integral(exact.value, rounding);
    is_negative = whole < 0;
    const double size = std::fabs(whole);
    magnitude = size >= 18446744073709551616.0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(size);
    clamps = true;
  }
  if (clamps) magnitude = std::min(magnitude, is_negative ? least : greatest);
  const std::uint64_t raw = cut(is_negative ? 0 - magnitude : magnitude, width);
  return is_signed ? extend(raw, width) : raw;
}

std::uint64_t Conversion::write(const Exact& exact) const {
  const bool sat = flags & ptx::kSaturate, relu = flags & ptx::kRelu;
  if (to == Type::f64) {
    double value = exact.is_float ? to_integral(exact.value) : integer_to<double>(exact, rounding);
    if (sat) value = saturate(value);
    return bits<std::uint64_t>(value);
  }
  if (to == Type::f32) {
    float value =
        exact.is_float ? narrow_rounded(to_integral(exact.value), rounding) : integer_to<float>(exact, rounding);
    if (flags & ptx::kFtz) value = flush(value);
    if (relu && value < 0) value = 0;
    return bits<std::uint32_t>(sat ? saturate(value) : nan_to_one(value));
  }
  if (const auto* format = format_of(to)) {
    double value = exact.is_float ? to_integral(exact.value) : to_double_odd(exact.magnitude, exact.is_negative);
    if (sat) value = saturate(value);
    if (relu && std::signbit(value) && value == value) value = 0;
    std::uint32_t raw = encode(value, *format, rounding, flags & ptx::kSatFinite);
    if (to == Type::tf32) return value != value ? kNan32 : raw << 13;
    if (flags & ptx::kFtz && to == Type::f16 && (raw & 0x7c00) == 0) raw &= 0x8000;
    return raw;
  }
  if (to == Type::ue8m0x2) {
    // A power of two without sign: rounded toward zero or up, from 2^-127.
    if (exact.value != exact.value) return 0xff;
    if (!(exact.value > 0)) return 0;
    if (std::isinf(exact.value)) return flags & ptx::kSatFinite ? 0xfe : 0xff;
    int exponent = std::ilogb(exact.value);
    if (rounding == Rounding::rp && std::ldexp(1.0, exponent) < exact.value) ++exponent;
    return static_cast<std::uint64_t>(std::clamp(exponent + 127, 0, 254));
  }
  return write_integer(exact);
}

}  // namespace flexrack::sim::exec
