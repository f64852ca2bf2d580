// Arithmetic of f16, bf16 and pairs (PTX ISA 9.0, 9.7.4): results are exact ones, rounded once by a table of all
// halves.
#include <functional>

#include "exec_lanes.h"
#include "exec_narrow.h"

namespace {

using namespace flexrack::test;
using Mode = NarrowFormat::Mode;
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Wide;
#else
typedef long double Wide;
#endif

constexpr std::size_t kHalfCount = 4000;

std::vector<u16> halves(unsigned seed, bool is_brain) {
  std::mt19937 random(seed);
  std::vector<u16> made;
  for (std::size_t i = 0; i < kHalfCount; ++i) {
    const u32 value = random();
    // Half of them near 1, so that sums of products meet ties.
    const u32 near = is_brain ? 0x3f00 + (value >> 8) % 0x180 : 0x3800 + (value >> 8) % 0x1000;
    made.push_back(static_cast<u16>(value % 2 ? value >> 16 : near | (value >> 31) << 15));
  }
  return made;
}

/// Exact to 113 bits, as a double with its last bit set where bits are lost: enough to round to 11.
double odd_double(Wide value) {
  const auto near = static_cast<double>(value);
  if (static_cast<Wide>(near) == value || near != near) return near;
  const double below = static_cast<Wide>(near) < value ? near : std::nextafter(near, -HUGE_VAL),
               above = static_cast<Wide>(near) < value ? std::nextafter(near, HUGE_VAL) : near;
  return std::bit_cast<u64>(below) & 1 ? below : above;
}

struct Kind {
  const char* name;
  const NarrowFormat& format;
  u16 infinity;
  bool is_brain;
};

u16 rounded(const Kind& kind, Wide value) {
  if (value != value) return 0x7fff;
  const double number = odd_double(value);
  return static_cast<u16>(kind.format.round(number, Mode::nearest, kind.infinity));
}

using Formula = std::function<Wide(Wide, Wide, Wide)>;

/// Zero results of a sum have the sign that IEEE 754 gives, which an exact zero does not tell: signs of zeros are
/// compared by the host's own arithmetic in the float test.
void check(const Kind& kind, const std::string& op, const Formula& formula) {
  const auto a = halves(1, kind.is_brain), b = halves(2, kind.is_brain), c = halves(3, kind.is_brain);
  const auto single =
      lanes<u16, u16, u16, u16>(op + "." + kind.name + (op == "fma.rn" ? " %d, %a, %b, %c;" : " %d, %a, %b;"), a, b, c);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kHalfCount; ++i) {
    const auto expected =
        rounded(kind, formula(kind.format.value(a[i]), kind.format.value(b[i]), kind.format.value(c[i])));
    const bool are_zeros = (expected & 0x7fff) == 0 && (single[i] & 0x7fff) == 0;
    if (single[i] == expected || are_zeros) continue;
    if (wrong++ == 0)
      MESSAGE(op, ".", kind.name, ": ", a[i], " ", b[i], " ", c[i], " gave ", single[i], ", not ", expected);
  }
  CHECK(wrong == 0);
  // Pairs are two of the same.
  std::vector<u32> pa, pb, pc;
  for (std::size_t i = 0; i + 1 < kHalfCount; i += 2) {
    const auto pair = [i](const std::vector<u16>& of) { return of[i] | static_cast<u32>(of[i + 1]) << 16; };
    pa.push_back(pair(a)), pb.push_back(pair(b)), pc.push_back(pair(c));
  }
  const auto both = lanes<u32, u32, u32, u32>(
      op + "." + kind.name + "x2" + (op == "fma.rn" ? " %d, %a, %b, %c;" : " %d, %a, %b;"), pa, pb, pc);
  wrong = 0;
  for (std::size_t i = 0; i < both.size(); ++i)
    wrong += both[i] != (single[2 * i] | static_cast<u32>(single[2 * i + 1]) << 16);
  CHECK(wrong == 0);
}

