#include "server/token.h"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace flexrack::server {

void fill_random(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const auto got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::system_error(errno, std::generic_category(), "getrandom");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace flexrack::server
