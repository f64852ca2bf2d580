// Who waits at a listener, by address: whose turn it is to go when somebody else comes.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace flexrack::server {

/// By which unproven connections are counted: an address without its port; of IPv6 the network, of which whoever has
/// one address has them all.
std::string origin_of(const sockaddr_storage& address);

/// Descriptors, each of an address, in the order in which they came. For one thread.
class FairEviction {
 public:
  void add(int fd, const std::string& address);
  void remove(int fd);
  std::size_t size() const { return places_.size(); }
  /// The oldest of the address that has the most: unproven connections take the places of each other, and one address
  /// cannot take those of all.
  std::optional<int> oldest_of_the_most() const;

 private:
  struct Place {
    std::string address;
    std::uint64_t number;
  };
  std::unordered_map<int, Place> places_;
  std::unordered_map<std::string, std::map<std::uint64_t, int>> by_address_;
  std::uint64_t next_ = 0;
};

}  // namespace flexrack::server