TEST_CASE("sums, products and fused ones are rounded once") {
  for (const Kind& kind : {Kind{"f16", half_format(), 0x7c00, false}, Kind{"bf16", bfloat_format(), 0x7f80, true}}) {
    CAPTURE(kind.name);
    check(kind, kind.is_brain ? "add.rn" : "add", [](Wide a, Wide b, Wide) { return a + b; });
    check(kind, kind.is_brain ? "sub.rn" : "sub", [](Wide a, Wide b, Wide) { return a - b; });
    check(kind, kind.is_brain ? "mul.rn" : "mul", [](Wide a, Wide b, Wide) { return a * b; });
  }
}

TEST_CASE("fused products: ties that only a far smaller addend breaks") {
  check({"f16", half_format(), 0x7c00, false}, "fma.rn", [](Wide a, Wide b, Wide c) { return a * b + c; });
  // bf16's exponents are too far apart for 113 bits: such cases by hand. 1.0078125 (0x3f81) squared ends in a tie or
  // near one.
  const std::vector<u16> a = {0x3f81, 0x3fc0, 0x3fc0, 0x3f80}, b = {0x3f81, 0x3f81, 0x3f81, 0x3f80},
                         c = {0x0000, 0x0080, 0x8080, 0x3b80};
  // 1.5 * 1.0078125 = 1.51171875: exactly between 0x3fc1 and 0x3fc2; 2^-126 more or less decides. 1 + 2^-8: a tie, to
  // even.
  const auto got = lanes<u16, u16, u16, u16>("fma.rn.bf16 %d, %a, %b, %c;", a, b, c);
  CHECK(got[0] == 0x3f82);
  CHECK(got[1] == 0x3fc2);
  CHECK(got[2] == 0x3fc1);
  CHECK(got[3] == 0x3f80);
}

TEST_CASE("modifiers of halves") {
  const auto a = halves(4, false), b = halves(5, false), c = halves(6, false);
  const auto& format = half_format();
  const auto flushed = [](u16 raw) { return static_cast<u16>((raw & 0x7c00) == 0 ? raw & 0x8000 : raw); };
  const auto sums = lanes<u16, u16, u16>("add.ftz.f16 %d, %a, %b;", a, b),
             clamped = lanes<u16, u16, u16>("mul.sat.f16 %d, %a, %b;", a, b);
  const auto relu = lanes<u16, u16, u16, u16>("fma.rn.relu.f16 %d, %a, %b, %c;", a, b, c),
             plain = lanes<u16, u16, u16, u16>("fma.rn.f16 %d, %a, %b, %c;", a, b, c);
  const Kind kind{"f16", format, 0x7c00, false};
  for (std::size_t i = 0; i < kHalfCount; ++i) {
    const auto sum = flushed(rounded(kind, Wide{format.value(flushed(a[i]))} + format.value(flushed(b[i]))));
    CHECK(((sums[i] ^ sum) & ((sum & 0x7fff) == 0 ? 0x7fff : 0xffff)) == 0);
    const double product = format.value(a[i]) * format.value(b[i]);
    CHECK(clamped[i] == (product > 0 ? product > 1 ? 0x3c00 : rounded(kind, product) : 0));
    CHECK(relu[i] == ((plain[i] & 0x7fff) > 0x7c00 ? 0x7fff : plain[i] & 0x8000 ? 0 : plain[i]));
  }
}

