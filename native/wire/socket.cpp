#include "wire/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "wire/error.h"

namespace flexrack::wire {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_left(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(0, left));
}

/// Waits for the descriptor; false when the time is over.
bool wait_for(int fd, short events, Clock::time_point end) {
  while (true) {
    pollfd one{fd, events, 0};
    const int ready = poll(&one, 1, milliseconds_left(end) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (Clock::now() >= end) return false;
  }
}

/// 0, or the errno why not.
int connect_within(int fd, const sockaddr* address, socklen_t length, Clock::time_point end) {
  const int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  if (connect(fd, address, length) != 0) {
    if (errno != EINPROGRESS && errno != EAGAIN) return errno;
    if (!wait_for(fd, POLLOUT, end)) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error;
  }
  fcntl(fd, F_SETFL, flags);
  return 0;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

int Socket::release() { return std::exchange(fd_, -1); }

Socket connect_tcp(const std::string& host, std::uint16_t port, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) throw Error(Error::Kind::unreachable, host + ": " + gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  int error = 0;
  for (auto* at = addresses.get(); at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) continue;
    error = connect_within(socket.fd(), at->ai_addr, at->ai_addrlen, end);
    if (error == 0) return socket;
  }
  throw Error(Error::Kind::unreachable, host + ":" + std::to_string(port) + ": " + std::strerror(error));
}

Socket connect_unix(const std::string& path, std::chrono::milliseconds deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Error(Error::Kind::unreachable, path + ": too long for a Unix socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int error = socket ? connect_within(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address,
                                            Clock::now() + deadline)
                           : errno;
  if (error != 0) throw Error(Error::Kind::unreachable, path + ": " + std::strerror(error));
  return socket;
}

void tune(int fd) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);  // fails on a Unix socket, which has no delay
  const timeval half_second{0, 500'000};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &half_second, sizeof half_second);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &half_second, sizeof half_second);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void tune_for_bulk(int fd) {
  // A fixed size switches the kernel's own tuning off, so only Unix sockets, which have none, get one.
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0 || address.ss_family != AF_UNIX) return;
  const int size = 1 << 20;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

bool is_local(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
  if (address.ss_family == AF_UNIX) return true;
  if (address.ss_family == AF_INET)
    return (ntohl(reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
  if (address.ss_family != AF_INET6) return false;
  const auto& six = reinterpret_cast<sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

void read_within(int fd, std::span<std::uint8_t> into, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  while (!into.empty()) {
    if (!wait_for(fd, POLLIN, end)) throw Error(Error::Kind::unreachable, "no answer in time");
    const auto got = recv(fd, into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) {
      into = into.subspan(static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      throw Error(Error::Kind::gone, "the connection ended");
    }
  }
}

bool write_within(int fd, View data, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  while (!data.empty()) {
    const auto sent = send(fd, data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      data = data.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(fd, POLLOUT, end)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace flexrack::wire
