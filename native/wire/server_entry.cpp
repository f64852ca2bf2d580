#include "wire/server_entry.h"

#include <unistd.h>

#include "wire/boot.h"
#include "wire/preamble.h"

namespace flexrack::wire {
namespace {

constexpr std::size_t kKeyBytes = 32;

}  // namespace

bool read_server_entry(const Json& entry, Dial& dial) {
  const auto port = entry["port"].integer();
  dial.address = entry["address"].text();
  dial.unix_path = entry["unix"].text();
  dial.port = static_cast<std::uint16_t>(port);
  dial.lease = entry["lease"].text();
  dial.key = from_hex(entry["key"].text());
  return port >= 0 && port <= 65535 && (!dial.address.empty() || !dial.unix_path.empty()) &&
         dial.lease.size() == 2 * sizeof(Id) && dial.key.size() == kKeyBytes;
}

bool is_on_this_host(const Json& entry) {
  const auto& path = entry["unix"].text();
  const auto& boot = entry["boot_id"].text();
  return !path.empty() && !boot.empty() && boot == boot_id() && ::access(path.c_str(), R_OK | W_OK) == 0;
}

}  // namespace flexrack::wire
