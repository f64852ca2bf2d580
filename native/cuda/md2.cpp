#include "cuda/md2.h"

#include <algorithm>
#include <vector>

namespace flexrack::cuda {
namespace {

constexpr std::size_t kBlock = 16;

/// RFC 1319, 3.2: the numbers 0 to 255 in an order that the digits of pi give.
constexpr std::array<std::uint8_t, 256> kPi = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,   243, 192, 199,
    115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212, 224, 22,  103, 66,  111, 24,
    138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160, 251, 245, 142, 187, 47,  238, 122, 169, 104,
    121, 145, 21,  178, 7,   63,  148, 194, 16,  137, 11,  34,  95,  33,  128, 127, 93,  154, 90,  144, 50,  39,
    53,  62,  204, 231, 191, 247, 151, 3,   255, 25,  48,  179, 72,  165, 181, 209, 215, 94,  146, 42,  172, 86,
    170, 198, 79,  184, 56,  210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,
    100, 113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246, 28,  70,
    97,  105, 52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249, 206, 186, 197, 234, 38,
    44,  83,  13,  110, 133, 40,  132, 9,   211, 223, 205, 244, 65,  129, 77,  82,  106, 220, 55,  200, 108, 193,
    171, 250, 36,  225, 123, 8,   12,  189, 177, 74,  120, 136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254,
    59,  0,   29,  57,  242, 239, 183, 14,  102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,  49,  68,
    80,  180, 143, 237, 31,  26,  219, 153, 141, 51,  159, 17,  131, 20,
};

using Block = std::span<const std::uint8_t, kBlock>;

/// RFC 1319, 3.3: `checksum` goes on over one block.
void add_to_checksum(Md2& checksum, Block block) {
  auto last = checksum.back();
  for (std::size_t i = 0; i < kBlock; ++i)
    last = checksum[i] = static_cast<std::uint8_t>(checksum[i] ^ kPi[block[i] ^ last]);
}

/// RFC 1319, 3.4: the state's first 16 bytes are the digest so far.
void add_to_state(std::array<std::uint8_t, 3 * kBlock>& state, Block block) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    state[kBlock + i] = block[i];
    state[2 * kBlock + i] = static_cast<std::uint8_t>(block[i] ^ state[i]);
  }
  std::uint8_t t = 0;
  for (std::uint8_t round = 0; round < 18; ++round) {
    for (auto& byte : state) t = byte = static_cast<std::uint8_t>(byte ^ kPi[t]);
    t = static_cast<std::uint8_t>(t + round);
  }
}

}  // namespace

Md2 md2(std::span<const std::uint8_t> message) {
  // RFC 1319, 3.1: always padded, with as many bytes of the value as there are.
  const auto padding = kBlock - message.size() % kBlock;
  std::vector<std::uint8_t> padded(message.begin(), message.end());
  padded.insert(padded.end(), padding, static_cast<std::uint8_t>(padding));
  Md2 checksum{};
  std::array<std::uint8_t, 3 * kBlock> state{};
  for (std::size_t at = 0; at < padded.size(); at += kBlock) {
    const Block block(padded.data() + at, kBlock);
    add_to_checksum(checksum, block);
    add_to_state(state, block);
  }
  add_to_state(state, checksum);
  Md2 digest;
  std::copy_n(state.begin(), digest.size(), digest.begin());
  return digest;
}

Md2 hmac_md2(const std::array<std::uint8_t, 16>& key, std::span<const std::uint8_t> message) {
  std::vector<std::uint8_t> inner, outer;
  for (const auto byte : key) {
    inner.push_back(byte ^ 0x36);
    outer.push_back(byte ^ 0x5c);
  }
  inner.insert(inner.end(), message.begin(), message.end());
  const auto digest = md2(inner);
  outer.insert(outer.end(), digest.begin(), digest.end());
  return md2(outer);
}

}  // namespace flexrack::cuda
