// MD2 and HMAC with it, for one handshake that still uses them (integrity.h). Nothing else may: MD2 is broken as a
// hash.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace flexrack::cuda {

using Md2 = std::array<std::uint8_t, 16>;

/// RFC 1319.
Md2 md2(std::span<const std::uint8_t> message);

/// RFC 2104 with MD2: blocks of 16 bytes. The key is at most a block long here.
Md2 hmac_md2(const std::array<std::uint8_t, 16>& key, std::span<const std::uint8_t> message);

}  // namespace flexrack::cuda
