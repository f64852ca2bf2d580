#include "server/fair_eviction.h"

#include <algorithm>

namespace flexrack::server {

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
  const auto most = std::max_element(by_address_.begin(), by_address_.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == by_address_.end()) return std::nullopt;
  return most->second.begin()->second;
}

}  // namespace flexrack::server
