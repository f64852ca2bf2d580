#include "client/cuda/keyed_hash.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace flexrack::client::cuda {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::size_t kBlockWords = KeyedHash::kBlock / 8;
constexpr std::uint64_t kLow63 = ~std::uint64_t{0} >> 1;
constexpr Wide kPrime = (Wide{kLow63} << 64) | ~std::uint64_t{0};  // 2^127 - 1

std::uint64_t low(Wide value) { return static_cast<std::uint64_t>(value); }
std::uint64_t high(Wide value) { return static_cast<std::uint64_t>(value >> 64); }

Wide product(std::uint64_t one, std::uint64_t other) { return Wide{one} * other; }

/// Of any 128 bits, below 2^127 - 1.
Wide reduced(Wide value) {
  value = (value & kPrime) + (value >> 127);
  return value >= kPrime ? value - kPrime : value;
}

/// Of two below 2^127.
Wide multiplied(Wide one, Wide other) {
  const auto middle = product(low(one), high(other)) + product(high(one), low(other));
  const auto bottom = product(low(one), low(other)) + (middle << 64);
  const auto carry = bottom < (middle << 64) ? 1u : 0u;
  const auto top = product(high(one), high(other)) + (middle >> 64) + carry;
  return reduced((bottom & kPrime) + (bottom >> 127) + (top << 1));  // 2^128 is 2
}

/// NH: the sum, over pairs of words, of the products of each word and its word of the key.
Wide sum_of_block(const std::uint8_t* bytes, const std::uint64_t* key) {
  Wide sums[2] = {};  // two, so that the processor adds both at a time
  for (std::size_t i = 0; i < kBlockWords; i += 4) {
    std::uint64_t words[4];
    std::memcpy(words, bytes + 8 * i, sizeof words);
    sums[0] += product(words[0] + key[i], words[1] + key[i + 1]);
    sums[1] += product(words[2] + key[i + 2], words[3] + key[i + 3]);
  }
  return sums[0] + sums[1];
}

}  // namespace

KeyedHash::KeyedHash() {
  auto* at = reinterpret_cast<std::uint8_t*>(key_.data());
  std::size_t have = 0;
  while (have < sizeof key_) {
    const auto got = getrandom(at + have, sizeof key_ - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::system_error(errno, std::generic_category(), "getrandom");
    have += static_cast<std::size_t>(got);
  }
}

KeyedHash::KeyedHash(const Key& key) : key_(key) {}

KeyedHash::Value KeyedHash::of(wire::View bytes) const {
  const auto point = reduced((Wide{key_[kBlockWords]} << 64) | key_[kBlockWords + 1]);
  Wide value = bytes.size();
  std::size_t at = 0;
  for (; at + kBlock <= bytes.size(); at += kBlock)
    value = multiplied(reduced(value + reduced(sum_of_block(bytes.data() + at, key_.data()))), point);
  if (at < bytes.size()) {
    std::uint8_t rest[kBlock] = {};
    std::memcpy(rest, bytes.data() + at, bytes.size() - at);
    value = multiplied(reduced(value + reduced(sum_of_block(rest, key_.data()))), point);
  }
  return {high(value), low(value)};
}

}  // namespace flexrack::client::cuda
