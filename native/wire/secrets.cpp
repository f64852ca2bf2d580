#include "wire/secrets.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <memory>

#include "wire/error.h"

namespace flexrack::wire {
namespace {
constexpr int kGcmNonce = 12, kGcmTag = 16;  ///< bytes of AES-GCM's (NIST SP 800-38D)
}  // namespace

Digest authenticate(View key, std::initializer_list<View> parts) {
  Bytes message;
  for (const auto part : parts) message.insert(message.end(), part.begin(), part.end());
  Digest digest{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), message.data(), message.size(), digest.data(),
           &size) == nullptr ||
      size != digest.size())
    throw Error(Error::Kind::gone, "HMAC-SHA256 is not available");
  return digest;
}

Bytes seal(View key, std::initializer_list<View> purpose, View text) {
  const auto derived = authenticate(key, purpose);
  Bytes sealed(kGcmNonce + text.size() + kGcmTag);
  fill_random(std::span(sealed).first(kGcmNonce));
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> cipher(EVP_CIPHER_CTX_new(),
                                                                               EVP_CIPHER_CTX_free);
  auto* const out = sealed.data() + kGcmNonce;
  int written = 0, rest = 0;
  if (!cipher || EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, derived.data(), sealed.data()) != 1 ||
      EVP_EncryptUpdate(cipher.get(), out, &written, text.data(), static_cast<int>(text.size())) != 1 ||
      EVP_EncryptFinal_ex(cipher.get(), out + written, &rest) != 1 ||
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kGcmTag, out + text.size()) != 1)
    throw Error(Error::Kind::gone, "AES-256-GCM is not available");
  return sealed;
}

std::optional<Bytes> unseal(View key, std::initializer_list<View> purpose, View sealed) {
  if (sealed.size() < kGcmNonce + kGcmTag || sealed.size() > kMaximumBody) return std::nullopt;
  const auto derived = authenticate(key, purpose);
  const auto inner = sealed.subspan(kGcmNonce, sealed.size() - kGcmNonce - kGcmTag);
  Bytes text(inner.size()), proof(sealed.end() - kGcmTag, sealed.end());
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> cipher(EVP_CIPHER_CTX_new(),
                                                                               EVP_CIPHER_CTX_free);
  int written = 0, rest = 0;
  if (!cipher || EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, derived.data(), sealed.data()) != 1 ||
      EVP_DecryptUpdate(cipher.get(), text.data(), &written, inner.data(), static_cast<int>(inner.size())) != 1 ||
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kGcmTag, proof.data()) != 1 ||
      EVP_DecryptFinal_ex(cipher.get(), text.data() + written, &rest) != 1)
    return std::nullopt;
  return text;
}

bool is_same(View a, View b) { return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

void fill_random(std::span<std::uint8_t> bytes) {
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw Error(Error::Kind::gone, "no random numbers");
}

}  // namespace flexrack::wire
