// Addresses and sizes that a server may say.
#include "client/cuda/addresses.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

using namespace flexrack::client::cuda;

TEST_CASE("a stretch of addresses that wraps around is not kept, whatever is there") {
  std::vector<std::uint8_t> ours(64 * 1024, 7);
  const auto at = reinterpret_cast<std::uint64_t>(ours.data());
  CHECK_FALSE(keep_addresses(at, ours.size()));  // something is there
  // Ends before it begins, or at the page before.
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const auto size : {~std::uint64_t{0}, ~std::uint64_t{0} - at, std::uint64_t{0} - page, std::uint64_t{0}})
    CHECK_FALSE(keep_addresses(at, size));
  CHECK_FALSE(keep_addresses(~std::uint64_t{0}, 1));
  CHECK_FALSE(is_stretch(std::uint64_t{1} << 57, 1));
  CHECK(is_stretch((std::uint64_t{1} << 57) - 1, 1));
  CHECK(ours == std::vector<std::uint8_t>(64 * 1024, 7));
}

TEST_CASE("addresses that are free are kept until they are let go") {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  void* const free = ::mmap(nullptr, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(free != MAP_FAILED);
  const auto at = reinterpret_cast<std::uint64_t>(free);
  CHECK_FALSE(keep_addresses(at + 100, page));
  REQUIRE(::munmap(free, 4 * page) == 0);
  REQUIRE(keep_addresses(at + 100, page));
  CHECK(keep_addresses(at + 100 + page, 8));  // the page at its end is ours already
  let_addresses_go(at + 100 + page, 8);
  let_addresses_go(at + 100, page);
  REQUIRE(keep_addresses(at, 4 * page));
  let_addresses_go(at, 4 * page);
}
