// Where memory differs from its twin: what the two sides of mirrored memory tell each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace flexrack::cuda {

/// Memory is compared in blocks of this size, each read once: others may write to it meanwhile.
inline constexpr std::size_t kCompared = 4096;

namespace difference {

/// Calls `use(from, to)` for each stretch of units that differ. False: there are more than `most`, and it was not
/// called for all.
template <std::size_t kUnit, class Use>
bool stretches(const std::uint8_t* a, const std::uint8_t* b, std::size_t size, std::size_t most, Use&& use) {
  const auto is_same = [&](std::size_t at) { return std::memcmp(a + at, b + at, std::min(kUnit, size - at)) == 0; };
  std::size_t count = 0, at = 0;
  while (at < size) {
    while (at + 8 <= size && std::memcmp(a + at, b + at, 8) == 0) at += 8;
    while (at < size && is_same(at)) at += kUnit;
    if (at >= size) break;
    const auto from = at;
    while (at < size && !is_same(at)) at += kUnit;
    if (++count > most) return false;
    use(from, std::min(at, size));
    // Back to where eight at a time are looked at from.
    while (at < size && at % 8 != 0 && is_same(at)) at += kUnit;
  }
  return true;
}

}  // namespace difference

/// What has changed in `now` since it was like `twin`: calls `take(offset, bytes)` for each stretch, and makes the twin
/// like it. The other side may have changed what lies between in the meantime, so nothing else is told: stretches are
/// exact to the byte, and in a block that has very many to the word of four.
template <class Take>
void take_changes(const std::uint8_t* now, std::uint8_t* twin, std::size_t size, Take&& take) {
  constexpr std::size_t kMostExact = 64;
  alignas(8) std::array<std::uint8_t, kCompared> seen;
  for (std::size_t at = 0; at < size; at += kCompared) {
    const auto part = std::min(kCompared, size - at);
    if (std::memcmp(now + at, twin + at, part) == 0) continue;
    std::memcpy(seen.data(), now + at, part);
    const auto tell = [&](std::size_t from, std::size_t to) {
      take(at + from, std::span<const std::uint8_t>(seen.data() + from, to - from));
    };
    if (difference::stretches<1>(seen.data(), twin + at, part, kMostExact, [](std::size_t, std::size_t) {}))
      difference::stretches<1>(seen.data(), twin + at, part, SIZE_MAX, tell);
    else difference::stretches<4>(seen.data(), twin + at, part, SIZE_MAX, tell);
    std::memcpy(twin + at, seen.data(), part);
  }
}

}  // namespace flexrack::cuda
