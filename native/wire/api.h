// Which API the frames of a session belong to, and whether both ends mean the same by them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flexrack::wire {

/// An API as one end has it; gen/API/revision.h has each one's. The empty one: no frames but those of the wire, as
/// between two servers.
struct Api {
  std::string_view name{};      ///< at most 8 bytes
  std::uint32_t first_op = 0;   ///< where its ops begin
  std::uint64_t revision = 0;   ///< a hash over its messages; 0: the end is older than revisions
};

inline bool is_same(const Api& one, const Api& other) {
  return one.first_op == other.first_op && one.revision == other.revision;
}

/// For people: "opencl 3f2a91bc".
std::string text_of(const Api& api);
/// Why a driver and a daemon cannot work together, and what to do.
std::string mismatch(const Api& driver, const Api& daemon);

}  // namespace flexrack::wire
