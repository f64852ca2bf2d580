// The frame that everything on the wire travels in, and the numbers that hold for every API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace flexrack::wire {

using View = std::span<const std::uint8_t>;
using Bytes = std::vector<std::uint8_t>;

/// 16 bytes, little-endian, before every body. A body starts on an 8-byte boundary; `length` is its bytes, padding
/// included.
struct Header {
  std::uint16_t op;
  std::uint16_t flags;
  std::uint32_t length;
  std::uint64_t sequence;  ///< counts the frames of one direction of one path from 1; 0 on frames that are not repeated
                           ///< after a reconnect
};
static_assert(sizeof(Header) == 16);

/// Bits of Header::flags.
enum Flag : std::uint16_t {
  kReply = 1,  ///< answers a call; the body begins with the call's sequence number
  kRefused = 2,  ///< with kReply: the call could not be carried out; a u32 Refusal follows the sequence number
};

/// Ops of the wire itself; an API's begin at kFirstApiOp. Those with a sequence are repeated after a reconnect, the
/// others say how things stand.
enum WireOp : std::uint16_t {
  kAck = 1,  ///< u64: the last frame received; sequence 0
  kPing = 2,  ///< nothing; sequence 0
  kGoodbye = 3,  ///< string: why; sequence 0
  kBulkAck = 4,  ///< u64: the last chunk received; sequence 0
  kLanding = 5,  ///< u64 ticket: it has a place now (or needs none), and may be sent without credit
  kCancel = 6,  ///< u64 ticket, u64 who (1: it will not be sent, 2: it is not wanted), u64 the last chunk sent
  kSmall = 7,  ///< u64 ticket, then bytes: a whole payload whose landing has come, without the bulk path
  // 8 was kMoved in the clear, which carried a key.
  kMoved = 9,  ///< bytes, sealed JSON: the session goes on at another server, where the client resumes it; sequence 0
};
inline constexpr std::uint16_t kFirstApiOp = 0x1000;

enum class Refusal : std::uint32_t { malformed = 1, unknown_op = 2, limit = 3, internal = 4 };

inline constexpr std::size_t kInlinePayload = 64 * 1024;  ///< payloads from here up travel on the bulk path
inline constexpr std::size_t kMaximumBody =
    16u * 1024 * 1024;  ///< a longer body ends the link (program binaries and sources fit)
inline constexpr std::size_t kFlushAt = 16 * 1024;  ///< bytes waiting on the command path that are written at once

}  // namespace flexrack::wire
