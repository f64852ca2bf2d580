#include "wire/proof.h"

#include <iterator>

#include "wire/bytes_of.h"
#include "wire/client_hello.h"

namespace flexrack::wire {
namespace {

/// A fatal alert of TLS, in the clear, as OpenSSL would send it: an honest client with another key learns that it need
/// not try again.
constexpr std::uint8_t kDecryptError[] = {21, 3, 3, 0, 2, 2, 51};

}  // namespace

Digest proof_of(std::string_view role, View preamble, View client_nonce, View server_nonce, View key) {
  return authenticate(key, {bytes_of_text(role), preamble, client_nonce, server_nonce});
}

TlsIdentity tls_identity(const Preamble& preamble, View key) {
  return {to_hex(preamble.lease), authenticate(key, {bytes_of_text("flexrack tls 1.3"), encode_preamble(preamble)})};
}

Proving::Proving(const Preamble& preamble, View key)
    : preamble_(preamble), key_(key.begin(), key.end()), identity_(tls_identity(preamble, key)) {}

std::size_t Proving::room() const {
  return (preamble_.transport == Transport::tls ? kLongestClientHello : sizeof(Digest)) - have_.size();
}

Proving::State Proving::feed(View bytes, Bytes& reply) {
  have_.insert(have_.end(), bytes.begin(), bytes.end());
  if (preamble_.transport == Transport::tls) {
    const auto found = check_client_hello(have_, identity_.name, identity_.key, mark_);
    if (found == HelloCheck::proved) return State::proved;
    if (found == HelloCheck::more && room() > 0) return State::more;
    reply.assign(std::begin(kDecryptError), std::end(kDecryptError));
    return State::wrong;
  }
  if (room() > 0) return State::more;
  if (is_challenged_) {
    fill_random(mark_);  // made for this connection: there is no other like it
    return is_same(have_, expected_) ? State::proved : State::wrong;
  }
  ServerProof mine;
  fill_random(mine.nonce);
  const auto preamble = encode_preamble(preamble_);
  mine.proof = proof_of("flexrack server", preamble, have_, mine.nonce, key_);
  expected_ = proof_of("flexrack client", preamble, have_, mine.nonce, key_);
  const auto* raw = reinterpret_cast<const std::uint8_t*>(&mine);
  reply.assign(raw, raw + sizeof mine);
  is_challenged_ = true;
  have_.clear();
  return State::more;
}

}  // namespace flexrack::wire
