// What two servers have sent, compared by a hash whose key neither has (docs/adr/0094).
#pragma once

#include <array>
#include <cstdint>

#include "wire/frame.h"

namespace flexrack::client::cuda {

/// A universal hash: whoever does not know the key finds two texts of one length that have the same hash no more often
/// than by chance, 1 in 2^62 for each pair that is tried. NH of 1 KiB at a time (Black, Halevi, Krawczyk, Krovetz,
/// Rogaway: UMAC, 1999) with words of 64 bits, and a polynomial over the field of 2^127 - 1 elements behind it (as in
/// VMAC: Krovetz, Dai, 2007). The key must be used for one session only, and never be shown.
class KeyedHash {
 public:
  static constexpr std::size_t kBlock = 1024;  ///< bytes
  using Value = std::array<std::uint64_t, 2>;
  using Key = std::array<std::uint64_t, kBlock / 8 + 2>;

  /// A key of the kernel's random bytes. Throws std::system_error where it has none.
  KeyedHash();
  explicit KeyedHash(const Key& key);

  Value of(wire::View bytes) const;

 private:
  Key key_;
};

}  // namespace flexrack::client::cuda
