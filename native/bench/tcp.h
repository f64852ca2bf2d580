// What any remote call pays on a link: the round trip of one byte and the bandwidth of a stream, over TCP and nothing
// else.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace flexrack::bench {

/// What one without the key at the port does not have. Both ends read it from standard input, so that `ps` never shows
/// it.
using Key = std::array<char, 32>;

/// The key of 64 hex digits in the next line of standard input. Throws std::runtime_error.
Key read_key();

/// Answers the one who has the key, on a free port of `address`, which is printed; over when they go, when standard
/// input ends, or after ten minutes. Throws std::runtime_error.
void serve_tcp(const std::string& address, const Key& key);

/// Prints rtt_us, stream_GBps (there) and stream_from_GBps (back), measured against such an end. Throws
/// std::runtime_error.
void measure_tcp(const std::string& address, const std::string& port, const Key& key);

/// The same with both ends on this machine, over loopback.
void measure_loopback();

}  // namespace flexrack::bench
