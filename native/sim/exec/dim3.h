// Sizes and places of grids, blocks and threads.
#pragma once

#include <cstdint>

namespace flexrack::sim::exec {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  /// The place with that number, x first; of a size.
  constexpr Dim3 at(std::uint64_t number) const {
    return {static_cast<std::uint32_t>(number % x), static_cast<std::uint32_t>(number / x % y),
            static_cast<std::uint32_t>(number / x / y)};
  }
  /// The number of a place in this size.
  constexpr std::uint64_t number(const Dim3& place) const {
    return place.x + std::uint64_t{x} * (place.y + std::uint64_t{y} * place.z);
  }
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

}  // namespace flexrack::sim::exec
