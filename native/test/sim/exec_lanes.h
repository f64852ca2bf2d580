// One instruction over arrays of operands, as PTX text: in both kinds of loops, with all lanes and with some.
#pragma once

#include <bit>
#include <limits>
#include <random>
#include <type_traits>

#include "exec_rig.h"
#include "sim/exec/shells.h"

namespace flexrack::test {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
std::string bits_name() {
  return "b" + std::to_string(8 * sizeof(T));
}

/// `text` has %d, %a, %b, %c; the registers are untyped and of the operands' sizes. With `guard` it is one instruction,
/// and lanes whose number is divisible by 3 skip it.
template <class D, class A, class B, class C>
std::string lanes_kernel(const std::string& text, bool guard) {
  const auto load = [](const std::string& type, unsigned bytes, const std::string& name, const std::string& from) {
    return "ld.param.u64 %p, [" + from + "]; mad.wide.u32 %p, %i, " + std::to_string(bytes) + ", %p; ld.global." +
           type + " %" + name + ", [%p];\n";
  };
  std::string made =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 n) {\n";
  made += ".reg .b64 %p, %t64; .reg .b32 %i, %n, %x, %y, %t32; .reg .b16 %t16; .reg .pred %q, %r, %s, %u;\n";
  made += ".reg ." + bits_name<D>() + " %d; .reg ." + bits_name<A>() + " %a; .reg ." + bits_name<B>() + " %b; .reg ." +
          bits_name<C>() + " %c;\n";
  made +=
      "mov.u32 %i, %tid.x; mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x; mad.lo.u32 %i, %x, %y, %i; ld.param.u32 %n, [n]; setp.ge.u32 %q, %i, %n; @%q exit;\n";
  made += load(bits_name<A>(), sizeof(A), "a", "pa") + load(bits_name<B>(), sizeof(B), "b", "pb") +
          load(bits_name<C>(), sizeof(C), "c", "pc") + load(bits_name<D>(), sizeof(D), "d", "pd");
  if (guard) made += "rem.u32 %x, %i, 3; setp.ne.u32 %q, %x, 0;\n@%q ";
  return made + text + "\nld.param.u64 %p, [pd]; mad.wide.u32 %p, %i, " + std::to_string(sizeof(D)) +
         ", %p; st.global." + bits_name<D>() + " [%p], %d;\nret;\n}\n";
}

template <class D>
bool same_bits(const D& a, const D& b) {
  return std::memcmp(&a, &b, sizeof(D)) == 0;
}

/// The results, the same in all ways to run it.
template <class D, class A, class B = u32, class C = u32>
std::vector<D> lanes(const std::string& text, const std::vector<A>& a, const std::vector<B>& b = {},
                     const std::vector<C>& c = {}, bool may_guard = true) {
  const std::size_t n = a.size();
  std::vector<D> kept;
  for (const bool plain : {false, true}) {
    exec::use_plain_loops(plain);
    for (const bool guard : {false, true}) {
      if (guard && !may_guard) continue;
      Rig rig(lanes_kernel<D, A, B, C>(text, guard));
      const auto padded = [n](auto values) {
        values.resize(n);
        return values;
      };
      D untouched{};
      std::memset(&untouched, 0x5a, sizeof untouched);
      Buffer<D> d(rig.map, n, untouched);
      Buffer<A> da(rig.map, a);
      Buffer<B> db(rig.map, padded(b));
      Buffer<C> dc(rig.map, padded(c));
      rig.go("k", {static_cast<u32>((n + 95) / 96), 1, 1}, {96, 1, 1}, d.address(), da.address(), db.address(),
             dc.address(), static_cast<u32>(n));
      if (kept.empty()) kept = d.all();
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < n; ++i) wrong += !same_bits(d[i], guard && i % 3 == 0 ? untouched : kept[i]);
      CAPTURE(text);
      CAPTURE(plain);
      CAPTURE(guard);
      CHECK(wrong == 0);
    }
  }
  exec::use_plain_loops(false);
  return kept;
}

/// Values worth trying: edges, and many by chance.
template <class T>
std::vector<T> integers(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> made;
  const T edges[] = {
      T{0}, T{1}, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{2}, T{31}, T{32}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = random();
    made.push_back(value % 4 == 0 ? edges[(value >> 8) % 8]
                                  : static_cast<T>(static_cast<T>(value >> 3) >> ((value >> 40) % (8 * sizeof(T)))));
  }
  return made;
}

/// Floats of all sizes: zeros, subnormals, infinities, NaN, and neighbours whose sums and products round.
template <class T>
std::vector<T> reals(std::size_t count, unsigned seed) {
  using Bits = std::conditional_t<sizeof(T) == 4, u32, u64>;
  constexpr unsigned kFraction = sizeof(T) == 4 ? 23 : 52;
  constexpr Bits kBias = sizeof(T) == 4 ? 127 : 1023;
  std::mt19937_64 random(seed);
  std::vector<T> made;
  const T edges[] = {T{0},
                     -T{0},
                     T{1},
                     T{-1},
                     std::numeric_limits<T>::infinity(),
                     -std::numeric_limits<T>::infinity(),
                     std::numeric_limits<T>::quiet_NaN(),
                     std::numeric_limits<T>::max(),
                     std::numeric_limits<T>::lowest(),
                     std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::denorm_min(),
                     -std::numeric_limits<T>::denorm_min(),
                     T{1.5},
                     T{0.5}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = random();
    const auto kind = value % 8;
    if (kind == 0) {
      made.push_back(edges[(value >> 8) % std::size(edges)]);
    } else if (kind == 1) {
      made.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    } else {
      // Of similar size, so that exponents meet.
      const Bits exponent = kBias - 12 + (value >> 8) % 24,
                 fraction = static_cast<Bits>(random()) & ((Bits{1} << kFraction) - 1);
      made.push_back(std::bit_cast<T>(static_cast<Bits>((value >> 50 & 1) << (8 * sizeof(T) - 1)) |
                                      exponent << kFraction |
                                      (value >> 51 & 1 ? fraction : fraction >> kFraction / 2 << kFraction / 2)));
    }
  }
  return made;
}

}  // namespace flexrack::test
