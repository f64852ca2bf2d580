#include "wire/tls_records.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "wire/error.h"

namespace flexrack::wire {
namespace {

/// HKDF-Expand-Label (RFC 8446, 7.1) without a context; at most 32 bytes, which are one block of HMAC-SHA256.
Digest expand_label(const Digest& secret, std::string_view label, std::uint8_t size) {
  Bytes info{0, size, static_cast<std::uint8_t>(6 + label.size())};
  for (const auto part : {std::string_view("tls13 "), label}) info.insert(info.end(), part.begin(), part.end());
  info.push_back(0);
  info.push_back(1);  // the number of the block
  return authenticate(secret, {info});
}

}  // namespace

RecordKeys::RecordKeys(const Digest& secret, bool is_sealing)
    : is_sealing_(is_sealing), secret_(secret), context_(EVP_CIPHER_CTX_new()) {
  derive();
}

RecordKeys::~RecordKeys() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
  OPENSSL_cleanse(iv_.data(), iv_.size());
}

void RecordKeys::derive() {
  auto key = expand_label(secret_, "key", 16);
  auto iv = expand_label(secret_, "iv", static_cast<std::uint8_t>(iv_.size()));
  std::copy_n(iv.begin(), iv_.size(), iv_.begin());
  sequence_ = 0;
  const bool is_set = context_ && EVP_CipherInit_ex(context_.get(), EVP_aes_128_gcm(), nullptr, key.data(), nullptr,
                                                    is_sealing_ ? 1 : 0) == 1;
  OPENSSL_cleanse(key.data(), key.size());
  OPENSSL_cleanse(iv.data(), iv.size());
  if (!is_set) throw Error(Error::Kind::gone, "AES-128-GCM is not available");
}

void RecordKeys::advance() {
  secret_ = expand_label(secret_, "traffic upd", static_cast<std::uint8_t>(secret_.size()));
  derive();
}

/// Sets the nonce of the next record.
bool RecordKeys::begin() {
  auto nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i) nonce[nonce.size() - 1 - i] ^= static_cast<std::uint8_t>(sequence_ >> (8 * i));
  ++sequence_;
  return EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce.data(), -1) == 1;
}

bool RecordKeys::seal(RecordType type, View content, std::uint8_t* out) {
  const auto length = content.size() + 1 + kRecordTag;
  const std::uint8_t head[kRecordHead] = {static_cast<std::uint8_t>(RecordType::data), 3, 3,
                                          static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length)};
  std::memcpy(out, head, sizeof head);
  auto* const context = context_.get();
  auto* const body = out + kRecordHead;
  auto* const end = body + content.size();
  const auto kind = static_cast<std::uint8_t>(type);
  int size = 0;
  return begin() && EVP_EncryptUpdate(context, nullptr, &size, out, kRecordHead) == 1 &&
         (content.empty() ||
          EVP_EncryptUpdate(context, body, &size, content.data(), static_cast<int>(content.size())) == 1) &&
         EVP_EncryptUpdate(context, end, &size, &kind, 1) == 1 && EVP_EncryptFinal_ex(context, end + 1, &size) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kRecordTag, end + 1) == 1;
}

std::optional<RecordKeys::Opened> RecordKeys::open(View record, std::uint8_t* into) {
  if (record.size() < kRecordExtra || record.size() != record_size(record)) return std::nullopt;
  auto* const context = context_.get();
  const auto size = record.size() - kRecordExtra;
  const auto* const body = record.data() + kRecordHead;
  std::array<std::uint8_t, kRecordTag> tag;
  std::copy_n(record.end() - kRecordTag, kRecordTag, tag.begin());
  std::uint8_t type = 0, rest[16];
  int done = 0;
  const bool is_genuine = begin() && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kRecordTag, tag.data()) == 1 &&
                          EVP_DecryptUpdate(context, nullptr, &done, record.data(), kRecordHead) == 1 &&
                          (size == 0 || EVP_DecryptUpdate(context, into, &done, body, static_cast<int>(size)) == 1) &&
                          EVP_DecryptUpdate(context, &type, &done, body + size, 1) == 1 &&
                          EVP_DecryptFinal_ex(context, rest, &done) == 1;
  if (!is_genuine) {
    // It may be memory of the application: nothing that a stranger chose stays there.
    if (size > 0) std::memset(into, 0, size);
    return std::nullopt;
  }
  auto content = size;
  while (type == 0 && content > 0) type = into[--content];  // the padding of others: ours have none
  if (content > kMostContent) return std::nullopt;
  return Opened{static_cast<RecordType>(type), content};
}

std::size_t record_size(View begin) {
  return begin.size() < kRecordHead ? 0 : kRecordHead + (std::size_t{begin[3]} << 8 | begin[4]);
}

bool is_record(View head) {
  const auto size = record_size(head);
  return size >= kRecordExtra && size <= kLongestRecord && head[0] == static_cast<std::uint8_t>(RecordType::data) &&
         head[1] == 3 && head[2] == 3;
}

}  // namespace flexrack::wire
