// The first bytes of every connection, in the clear and frozen for ever: who is wanted, and what for. docs/protocol.md
// has the byte table.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "wire/frame.h"

namespace flexrack::wire {

inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::size_t kPreambleSize = 64;

enum class ConnectionKind : std::uint8_t { command = 1, bulk = 2, peer = 3, keeper = 4 };
enum class Transport : std::uint8_t { tls = 1, tcp = 2, shm = 3 };

/// Names 16 bytes: a lease or a session.
using Id = std::array<std::uint8_t, 16>;

std::string to_hex(View bytes);
/// Empty where the text is not hex of an even length.
Bytes from_hex(std::string_view text);
/// Throws Error{malformed} where the text is not 32 hex digits.
Id id_from_hex(std::string_view text);

enum PreambleFlag : std::uint16_t {
  kResume = 1,  ///< goes on with a session that the server already has
};

struct Preamble {
  std::uint16_t version_min = kVersion;
  std::uint16_t version_max = kVersion;
  ConnectionKind kind = ConnectionKind::command;
  Transport transport = Transport::tls;
  std::uint16_t flags = 0;
  std::uint64_t features = 0;
  Id lease{};
  Id session{};
  std::uint64_t peer = 0;  ///< with kind peer, and bulk of a peer link: which one; else 0

  bool is_resume() const { return (flags & kResume) != 0; }
};

std::array<std::uint8_t, kPreambleSize> encode_preamble(const Preamble& preamble);
/// Throws Error{malformed} for another magic, kind or transport. Versions are for the caller to compare.
Preamble decode_preamble(std::span<const std::uint8_t, kPreambleSize> bytes);

/// Reads exactly the preamble's bytes from a connection that was just accepted.
/// Throws Error: unreachable when they are not there in time, gone, malformed.
Preamble read_preamble(int fd, std::chrono::milliseconds deadline);

/// Why a server turns a connection down; travels in the clear, so it is a hint and no proof.
enum class Turned : std::uint16_t {
  no = 0,
  version = 1,
  unknown_lease = 2,
  unknown_session = 3,
  replayed = 4,
  full = 5,
  transport = 6,
  internal = 7,
  untrusted = 8,
};

inline constexpr std::uint32_t kAnswerMagic = 0x41584c46;  ///< "FLXA"
inline constexpr std::size_t kAnswerText = 512;

struct RawAnswer {
  std::uint32_t magic;
  std::uint16_t version, turned;
  std::uint32_t text_length, reserved;
};
static_assert(sizeof(RawAnswer) == 16);

Bytes encode_answer(Turned turned, std::string_view text);
/// For people: without what a terminal would obey.
std::string text_of_refusal(const RawAnswer& answer, std::string text);

/// Answers a preamble. `text` (at most 512 bytes) is shown to people; nothing in it is secret.
/// False when the other side is gone already. Does not close the connection.
bool answer(int fd, Turned turned, std::string_view text = {});
/// Reads the answer; throws Error{refused} with the server's text, or gone, malformed, unreachable.
void read_answer(int fd, std::chrono::milliseconds deadline);

}  // namespace flexrack::wire
