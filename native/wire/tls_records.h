// Records of TLS 1.3 (RFC 8446, section 5) with AES-128-GCM, from where the bytes are to where they belong: OpenSSL's
// own records copy every byte once more on each side. The handshake, its keys and the cipher are OpenSSL's.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <optional>

#include "wire/secrets.h"

namespace flexrack::wire {

inline constexpr std::size_t kRecordHead = 5;
inline constexpr std::size_t kRecordTag = 16;
inline constexpr std::size_t kMostContent = 16 * 1024;
/// What a record has beside its content: head, the type behind the content, tag.
inline constexpr std::size_t kRecordExtra = kRecordHead + 1 + kRecordTag;
inline constexpr std::size_t kFullRecord = kMostContent + kRecordExtra;
inline constexpr std::size_t kLongestRecord = kRecordHead + kMostContent + 256;  ///< RFC 8446, 5.2: with its padding

enum class RecordType : std::uint8_t { alert = 21, handshake = 22, data = 23 };

/// The keys of one direction, made of its traffic secret.
class RecordKeys {
 public:
  /// Throws Error{gone} where the cipher is not there.
  RecordKeys(const Digest& secret, bool is_sealing);
  ~RecordKeys();
  RecordKeys(const RecordKeys&) = delete;
  /// Those that follow (RFC 8446, 7.2); records are counted anew.
  void advance();
  std::uint64_t records() const { return sequence_; }

  /// Writes content.size() + kRecordExtra bytes to `out`. Content is at most kMostContent. False: the cipher failed.
  bool seal(RecordType type, View content, std::uint8_t* out);

  struct Opened {
    RecordType type;
    std::size_t size;  ///< of the content
  };
  /// `record` is one whole record, whose content and padding go to `into`: record.size() - kRecordExtra bytes, all of
  /// them zero where it was not made with these keys, which is told by nothing.
  std::optional<Opened> open(View record, std::uint8_t* into);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  void derive();
  bool begin();

  const bool is_sealing_;
  Digest secret_;
  std::array<std::uint8_t, 12> iv_{};
  std::uint64_t sequence_ = 0;
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

/// Bytes of the record that begins there, its head included; 0 where that is not known yet.
std::size_t record_size(View begin);
/// False: no record of encrypted TLS 1.3 begins so, or it is too long to be one.
bool is_record(View head);

}  // namespace flexrack::wire
