#include "client/cuda/keyed_hash.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace flexrack;
using client::cuda::KeyedHash;

namespace {

/// A key and a text that any language can make: numbers of a linear congruence.
KeyedHash::Key key_of(std::uint64_t number) {
  KeyedHash::Key key;
  for (auto& word : key) word = number = number * 6364136223846793005u + 1442695040888963407u;
  return key;
}

wire::Bytes text_of(std::size_t size) {
  wire::Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 131 + i / 251);
  return bytes;
}

}  // namespace

TEST_CASE("the keyed hash is NH and a polynomial of 2^127 - 1, as computed in Python's integers") {
  const KeyedHash hash(key_of(1));
  CHECK(hash.of(text_of(0)) == KeyedHash::Value{0x0000000000000000u, 0x0000000000000000u});
  CHECK(hash.of(text_of(1)) == KeyedHash::Value{0x7e234f2ea4965fbcu, 0x72ffe522a3934291u});
  CHECK(hash.of(text_of(1023)) == KeyedHash::Value{0x037e10b713ee7ae5u, 0x28ad422db2b58435u});
  CHECK(hash.of(text_of(1024)) == KeyedHash::Value{0x208d6c1c338a8f88u, 0x9054f0c6995608beu});
  CHECK(hash.of(text_of(1025)) == KeyedHash::Value{0x54e2725752ba7138u, 0x557a84adb199bcaeu});
  CHECK(hash.of(text_of(5000)) == KeyedHash::Value{0x7981cfef3169c77bu, 0x1d36076433051812u});
}

TEST_CASE("each bit of what is read is in its hash, and two bits do not undo each other") {
  const KeyedHash hash;
  auto bytes = text_of(2200);
  const auto whole = hash.of(bytes);
  CHECK(hash.of(bytes) == whole);
  CHECK(hash.of(wire::View(bytes).first(2199)) != whole);
  std::set<KeyedHash::Value> seen{whole};
  const auto flip = [&](std::size_t bit) { bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8); };
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    flip(bit);
    CHECK(seen.insert(hash.of(bytes)).second);
    flip(bit);
  }
  // The highest bits of two words: what products modulo 2^64 lose first.
  for (std::size_t one = 63; one < 1024; one += 64) {
    for (std::size_t other = one + 64; other < bytes.size() * 8; other += 64) {
      flip(one), flip(other);
      CHECK(seen.insert(hash.of(bytes)).second);
      flip(one), flip(other);
    }
  }
}

TEST_CASE("blocks that change places have another hash, and so has each session") {
  const KeyedHash hash, other;
  auto bytes = text_of(4 * KeyedHash::kBlock);
  const auto whole = hash.of(bytes);
  std::swap_ranges(bytes.begin(), bytes.begin() + KeyedHash::kBlock, bytes.begin() + 2 * KeyedHash::kBlock);
  CHECK(hash.of(bytes) != whole);
  CHECK(other.of(bytes) != hash.of(bytes));
  const wire::Bytes zeros(3 * KeyedHash::kBlock);
  CHECK(hash.of(zeros) != hash.of(wire::View(zeros).first(KeyedHash::kBlock)));
}