TEST_CASE("least, greatest, signs and comparisons of halves") {
  for (const Kind& kind : {Kind{"f16", half_format(), 0x7c00, false}, Kind{"bf16", bfloat_format(), 0x7f80, true}}) {
    const auto a = halves(7, kind.is_brain), b = halves(8, kind.is_brain);
    const std::string type = kind.name;
    const auto least = lanes<u16, u16, u16>("min." + type + " %d, %a, %b;", a, b),
               greatest = lanes<u16, u16, u16>("max.NaN." + type + " %d, %a, %b;", a, b);
    const auto negative = lanes<u16, u16>("neg." + type + " %d, %a;", a),
               positive = lanes<u16, u16>("abs." + type + " %d, %a;", a);
    const auto below = lanes<u32, u16, u16>("setp.lt." + type + " %r, %a, %b; selp.u32 %d, 1, 0, %r;", a, b,
                                            std::vector<u32>{}, false);
    const auto differs = lanes<u32, u16, u16>("set.neu.u32." + type + " %d, %a, %b;", a, b);
    for (std::size_t i = 0; i < kHalfCount; ++i) {
      const double x = kind.format.value(a[i]), y = kind.format.value(b[i]);
      const u16 smaller = x == y  ? (a[i] & 0x8000 ? a[i] : b[i])
                          : x < y ? a[i]
                                  : b[i],
                bigger = x == y  ? (a[i] & 0x8000 ? b[i] : a[i])
                         : x > y ? a[i]
                                 : b[i];
      CHECK(least[i] == (std::isnan(x) && std::isnan(y) ? 0x7fff
                         : std::isnan(x)                ? b[i]
                         : std::isnan(y)                ? a[i]
                                                        : smaller));
      CHECK(greatest[i] == (std::isnan(x) || std::isnan(y) ? 0x7fff : bigger));
      CHECK(negative[i] == (a[i] ^ 0x8000));
      CHECK(positive[i] == (a[i] & 0x7fff));
      CHECK(below[i] == (x < y));
      CHECK(differs[i] == (x == y ? 0 : 0xffffffff));
    }
  }
}

TEST_CASE("pairs give a predicate for each half") {
  const auto a = halves(9, false), b = halves(10, false);
  std::vector<u32> pa, pb;
  for (std::size_t i = 0; i + 1 < kHalfCount; i += 2)
    pa.push_back(a[i] | static_cast<u32>(a[i + 1]) << 16), pb.push_back(b[i] | static_cast<u32>(b[i + 1]) << 16);
  const auto got = lanes<u32, u32, u32>(
      "setp.ge.f16x2 %r|%s, %a, %b; selp.u32 %d, 1, 0, %r; selp.u32 %t32, 2, 0, %s; or.b32 %d, %d, %t32;", pa, pb,
      std::vector<u32>{}, false);
  const auto ones = lanes<u32, u32, u32>("set.gt.f16x2.f16x2 %d, %a, %b;", pa, pb);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto value = [](u16 raw) { return half_format().value(raw); };
    CHECK(got[i] ==
          ((value(a[2 * i]) >= value(b[2 * i]) ? 1U : 0U) | (value(a[2 * i + 1]) >= value(b[2 * i + 1]) ? 2U : 0U)));
    CHECK(ones[i] == ((value(a[2 * i]) > value(b[2 * i]) ? 0x3c00U : 0U) |
                      (value(a[2 * i + 1]) > value(b[2 * i + 1]) ? 0x3c000000U : 0U)));
  }
}

TEST_CASE("approximations in half precision") {
  const auto a = halves(11, false);
  const auto powers = lanes<u16, u16>("ex2.approx.f16 %d, %a;", a),
             tangents = lanes<u16, u16>("tanh.approx.f16 %d, %a;", a);
  for (std::size_t i = 0; i < kHalfCount; ++i) {
    const double x = half_format().value(a[i]);
    if (std::isnan(x)) continue;
    const double power = half_format().value(powers[i]), tangent = half_format().value(tangents[i]);
    CHECK((std::isinf(power) ? std::exp2(x) > 65500
                             : std::fabs(power - std::exp2(x)) <= std::max(std::exp2(x) / 1024, 6e-8)));
    CHECK(std::fabs(tangent - std::tanh(x)) <= std::max(std::fabs(std::tanh(x)) / 1024, 6e-8));
  }
}

}  // namespace
