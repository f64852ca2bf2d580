// The random bytes that name and guard leases.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wire/preamble.h"

namespace flexrack::server {

using wire::Id;                            // of a lease or a session; not a secret
using Key = std::array<std::uint8_t, 32>;  ///< a lease's pre-shared key

/// From the kernel's generator; throws std::system_error where it has none.
void fill_random(std::span<std::uint8_t> bytes);

template <class Array>
Array random_token() {
  Array bytes{};
  fill_random(bytes);
  return bytes;
}

/// Nothing when the text is not exactly that many bytes in hexadecimal digits.
template <class Array>
std::optional<Array> token_from_hex(std::string_view text) {
  Array bytes{};
  const auto read = wire::from_hex(text);
  if (read.size() != bytes.size()) return std::nullopt;
  std::copy(read.begin(), read.end(), bytes.begin());
  return bytes;
}

}  // namespace flexrack::server
