#include "wire/preamble.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "wire/error.h"
#include "wire/socket.h"

namespace flexrack::wire {
namespace {

constexpr char kMagic[8] = {'F', 'L', 'E', 'X', 'R', 'A', 'C', 'K'};

struct RawPreamble {
  char magic[8];
  std::uint16_t version_min, version_max;
  std::uint8_t kind, transport;
  std::uint16_t flags;
  std::uint64_t features;
  std::uint8_t lease[16], session[16];
  std::uint64_t peer;
};
static_assert(sizeof(RawPreamble) == kPreambleSize);

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(View bytes) {
  std::string text;
  for (const auto byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Bytes from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return {};
  Bytes bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = nibble(text[i]), low = nibble(text[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return bytes;
}

Id id_from_hex(std::string_view text) {
  const auto bytes = from_hex(text);
  Id id{};
  if (bytes.size() != id.size()) throw Error(Error::Kind::malformed, "not an id of 32 hex digits");
  std::copy(bytes.begin(), bytes.end(), id.begin());
  return id;
}

std::array<std::uint8_t, kPreambleSize> encode_preamble(const Preamble& preamble) {
  RawPreamble raw{};
  std::memcpy(raw.magic, kMagic, sizeof kMagic);
  raw.version_min = preamble.version_min;
  raw.version_max = preamble.version_max;
  raw.kind = static_cast<std::uint8_t>(preamble.kind);
  raw.transport = static_cast<std::uint8_t>(preamble.transport);
  raw.flags = preamble.flags;
  raw.features = preamble.features;
  std::memcpy(raw.lease, preamble.lease.data(), 16);
  std::memcpy(raw.session, preamble.session.data(), 16);
  raw.peer = preamble.peer;
  return std::bit_cast<std::array<std::uint8_t, kPreambleSize>>(raw);
}

Preamble decode_preamble(std::span<const std::uint8_t, kPreambleSize> bytes) {
  RawPreamble raw;
  std::memcpy(&raw, bytes.data(), sizeof raw);
  if (std::memcmp(raw.magic, kMagic, sizeof kMagic) != 0)
    throw Error(Error::Kind::malformed, "not a flexrack connection");
  if (raw.kind < 1 || raw.kind > 4) throw Error(Error::Kind::malformed, "unknown kind of connection");
  if (raw.transport < 1 || raw.transport > 3) throw Error(Error::Kind::malformed, "unknown transport");
  Preamble preamble;
  preamble.version_min = raw.version_min;
  preamble.version_max = raw.version_max;
  preamble.kind = static_cast<ConnectionKind>(raw.kind);
  preamble.transport = static_cast<Transport>(raw.transport);
  preamble.flags = raw.flags;
  preamble.features = raw.features;
  std::memcpy(preamble.lease.data(), raw.lease, 16);
  std::memcpy(preamble.session.data(), raw.session, 16);
  preamble.peer = raw.peer;
  return preamble;
}

Preamble read_preamble(int fd, std::chrono::milliseconds deadline) {
  std::array<std::uint8_t, kPreambleSize> bytes;
  read_within(fd, bytes, deadline);
  return decode_preamble(bytes);
}

Bytes encode_answer(Turned turned, std::string_view text) {
  text = text.substr(0, kAnswerText);
  const RawAnswer raw{kAnswerMagic, kVersion, static_cast<std::uint16_t>(turned),
                      static_cast<std::uint32_t>(text.size()), 0};
  Bytes bytes(sizeof raw + text.size());
  std::memcpy(bytes.data(), &raw, sizeof raw);
  if (!text.empty()) std::memcpy(bytes.data() + sizeof raw, text.data(), text.size());
  return bytes;
}

std::string text_of_refusal(const RawAnswer& answer, std::string text) {
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return text.empty() ? "the server refused (reason " + std::to_string(answer.turned) + ")" : text;
}

bool answer(int fd, Turned turned, std::string_view text) {
  return write_within(fd, encode_answer(turned, text), std::chrono::seconds(2));
}

void read_answer(int fd, std::chrono::milliseconds deadline) {
  RawAnswer raw;
  read_within(fd, {reinterpret_cast<std::uint8_t*>(&raw), sizeof raw}, deadline);
  if (raw.magic != kAnswerMagic || raw.text_length > kAnswerText)
    throw Error(Error::Kind::malformed, "the server does not speak this protocol");
  std::string text(raw.text_length, '\0');
  if (raw.text_length > 0) read_within(fd, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}, deadline);
  if (raw.turned == static_cast<std::uint16_t>(Turned::no)) return;
  throw Error(Error::Kind::refused, text_of_refusal(raw, std::move(text)));
}

}  // namespace flexrack::wire
