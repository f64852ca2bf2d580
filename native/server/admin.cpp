#include "server/admin.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace flexrack::server {

struct AdminSocket::Line {
  Descriptor connection;
  std::string incoming, outgoing;
  bool is_busy = false;    ///< an answer is awaited: the next request waits
  bool is_last = false;    ///< nothing more is read; closed when all is written
  bool is_gone = false;
};

AdminSocket::AdminSocket(Loop& loop, Log& log, AdminOperations& operations)
    : loop_(loop), log_(log), operations_(operations) {}

void AdminSocket::listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + " is too long for a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  listener_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(path.c_str());
  if (!listener_.is_open() || bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0600) != 0 || ::listen(listener_.get(), 16) != 0) {
    throw std::runtime_error(path + ": " + std::strerror(errno));
  }
  loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { take(); });
}

void AdminSocket::close() {
  loop_.forget(listener_.get());
  listener_.reset();
  while (!lines_.empty()) {
    const auto line = lines_.begin()->second;
    send(line->connection.get(), line->outgoing.data(), line->outgoing.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    drop(line);
  }
}

void AdminSocket::take() {
  auto line = std::make_shared<Line>();
  line->connection.reset(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ucred who{};
  socklen_t size = sizeof who;
  if (!line->connection.is_open() || getsockopt(line->connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return;
  if (who.uid != geteuid() && who.uid != 0)
    return log_.refused("another user at the admin socket", "uid " + std::to_string(who.uid));
  if (lines_.size() >= kMostConnections)
    return log_.refused("too many admin connections", "pid " + std::to_string(who.pid));
  lines_[line->connection.get()] = line;
  arm(line);
}

void AdminSocket::read_from(const std::shared_ptr<Line>& line) {
  std::array<char, 16384> bytes{};
  const auto got = recv(line->connection.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return drop(line);
  if (got == 0) line->is_last = true;
  line->incoming.append(bytes.data(), static_cast<std::size_t>(got));
  next_request(line);
}

void AdminSocket::next_request(const std::shared_ptr<Line>& line) {
  while (!line->is_busy && !line->is_gone) {
    const auto end = line->incoming.find('\n');
    if (end == std::string::npos) break;
    const auto request = wire::Json::parse(std::string_view(line->incoming).substr(0, end));
    line->incoming.erase(0, end + 1);
    line->is_busy = true;
    const auto respond = [this, line](const wire::Json& body) {
      answer(line, body);
      line->is_busy = false;
      // Through the loop: answers that come at once would nest a call a request.
      loop_.post([this, line] { next_request(line); });
    };
    if (!request || !request->is_members()) {
      respond(AdminOperations::error("malformed", "a request is one JSON object a line"));
    } else {
      operations_.carry_out(*request, respond);
    }
  }
  if (line->is_gone) return;
  if (!line->is_busy && line->incoming.size() > kLongestLine) {
    line->incoming.clear();
    line->is_last = true;
    answer(line, AdminOperations::error("malformed", "a line is at most 64 KiB"));
  }
  if (line->is_last && !line->is_busy && line->outgoing.empty()) return drop(line);
  arm(line);
}

void AdminSocket::answer(const std::shared_ptr<Line>& line, const wire::Json& body) {
  if (line->is_gone) return;
  line->outgoing += body.write() + "\n";
  write_to(line);
}

void AdminSocket::write_to(const std::shared_ptr<Line>& line) {
  while (!line->outgoing.empty()) {
    const auto sent =
        send(line->connection.get(), line->outgoing.data(), line->outgoing.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return drop(line);
    if (sent < 0) break;
    line->outgoing.erase(0, static_cast<std::size_t>(sent));
  }
  if (line->is_last && !line->is_busy && line->outgoing.empty()) return drop(line);
  arm(line);
}

void AdminSocket::arm(const std::shared_ptr<Line>& line) {
  // Not read while an answer is awaited or cannot be sent: the other side waits, and its requests stay with it.
  const bool reads = !line->is_last && !line->is_busy && line->outgoing.empty();
  const std::uint32_t events = (reads ? EPOLLIN : 0U) | (line->outgoing.empty() ? 0U : EPOLLOUT);
  loop_.watch(line->connection.get(), events, [this, line](std::uint32_t happened) {
    if ((happened & EPOLLOUT) != 0) return write_to(line);
    if ((happened & EPOLLIN) != 0) return read_from(line);
    if ((happened & (EPOLLHUP | EPOLLERR)) != 0) drop(line);
  });
}

void AdminSocket::drop(const std::shared_ptr<Line>& line) {
  if (line->is_gone) return;
  line->is_gone = true;
  loop_.forget(line->connection.get());
  lines_.erase(line->connection.get());
  line->connection.reset();
}

}  // namespace flexrack::server
