// The lease file: which servers this process may use, and the key to each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/link.h"

namespace flexrack::client {

struct LeasedDevice {
  std::string name;
  std::uint64_t memory = 0;  ///< bytes of the share
};

struct LeasedServer {
  std::string node;          ///< its name on the rack
  std::string api;           ///< "opencl" or "cuda": the driver that its devices are for
  wire::Dial dial;  ///< transport resolved: FLEXRACK_TRANSPORT first, then the file; auto is shm on this host, else tls
  std::vector<LeasedDevice> devices;
  /// All servers of the file carry out the same (docs/adr/0080).
  bool is_mirrored = false;
  bool stops_at_mismatch = true;  ///< of those: where they differ
};

/// Reads a lease file. Throws std::runtime_error where it is not there, belongs to somebody else, is readable by
/// others, or is not a lease file.
std::vector<LeasedServer> read_lease_file(const std::string& path);
/// The same, but only those a driver of that API can use.
std::vector<LeasedServer> read_lease_file(const std::string& path, std::string_view api);

/// The same from text, the checks of the file left out.
std::vector<LeasedServer> parse_lease_file(const std::string& text);

}  // namespace flexrack::client
