// Where memory differs from its twin.
#include "cuda/difference.h"

#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace {

using Content = std::vector<std::uint8_t>;

/// What the other side has after it was told.
Content reported_to(const Content& before, const Content& now, Content& twin, std::size_t& bytes) {
  auto other = before;
  flexrack::cuda::take_changes(
      now.data(), twin.data(), now.size(), [&](std::size_t offset, std::span<const std::uint8_t> changed) {
        REQUIRE(offset + changed.size() <= now.size());
        std::copy(changed.begin(), changed.end(), other.begin() + static_cast<std::ptrdiff_t>(offset));
        bytes += changed.size();
      });
  return other;
}

}  // namespace

TEST_CASE("difference: both sides are alike after any change, and only what differs is told") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t most) { return static_cast<std::size_t>(random() % most); };
    Content before(1 + below(20000));
    for (auto& one : before) one = static_cast<std::uint8_t>(below(3));
    auto now = before, twin = before;
    const bool is_sparse = seed % 2 == 0;
    for (auto changes = below(is_sparse ? 50 : 8000) + 1; changes > 0; --changes)
      now[below(now.size())] = static_cast<std::uint8_t>(below(3));
    std::size_t differing = 0, bytes = 0;
    for (std::size_t i = 0; i < now.size(); ++i) differing += now[i] != before[i];
    CHECK(reported_to(before, now, twin, bytes) == now);
    CHECK(twin == now);
    CHECK(bytes >= differing);
    if (is_sparse) CHECK_EQ(bytes, differing);
    bytes = 0;
    CHECK(reported_to(now, now, twin, bytes) == now);
    CHECK_EQ(bytes, 0);
  }
}

TEST_CASE("difference: words of four that lie between changed ones are not told, however many there are") {
  Content before(64 * 1024, 7), now = before, twin = before;
  for (std::size_t i = 0; i < now.size(); i += 8) now[i] = 9;
  std::size_t bytes = 0, stretches = 0;
  flexrack::cuda::take_changes(now.data(), twin.data(), now.size(),
                               [&](std::size_t offset, std::span<const std::uint8_t> changed) {
                                 CHECK_EQ(offset % 8, 0);
                                 CHECK_EQ(changed.size(), 4);
                                 bytes += changed.size();
                                 ++stretches;
                               });
  CHECK_EQ(stretches, now.size() / 8);
  CHECK_EQ(bytes, now.size() / 2);
}
