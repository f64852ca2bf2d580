// Where unproven connections come in: listens, reads the 64 bytes that say what a connection is for, has its client
// prove the key, and bounds how many may try at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/fair_eviction.h"
#include "server/descriptor.h"
#include "server/log.h"
#include "server/loop.h"
#include "wire/preamble.h"
#include "wire/proof.h"

namespace flexrack::server {

/// A connection that has said what it wants, and once it is in, has proved that its client has the key for it, or once
/// had: `begun` of TLS may be a recording.
struct PendingConnection {
  Descriptor connection;      ///< blocking
  wire::Preamble preamble;
  std::string address;        ///< "ip:port" or "unix", for people
  std::int32_t client_pid = 0;  ///< over the Unix socket; else 0
  bool is_local = false;      ///< the Unix socket or loopback
  wire::Begun begun;
  wire::Digest mark{};        ///< of its proof: another's is another
};

class Listener {
 public:
  static constexpr std::size_t kMostUnproven =
      1024;  ///< or a quarter of the descriptors that this process may have, where that is less
  static constexpr auto kPatience = std::chrono::seconds(5);

  /// The key for what a pending connection wants; nothing where it was turned away.
  using Judge = std::function<std::optional<wire::Bytes>(const PendingConnection&)>;

  Listener(Loop& loop, Log& log, Judge judge, std::function<void(PendingConnection)> enter);

  /// Numeric address; port 0 takes any. Returns the port. Throws std::runtime_error.
  std::uint16_t listen_tcp(const std::string& address, std::uint16_t port);
  void listen_unix(const std::string& path);
  void close();

 private:
  struct Unproven {
    PendingConnection pending;
    std::size_t have = 0;  ///< of the preamble
    std::array<std::uint8_t, wire::kPreambleSize> bytes{};
    std::unique_ptr<wire::Proving> proving;  ///< once it has said what it wants
    std::uint64_t timer = 0;
  };
  void add_listening(Descriptor listening);
  void take(int listening);
  bool make_room();
  void welcome(Descriptor connection);
  void read_from(int fd);
  void read_preamble(Unproven& unproven);
  void read_proof(Unproven& unproven);
  void drop(int fd, std::string_view why);

  Loop& loop_;
  Log& log_;
  Judge judge_;
  std::function<void(PendingConnection)> enter_;
  const std::size_t most_;
  std::vector<Descriptor> listening_;
  std::unordered_map<int, std::unique_ptr<Unproven>> unproven_;
  FairEviction fair_eviction_;
};

/// Turns a pending connection away with a reason in the clear, and logs it.
void turn_away(Log& log, const PendingConnection& pending, wire::Turned turned, std::string_view why);

}  // namespace flexrack::server
