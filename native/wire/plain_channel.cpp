#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <vector>

#include "wire/channel.h"

namespace flexrack::wire {
namespace {

class PlainChannel final : public Channel {
 public:
  explicit PlainChannel(Socket socket) : socket_(std::move(socket)) { tune(socket_.fd()); }

  std::ptrdiff_t read_some(std::span<std::uint8_t> into) override {
    while (true) {
      const auto got = recv(socket_.fd(), into.data(), into.size(), MSG_DONTWAIT);
      if (got > 0) return got;
      if (got == 0) return kEnded;
      if (errno == EAGAIN) return kNothing;
      if (errno != EINTR) return kEnded;
    }
  }

  bool read_all(std::span<std::uint8_t> into) override {
    while (!into.empty()) {
      // The socket's timeout (half a second, see tune()) brings even a silent one back.
      const auto got = recv(socket_.fd(), into.data(), into.size(), MSG_WAITALL);
      if (got > 0) {
        into = into.subspan(static_cast<std::size_t>(got));
      } else if (got == 0 || (errno != EAGAIN && errno != EINTR) || !keep_waiting()) {
        return false;
      }
    }
    return true;
  }

  bool write(std::span<const iovec> pieces) override {
    std::vector<iovec> left(pieces.begin(), pieces.end());
    std::size_t first = 0;
    while (first < left.size()) {
      msghdr message{};
      message.msg_iov = left.data() + first;
      message.msg_iovlen = std::min<std::size_t>(left.size() - first, 64);
      auto sent = sendmsg(socket_.fd(), &message, MSG_NOSIGNAL);
      if (sent < 0) {
        if ((errno == EAGAIN && keep_waiting()) || errno == EINTR) continue;
        return false;
      }
      while (first < left.size() && static_cast<std::size_t>(sent) >= left[first].iov_len)
        sent -= static_cast<std::ptrdiff_t>(left[first++].iov_len);
      if (first < left.size()) {
        left[first].iov_base = static_cast<std::uint8_t*>(left[first].iov_base) + sent;
        left[first].iov_len -= static_cast<std::size_t>(sent);
      }
    }
    return true;
  }

  int fd() const override { return socket_.fd(); }
  void shut() override { shutdown(socket_.fd(), SHUT_RDWR); }

 private:
  Socket socket_;
};

}  // namespace

std::unique_ptr<Channel> make_plain_channel(Socket socket) { return std::make_unique<PlainChannel>(std::move(socket)); }

bool write_all(Channel& channel, View data) {
  const iovec one{const_cast<std::uint8_t*>(data.data()), data.size()};
  return channel.write({&one, 1});
}

}  // namespace flexrack::wire
