// Where strangers come in: listens, reads the 64 bytes that say what a connection is for, and bounds how many may do so at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/descriptor.h"
#include "server/log.h"
#include "server/loop.h"
#include "wire/preamble.h"

namespace flexrack::server {

/// A connection that has said what it wants, and nothing more: it has proved nothing yet.
struct Visitor {
  Descriptor connection;      ///< blocking
  wire::Preamble preamble;
  std::string address;        ///< "ip:port" or "unix", for people
  std::int32_t client_pid = 0;  ///< over the Unix socket; else 0
  bool is_local = false;      ///< the Unix socket or loopback
};

class Door {
 public:
  static constexpr std::size_t kMostSilent = 128;  ///< connections that have not said yet what they want
  static constexpr auto kPatience = std::chrono::seconds(5);

  Door(Loop& loop, Log& log, std::function<void(Visitor)> enter);

  /// Numeric address; port 0 takes any. Returns the port. Throws std::runtime_error.
  std::uint16_t listen_tcp(const std::string& address, std::uint16_t port);
  void listen_unix(const std::string& path);
  void close();

 private:
  struct Stranger {
    Descriptor connection;
    std::string address;
    std::size_t have = 0;
    std::array<std::uint8_t, wire::kPreambleSize> bytes{};
    std::uint64_t timer = 0;
  };
  void add_listener(Descriptor listener);
  void take(int listener);
  void read_from(int fd);
  void drop(int fd, std::string_view why);

  Loop& loop_;
  Log& log_;
  std::function<void(Visitor)> enter_;
  std::vector<Descriptor> listeners_;
  std::unordered_map<int, Stranger> strangers_;
};

/// Turns a visitor away with a reason in the clear, and logs it.
void turn_away(Log& log, const Visitor& visitor, wire::Turned turned, std::string_view why);

}  // namespace flexrack::server
