// Sockets as a link needs them: made, tuned, and read and written under a deadline while there is no link yet.
#pragma once

#include <chrono>
#include <string>

#include "wire/frame.h"

namespace flexrack::wire {

/// Owns a descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();

 private:
  int fd_ = -1;
};

/// Connects over TCP; the first of the name's addresses that answers. Throws Error{unreachable}.
Socket connect_tcp(const std::string& host, std::uint16_t port, std::chrono::milliseconds deadline);
/// Connects to a Unix socket by its path. Throws Error{unreachable}.
Socket connect_unix(const std::string& path, std::chrono::milliseconds deadline);

/// No delay, and no blocking call longer than half a second, so that whoever is stuck can look whether it is worth
/// waiting.
void tune(int fd);
/// For a bulk connection: buffers that hold what is on its way.
void tune_for_bulk(int fd);
/// True for a Unix socket or one whose other end is on this host by its address.
bool is_local(int fd);

/// Exactly that many bytes, within that time. Throws Error: unreachable (too late), gone.
void read_within(int fd, std::span<std::uint8_t> into, std::chrono::milliseconds deadline);
/// All of it within that time; false when it could not be.
bool write_within(int fd, View data, std::chrono::milliseconds deadline);

}  // namespace flexrack::wire
