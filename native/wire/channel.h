// One secured connection as a stream of bytes; what it runs over is nobody's business above.
#pragma once

#include <sys/uio.h>

#include <functional>
#include <memory>

#include "wire/socket.h"

namespace flexrack::wire {

class Channel {
 public:
  virtual ~Channel() = default;

  // ---- one reading thread at a time
  static constexpr std::ptrdiff_t kNothing = 0, kEnded = -1;
  /// Takes what is there without waiting: its bytes, kNothing, or kEnded when the other side closed or the connection
  /// broke.
  virtual std::ptrdiff_t read_some(std::span<std::uint8_t> into) = 0;
  /// Fills all of `into`, straight from the socket where it can. False: ended, or keep_waiting said no.
  virtual bool read_all(std::span<std::uint8_t> into) = 0;
  /// True when read_some() has bytes that poll() on fd() does not know of.
  virtual bool has_buffered() const { return false; }

  // ---- one writing thread at a time, beside the reading one
  /// Writes all of it. False: broken, or keep_waiting said no.
  virtual bool write(std::span<const iovec> pieces) = 0;

  // ---- any thread
  /// Readable when read_some() may have something.
  virtual int fd() const = 0;
  /// Ends both directions at once; whoever is inside read or write comes back.
  virtual void shut() = 0;

  /// Asked about twice a second while a read_all or write makes no progress. Set before the first of them.
  std::function<bool()> keep_waiting = [] { return true; };
};

/// The connection as it is.
std::unique_ptr<Channel> make_plain_channel(Socket socket);

bool write_all(Channel& channel, View data);

}  // namespace flexrack::wire
