// From an open socket to a channel whose other end has proved that it holds the lease's key.
#pragma once

#include "wire/api.h"
#include "wire/channel.h"
#include "wire/preamble.h"
#include "wire/proof.h"

namespace flexrack::wire {

/// What each side tells the other first inside the protected stream. `size` lets later versions add fields at the end.
struct Hello {
  std::uint32_t size = sizeof(Hello);
  std::uint16_t version = kVersion;
  ConnectionKind kind = ConnectionKind::command;
  Transport transport = Transport::tls;
  std::uint64_t features = 0;
  Id session{};
  std::uint64_t peer = 0;
  std::uint64_t received_frames = 0;  ///< the last command frame this side has; the other goes on after it
  std::uint64_t received_chunks = 0;  ///< likewise on the bulk path
  std::uint64_t early_credit = 0;     ///< bytes of payloads that this side stores before it knows where they go
  std::uint32_t api = 0;              ///< its first op
  std::uint32_t maximum_body = kMaximumBody;
  std::uint64_t revision = 0;         ///< of the API's messages
  std::array<char, 8> api_name{};

  void speak(const Api& with);
  /// Its name is a view into this.
  Api speaks() const;
};
static_assert(sizeof(Hello) == 88);
inline constexpr std::size_t kLeastHello = 72;  ///< without revision and name: of builds before them

/// Client's part: writes the preamble, reads the answer, proves the key. Throws Error.
std::unique_ptr<Channel> secure_as_client(Socket socket, const Preamble& preamble, View key,
                                          std::chrono::milliseconds deadline);
/// Server's part, after read_preamble: answers it and proves the key, as far as that has not been begun. Throws Error.
std::unique_ptr<Channel> secure_as_server(Socket socket, const Preamble& preamble, View key,
                                          std::chrono::milliseconds deadline, const Begun& begun = {});
/// Server's part where nothing comes of it: the client is told why in the answer, or in the place of a hello where that
/// has been given. Throws Error.
void turn_away(Socket socket, const Preamble& preamble, View key, std::chrono::milliseconds deadline,
               const Begun& begun, Turned turned, std::string_view text);

void write_hello(Channel& channel, const Hello& hello);
/// Throws Error: gone, malformed, or untrusted when it is not about the connection that the preamble opened.
Hello read_hello(Channel& channel, const Preamble& preamble, std::chrono::milliseconds deadline);

}  // namespace flexrack::wire
