#include "cuda/md2.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace flexrack::cuda;

namespace {

std::span<const std::uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string hex(const Md2& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : digest) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

}  // namespace

TEST_CASE("MD2 gives the digests that RFC 1319 lists (A.5)") {
  CHECK(hex(md2(bytes(""))) == "8350e5a3e24c153df2275c9f80692773");
  CHECK(hex(md2(bytes("a"))) == "32ec01ec4a6dac72c0ab96fb34c0b5d1");
  CHECK(hex(md2(bytes("abc"))) == "da853b0d3f88d99b30283a69e6ded6bb");
  CHECK(hex(md2(bytes("message digest"))) == "ab4f496bfb2a530b219ff33031fe06b0");
  CHECK(hex(md2(bytes("abcdefghijklmnopqrstuvwxyz"))) == "4e8ddff3650292ab5a4108c3aa47940b");
  CHECK(hex(md2(bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))) ==
        "da33def2a42df13975352846c30338cd");
  CHECK(hex(md2(bytes("12345678901234567890123456789012345678901234567890123456789012345678901234567890"))) ==
        "d5976f79d83d3a0dc9806c3c66f3efd8");
}

TEST_CASE("HMAC-MD2 is RFC 2104's two rounds") {
  std::array<std::uint8_t, 16> key;
  key.fill(0x0b);
  std::string inner(16, 0x0b ^ 0x36), outer(16, 0x0b ^ 0x5c);
  const auto first = md2(bytes(inner + "Hi There"));
  outer.append(first.begin(), first.end());
  CHECK(hmac_md2(key, bytes("Hi There")) == md2(bytes(outer)));
  CHECK(hmac_md2(key, bytes("Hi There")) != hmac_md2(key, bytes("Hi there")));
}
