// How a client proves a lease's key to a server, from the server's side, without waiting for it: whoever has one thread
// for all unproven connections can do this.
#pragma once

#include "wire/preamble.h"
#include "wire/secrets.h"
#include "wire/tls_channel.h"

namespace flexrack::wire {

/// The server's challenge and its own proof, on connections without TLS.
struct ServerProof {
  std::array<std::uint8_t, 32> nonce;
  Digest proof;
};

/// Over both sides' random numbers and the preamble, so that neither a recorded proof nor one for another connection is
/// worth anything.
Digest proof_of(std::string_view role, View preamble, View client_nonce, View server_nonce, View key);
/// The key of a TLS connection depends on its preamble: one that was changed on its way opens nothing.
TlsIdentity tls_identity(const Preamble& preamble, View key);

/// How far somebody else has come with a connection before it is secured.
struct Begun {
  bool is_answered = false;  ///< the preamble; and without TLS, both sides have proved the key
  Bytes read;  ///< of the handshake of TLS
};

/// The client's part of the proof, as it comes in after the preamble was answered. Of TLS it is the first message,
/// which can have been recorded: `mark` tells one from another. Without TLS it is all of it.
class Proving {
 public:
  Proving(const Preamble& preamble, View key);

  enum class State { more, proved, wrong };
  /// So many bytes may be read for it now; never any that belong to what follows the proof.
  std::size_t room() const;
  /// Takes what was read. `reply`: what is to be sent for it.
  State feed(View bytes, Bytes& reply);
  bool has_begun() const { return is_challenged_ || !have_.empty(); }
  /// Once it is proved.
  const Digest& mark() const { return mark_; }
  Begun take() { return {true, preamble_.transport == Transport::tls ? std::move(have_) : Bytes()}; }

 private:
  Preamble preamble_;
  Bytes key_;
  TlsIdentity identity_;
  Bytes have_;
  Digest expected_{}, mark_{};
  bool is_challenged_ = false;
};

}  // namespace flexrack::wire
