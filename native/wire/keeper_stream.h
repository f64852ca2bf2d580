// What a holder and the broker say to each other once the key is proved: single bytes, both ways, and one answer of
// more.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>

#include "wire/api.h"

namespace flexrack::wire {

inline constexpr std::uint8_t kKeeperPing = 'p';      ///< holder: each second; broker: the echo
inline constexpr std::uint8_t kKeeperGoodbye = 'g';   ///< holder: the lease is not needed any more
inline constexpr std::uint8_t kKeeperEnded = 'e';     ///< broker: the lease is over
inline constexpr std::uint8_t kKeeperAsk =
    'v';  ///< holder, before all else: what do you speak? broker: the same byte and KeeperApi; an older one echoes 'p'
inline constexpr std::uint8_t kKeeperMove = 'm';  ///< broker, then a u32 length and a lease file of one server: hold
                                                  ///< that lease too; holder: the same byte, it is
inline constexpr std::uint8_t kKeeperCannot = 'n';  ///< holder: it cannot be held from here
inline constexpr std::uint8_t kKeeperStay = 's';  ///< broker: the move is off, give that other lease back
inline constexpr std::uint32_t kLongestKeeperMove = 64 * 1024;
inline constexpr auto kKeeperPingEvery = std::chrono::seconds(1);
inline constexpr auto kKeeperSilence = std::chrono::seconds(3);  ///< after that the other side counts as lost
inline constexpr auto kKeeperHandshake = std::chrono::seconds(5);

inline bool is_said(std::span<const std::uint8_t> said, std::uint8_t what) {
  return std::find(said.begin(), said.end(), what) != said.end();
}

/// The API of the lease's devices.
struct KeeperApi {
  std::array<char, 8> name{};
  std::uint64_t revision = 0;

  KeeperApi() = default;
  explicit KeeperApi(const Api& api) : revision(api.revision) { api.name.copy(name.data(), name.size()); }
  std::string_view text() const { return {name.data(), strnlen(name.data(), name.size())}; }
};
static_assert(sizeof(KeeperApi) == 16);

}  // namespace flexrack::wire
