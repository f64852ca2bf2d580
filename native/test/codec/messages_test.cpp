#include <doctest/doctest.h>

#include <set>

#include "gen/cuda/fuzz_cases.h"
#include "gen/opencl/fuzz_cases.h"
#include "gen/opencl/requests.h"

using namespace flexrack;

namespace {

/// A copy of exactly these bytes on the heap, so that a sanitizer sees a read beyond them.
wire::Bytes head(const wire::Bytes& body, std::size_t size) {
  wire::Bytes copy(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
  copy.shrink_to_fit();
  return copy;
}

/// The examples of all APIs.
template <class Action>
void each(Action&& action) {
  for (const auto& one : cl::fuzz_cases()) action(one);
  for (const auto& one : cu::fuzz_cases()) action(one);
}

}  // namespace

TEST_CASE("every message comes back as it was written") {
  each([](const auto& one) {
    CAPTURE(one.name);
    const auto body = one.make();
    CHECK(body.size() % 8 == 0);
    wire::Bytes out;
    REQUIRE(one.again(body, out));
    CHECK(out == body);
  });
}

TEST_CASE("no message is read from a part of itself, or with something behind it") {
  each([&](const auto& one) {
    CAPTURE(one.name);
    const auto body = one.make();
    wire::Bytes out;
    for (std::size_t size = 0; size < body.size(); size++) {
      CAPTURE(size);
      const auto part = head(body, size);
      CHECK_FALSE(one.again(part, out));
    }
    auto longer = body;
    longer.resize(body.size() + 8);
    CHECK_FALSE(one.again(longer, out));
    if (body.empty()) return;
    longer = body;
    longer.push_back(0);
    CHECK_FALSE(one.again(longer, out));
  });
}

TEST_CASE("a count beyond the body is refused, whichever word it is written over") {
  each([&](const auto& one) {
    CAPTURE(one.name);
    const auto body = one.make();
    for (std::size_t at = 0; at + 8 <= body.size(); at += 8) {
      for (const std::uint64_t count : {~std::uint64_t{0}, std::uint64_t{1} << 61, std::uint64_t{body.size()}}) {
        auto changed = body;
        std::memcpy(changed.data() + at, &count, sizeof count);
        wire::Bytes out;
        if (one.again(changed, out)) CHECK(out.size() == body.size());   // a scalar, then
      }
    }
  });
}

TEST_CASE("an op id names one message of a direction") {
  std::set<std::uint16_t> requests, replies;
  each([&](const auto& one) {
    CAPTURE(one.name);
    CHECK((one.is_reply ? replies : requests).insert(one.op).second);
  });
  for (const auto op : replies) CHECK(requests.contains(op));
}

TEST_CASE("arrays of numbers are read in place") {
  const std::uint64_t waits[] = {7, 8, 9};
  wire::Bytes body;
  encode(body, cl::Marker{.queue = 1, .event = 2, .waits = waits});
  cl::Marker marker;
  REQUIRE(decode(body, marker));
  CHECK(marker.waits.size() == 3);
  CHECK(marker.waits[2] == 9);
  CHECK(reinterpret_cast<const std::uint8_t*>(marker.waits.data()) > body.data());
  CHECK(reinterpret_cast<const std::uint8_t*>(marker.waits.data()) < body.data() + body.size());
}

TEST_CASE("a payload is here and whole, or under a ticket") {
  const std::uint8_t data[] = {1, 2, 3};
  auto reads = [](const wire::Payload& payload) {
    wire::Bytes body;
    encode(body, cl::WriteBuffer{.queue = 1, .memory = 2, .data = payload});
    cl::WriteBuffer message;
    return decode(body, message);
  };
  CHECK(reads({0, 3, data}));
  CHECK(reads({5, std::uint64_t{1} << 40, {}}));
  CHECK(reads({0, 0, {}}));
  CHECK_FALSE(reads({0, 4, data}));
  CHECK_FALSE(reads({5, 3, data}));
  CHECK_FALSE(reads({0, 3, {}}));
}
