// RFC 8446: 4.1.2 the message, 4.2.11 what it says of keys and how the binder proves them, 7.1 what is made of a key.
#include "wire/client_hello.h"

#include <openssl/sha.h>

#include <algorithm>
#include <optional>

namespace flexrack::wire {
namespace {

constexpr std::size_t kRecordHeader = 5, kMessageHeader = 4;
constexpr std::uint8_t kHandshakeRecord = 22, kClientHelloType = 1;
constexpr std::uint16_t kPreSharedKey = 41;

/// Numbers of the network's order; past the end everything is nothing.
class Cursor {
 public:
  explicit Cursor(View bytes) : left_(bytes) {}
  std::size_t number(std::size_t bytes) {
    std::size_t value = 0;
    for (const auto byte : take(bytes)) value = value << 8 | byte;
    return value;
  }
  View take(std::size_t count) {
    if (count > left_.size()) {
      is_good_ = false;
      left_ = {};
      return {};
    }
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  /// A vector with its length in front, in so many bytes.
  View vector(std::size_t length_bytes) { return take(number(length_bytes)); }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return is_good_ && left_.empty(); }

 private:
  View left_;
  bool is_good_ = true;
};

Digest hash_of(View bytes) {
  Digest digest;
  SHA256(bytes.data(), bytes.size(), digest.data());
  return digest;
}

/// HKDF-Expand-Label of one block.
Digest expand(const Digest& secret, std::string_view label, View context) {
  const auto whole = "tls13 " + std::string(label);
  Bytes info{0, static_cast<std::uint8_t>(sizeof(Digest)), static_cast<std::uint8_t>(whole.size())};
  info.insert(info.end(), whole.begin(), whole.end());
  info.push_back(static_cast<std::uint8_t>(context.size()));
  info.insert(info.end(), context.begin(), context.end());
  info.push_back(1);
  return authenticate(secret, {info});
}

Digest binder_of(const Digest& key, View truncated) {
  const auto early = authenticate(Digest{}, {key});
  const auto finished = expand(expand(early, "ext binder", hash_of({})), "finished", {});
  return authenticate(finished, {hash_of(truncated)});
}

struct Offer {
  View identity, binder;
  std::size_t truncated;  ///< bytes of the message before its list of binders
};

/// The only key that a ClientHello offers. Nothing where it offers none or several, or is none.
std::optional<Offer> read_offer(View message) {
  Cursor whole(message);
  if (whole.number(1) != kClientHelloType) return std::nullopt;
  Cursor hello(whole.vector(3));
  hello.take(2 + 32);  // version, random
  hello.vector(1);     // a session of TLS 1.2
  hello.vector(2);     // cipher suites
  hello.vector(1);     // compression
  Cursor extensions(hello.vector(2));
  if (!hello.is_at_end() || !whole.is_at_end()) return std::nullopt;
  for (;;) {
    const auto type = extensions.number(2);
    const auto body = extensions.vector(2);
    if (!extensions.is_good()) return std::nullopt;
    if (type != kPreSharedKey) continue;
    Cursor offered(body);
    Cursor identities(offered.vector(2));
    const auto identity = identities.vector(2);
    identities.take(4);  // its age
    const auto binders = offered.vector(2);
    Cursor list(binders);
    const auto binder = list.vector(1);
    // It is the last extension: the binder is over all before it.
    if (!identities.is_at_end() || !list.is_at_end() || !offered.is_at_end() || !extensions.is_at_end())
      return std::nullopt;
    return Offer{identity, binder, message.size() - binders.size() - 2};
  }
}

}  // namespace

HelloCheck check_client_hello(View bytes, std::string_view identity, const Digest& key, Digest& binder) {
  if (!bytes.empty() && bytes[0] != kHandshakeRecord) return HelloCheck::wrong;
  if (bytes.size() < kRecordHeader) return HelloCheck::more;
  const auto size = static_cast<std::size_t>(bytes[3] << 8 | bytes[4]);
  if (size < kMessageHeader || kRecordHeader + size > kLongestClientHello) return HelloCheck::wrong;
  if (bytes.size() < kRecordHeader + size) return HelloCheck::more;
  const auto message = bytes.subspan(kRecordHeader, size);
  const auto offer = read_offer(message);
  if (!offer || !std::equal(offer->identity.begin(), offer->identity.end(), identity.begin(), identity.end(),
                            [](auto a, auto b) { return a == static_cast<std::uint8_t>(b); }))
    return HelloCheck::wrong;
  binder = binder_of(key, message.first(offer->truncated));
  return is_same(binder, offer->binder) ? HelloCheck::proved : HelloCheck::wrong;
}

}  // namespace flexrack::wire
