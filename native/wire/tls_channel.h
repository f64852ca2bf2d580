// A connection inside TLS 1.3 whose two ends know each other by a pre-shared key and nothing else.
#pragma once

#include <chrono>
#include <string>

#include "wire/channel.h"
#include "wire/secrets.h"

namespace flexrack::wire {

struct TlsIdentity {
  std::string name;  ///< sent in the clear
  Digest key;        ///< never sent
};

/// Records under one key, after which its sender takes the next: RFC 8446, 5.5 allows 2^24.5 full ones.
inline constexpr std::uint64_t kRekeyAfter = 1 << 24;

/// Does the handshake (ECDHE with the key: neither a stolen key nor a recorded connection opens the other). Throws
/// Error: untrusted where the other end has another key or name, unreachable when it takes too long, gone. `read`: what
/// has been read of it already.
std::unique_ptr<Channel> make_tls_channel(Socket socket, const TlsIdentity& identity, bool is_server,
                                          std::chrono::milliseconds deadline, View read = {},
                                          std::uint64_t rekey_after = kRekeyAfter);

}  // namespace flexrack::wire
