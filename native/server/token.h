// Names and secrets of leases and sessions: random bytes and their hexadecimal form.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace flexrack::server {

using Id = std::array<std::uint8_t, 16>;   ///< of a lease or a session; not a secret
using Key = std::array<std::uint8_t, 32>;  ///< a lease's pre-shared key

/// From the kernel's generator; throws std::system_error where it has none.
void fill_random(std::span<std::uint8_t> bytes);

template <class Array>
Array random_token() {
  Array bytes{};
  fill_random(bytes);
  return bytes;
}

/// Lower case, two digits a byte.
std::string to_hex(std::span<const std::uint8_t> bytes);
/// False: not exactly that many bytes in hexadecimal digits.
bool from_hex(std::string_view text, std::span<std::uint8_t> bytes);

template <class Array>
std::optional<Array> token_from_hex(std::string_view text) {
  Array bytes{};
  if (!from_hex(text, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace flexrack::server
