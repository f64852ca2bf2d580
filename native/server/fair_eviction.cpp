#include "server/fair_eviction.h"

#include <netinet/in.h>

#include <algorithm>

namespace flexrack::server {

std::string origin_of(const sockaddr_storage& address) {
  const auto* four = reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  const auto* six = reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  if (address.ss_family == AF_INET) return {four, 4};
  if (address.ss_family != AF_INET6) return "unix socket";  // as long as no address is
  // A socket for both kinds gives IPv4 addresses within IPv6 ones.
  return IN6_IS_ADDR_V4MAPPED(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) ? std::string(six + 12, 4)
                                                                                         : std::string(six, 8);
}

void FairEviction::add(int fd, const std::string& address) {
  remove(fd);
  by_address_[address][++next_] = fd;
  places_[fd] = {address, next_};
}

void FairEviction::remove(int fd) {
  const auto found = places_.find(fd);
  if (found == places_.end()) return;
  const auto crowd = by_address_.find(found->second.address);
  crowd->second.erase(found->second.number);
  if (crowd->second.empty()) by_address_.erase(crowd);
  places_.erase(found);
}

std::optional<int> FairEviction::oldest_of_the_most() const {
  const auto most = std::max_element(by_address_.begin(), by_address_.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == by_address_.end()) return std::nullopt;
  return most->second.begin()->second;
}

}  // namespace flexrack::server
