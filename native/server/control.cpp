#include "server/control.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace flexrack::server {
namespace {

constexpr std::size_t kLargestMessage = 128 * 1024;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

}  // namespace

std::pair<Descriptor, Descriptor> make_control_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail_with_errno("socketpair");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor listen_control(const std::string& path) {
  const auto address = address_of(path);
  Descriptor fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(path.c_str());
  if (!fd.is_open() || bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0600) != 0 || listen(fd.get(), 4) != 0) {
    fail_with_errno(path);
  }
  return fd;
}

Descriptor accept_control(int listening) {
  Descriptor fd(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  ucred who{};
  socklen_t size = sizeof who;
  if (fd.is_open() && (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()))
    fd.reset();
  return fd;
}

Descriptor connect_control(const std::string& path) {
  const auto address = address_of(path);
  Descriptor fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (fd.is_open() && connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

bool send_control(int fd, const wire::Json& body, int connection) {
  const std::string text = body.write();
  iovec piece{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  if (connection >= 0) {
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    auto* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &connection, sizeof connection);
  }
  for (;;) {
    const auto sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    return sent == static_cast<ssize_t>(text.size());
  }
}

ControlRead receive_control(int fd, ControlMessage& message) {
  static thread_local std::vector<char> buffer(kLargestMessage);
  iovec piece{buffer.data(), buffer.size()};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 4)> space{};
  header.msg_control = space.data();
  header.msg_controllen = space.size();
  ssize_t got = 0;
  do got = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? ControlRead::nothing : ControlRead::gone;

  message.connection.reset();
  for (auto* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const auto count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int connection = -1;
      std::memcpy(&connection, CMSG_DATA(part) + i * sizeof(int), sizeof connection);
      message.connection.reset(connection);
    }
  }
  if (got == 0 || (header.msg_flags & MSG_TRUNC) != 0) return ControlRead::gone;
  auto body = wire::Json::parse({buffer.data(), static_cast<std::size_t>(got)});
  if (!body || !body->is_members()) return ControlRead::gone;
  message.body = std::move(*body);
  return ControlRead::message;
}

}  // namespace flexrack::server
