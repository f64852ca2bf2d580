// What a holder and the broker say to each other once the key is proved: single bytes, both ways.
#pragma once

#include <chrono>
#include <cstdint>

namespace flexrack::wire {

inline constexpr std::uint8_t kHoldPing = 'p';      ///< holder: each second; broker: the echo
inline constexpr std::uint8_t kHoldGoodbye = 'g';   ///< holder: the lease is not needed any more
inline constexpr std::uint8_t kHoldEnded = 'e';     ///< broker: the lease is over
inline constexpr auto kHoldPingEvery = std::chrono::seconds(1);
inline constexpr auto kHoldSilence = std::chrono::seconds(3);  ///< after that the other side counts as lost
inline constexpr auto kHoldHandshake = std::chrono::seconds(5);

}  // namespace flexrack::wire
