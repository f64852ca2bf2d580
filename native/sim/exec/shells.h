// Handlers from operations: the loops of shells.inc for any machine of this architecture, and on x86 for those with
// AVX2, FMA and F16C, chosen when a program is made ready.
#pragma once

#include "sim/exec/numbers.h"
#include "sim/exec/warp.h"

// Loops over lanes: registers overlap wholly or not at all, so no lane's result is another lane's source.
#ifdef __clang__
#define FLEXRACK_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define FLEXRACK_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define FLEXRACK_LANES FLEXRACK_INDEPENDENT for (unsigned i = 0; i < kLanes; ++i)

namespace flexrack::sim::exec {

/// setp and set: combines and writes one or two predicates; `others` is what the second is made of.
void finish_compare(Warp& warp, const Step* step, std::uint32_t holds, std::uint32_t others);

#if defined(__clang__) || !defined(__GNUC__)
#define FLEXRACK_FAST
#else
// Products and sums are rounded one by one on every machine: no contraction.
#define FLEXRACK_FAST optimize("O3", "no-trapping-math", "no-math-errno", "fp-contract=off")
#endif

namespace any_machine {
#define FLEXRACK_TARGET __attribute__((FLEXRACK_FAST))
#include "sim/exec/shells.inc"
#undef FLEXRACK_TARGET
}  // namespace any_machine

#if defined(__x86_64__)
namespace with_avx2 {
#define FLEXRACK_TARGET __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"), FLEXRACK_FAST))
#include "sim/exec/shells.inc"
#undef FLEXRACK_TARGET
}  // namespace with_avx2
#define FLEXRACK_SHELL(NAME, ...)                                  \
  (has_avx2() ? static_cast<Handler>(with_avx2::NAME<__VA_ARGS__>) \
              : static_cast<Handler>(any_machine::NAME<__VA_ARGS__>))
#else
#define FLEXRACK_SHELL(NAME, ...) (static_cast<Handler>(any_machine::NAME<__VA_ARGS__>))
#endif

bool has_avx2();
/// For tests: what is made ready from now on takes the loops for any machine.
void use_plain_loops(bool plain);

/// The sources and result of an operation, and how it is called.
template <class D, class First, class Second = First, class Third = First, class Fourth = First>
struct Shape {
  using Result = D;
  using A = First;
  using B = Second;
  using C = Third;
  using E = Fourth;
};

template <class F>
Handler handler() {
  return FLEXRACK_SHELL(lanes, F);
}
template <class F>
Handler compare_handler(bool is_plain) {
  return is_plain ? FLEXRACK_SHELL(compares, F) : FLEXRACK_SHELL(compares_and_combines, F);
}
template <class T>
Handler select_handler() {
  return FLEXRACK_SHELL(selects, T);
}
template <class T>
Handler fill_handler() {
  return FLEXRACK_SHELL(fills, T);
}

// What an operation says of itself, beside Shape and operator():
#define FLEXRACK_OPERATION(NAME, SOURCES, IS_VECTOR) \
  static constexpr unsigned kSources = SOURCES;      \
  static constexpr bool kIsVector = IS_VECTOR;       \
  FLEXRACK_INLINE explicit NAME([[maybe_unused]] const Step& step) {}

}  // namespace flexrack::sim::exec
