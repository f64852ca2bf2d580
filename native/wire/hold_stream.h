// What a holder and the broker say to each other once the key is proved: single bytes, both ways, and one answer of more.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "wire/api.h"

namespace flexrack::wire {

inline constexpr std::uint8_t kHoldPing = 'p';      ///< holder: each second; broker: the echo
inline constexpr std::uint8_t kHoldGoodbye = 'g';   ///< holder: the lease is not needed any more
inline constexpr std::uint8_t kHoldEnded = 'e';     ///< broker: the lease is over
inline constexpr std::uint8_t kHoldAsk = 'v';       ///< holder, before all else: what do you speak? broker: the same byte and HoldSpoken; an older one echoes 'p'
inline constexpr auto kHoldPingEvery = std::chrono::seconds(1);
inline constexpr auto kHoldSilence = std::chrono::seconds(3);  ///< after that the other side counts as lost
inline constexpr auto kHoldHandshake = std::chrono::seconds(5);

/// The API of the lease's devices.
struct HoldSpoken {
  std::array<char, 8> name{};
  std::uint64_t revision = 0;

  HoldSpoken() = default;
  explicit HoldSpoken(const Api& api) : revision(api.revision) { api.name.copy(name.data(), name.size()); }
  std::string_view text() const { return {name.data(), strnlen(name.data(), name.size())}; }
};
static_assert(sizeof(HoldSpoken) == 16);

}  // namespace flexrack::wire
