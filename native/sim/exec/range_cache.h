// Which allocations a warp's instructions have met last: one for each of 64 groups of steps, so that an access is
// checked by one subtraction and one comparison.
#pragma once

#include <array>
#include <cstdint>

namespace flexrack::sim::exec {

struct Step;

struct RangeCache {
  struct Entry {
    std::uint64_t begin = 0;
    std::uint64_t read_span = 0, write_span = 0;  ///< bytes that may be read, written; 0: none
    std::uint64_t last = 0;  ///< where the first lane's last volatile load went: one at another place waits for nothing
    std::uint64_t met = 0;  ///< the least address that translated code went to last: where it goes next can be guessed
  };
  std::array<Entry, 64> entries;
  std::uint64_t scattered = 0;  ///< accesses of translated code by a warp whose lanes are far from each other

  Entry& of(const Step* step) { return entries[(reinterpret_cast<std::uintptr_t>(step) >> 6) % 64]; }
  void clear() { entries.fill({}); }
};

}  // namespace flexrack::sim::exec
