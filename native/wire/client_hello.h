// The first message of a TLS client, looked at before anything is done for it: does its sender have the key?
#pragma once

#include <string_view>

#include "wire/secrets.h"

namespace flexrack::wire {

inline constexpr std::size_t kLongestClientHello = 4096;  ///< ours have about 300 bytes

enum class HelloCheck {
  more,    ///< it is not all there yet
  proved,  ///< its sender had the key when it was made: it may be one that was recorded
  wrong,   ///< no ClientHello of ours, or made with another key
};

/// `bytes`: what has come so far, the ClientHello in one record first. `binder`, of one that is proved, is different
/// each time that a client makes one. Nothing is decided for good here: the handshake itself still proves that the
/// sender has the key now.
HelloCheck check_client_hello(View bytes, std::string_view identity, const Digest& key, Digest& binder);

}  // namespace flexrack::wire
