#include "wire/secrets.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "wire/error.h"

namespace flexrack::wire {

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

bool is_same(View a, View b) { return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

void fill_random(std::span<std::uint8_t> bytes) {
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw Error(Error::Kind::gone, "no random numbers");
}

}  // namespace flexrack::wire
