// Both ends of a link in one process: a tiny server that accepts and attaches as a broker and a worker would.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "wire/accept.h"
#include "wire/codec.h"
#include "wire/error.h"

namespace flexrack::test {

using namespace flexrack::wire;

/// What both ends speak here.
inline constexpr Api kToy{"toy", 0x1000, 0x7000000000000000};

/// A listening TCP socket on loopback, and a Unix one beside it.
struct Listener {
  Socket socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Socket local{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::uint16_t port = 0;
  std::string path;
  Listener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(socket.fd(), reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(socket.fd(), 64) != 0)
      throw std::runtime_error("cannot listen");
    getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length);
    port = ntohs(address.sin_port);
    char folder[] = "/tmp/flexrack-wire-XXXXXX";
    if (mkdtemp(folder) == nullptr) throw std::runtime_error("no folder for a socket");
    path = std::string(folder) + "/socket";
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    if (bind(local.fd(), reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 || listen(local.fd(), 64) != 0)
      throw std::runtime_error("cannot listen");
  }
  Listener(const Listener&) = delete;
  ~Listener() {
    unlink(path.c_str());
    rmdir(path.substr(0, path.rfind('/')).c_str());
  }
  /// -1 once close() was called.
  int accept_one() {
    pollfd both[2] = {{socket.fd(), POLLIN, 0}, {local.fd(), POLLIN, 0}};
    while (poll(both, 2, -1) < 0) continue;
    return ::accept4(both[0].revents != 0 ? socket.fd() : local.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  }
  void close() { shutdown(socket.fd(), SHUT_RDWR); }
};

/// Receives by functions.
struct Ear : Receiver {
  std::function<void(const Header&, View)> frame = [](const Header&, View) {};
  std::mutex lock;
  std::condition_variable changed;
  std::string over;
  int overs = 0;
  void on_frame(const Header& header, View body) override { frame(header, body); }
  void on_over(std::string_view why) override {
    const std::lock_guard guard(lock);
    over = why;
    ++overs;
    changed.notify_all();
  }
  /// Waits for the end and says why.
  std::string wait_over() {
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return overs > 0; });
    return over;
  }
};

/// A server of one lease: every session gets a link whose frames go to `frame`.
class Server {
 public:
  using Frame = std::function<void(Link&, const Header&, View)>;
  Server(Bytes key, Limits limits, Frame frame, Listener* listener = nullptr, Api api = kToy)
      : key_(std::move(key)),
        limits_(limits),
        frame_(std::move(frame)),
        api_(api),
        listener_(listener != nullptr ? *listener : own_),
        acceptor_([this] { accept(); }) {}
  ~Server() {
    listener_.close();
    acceptor_.join();
    for (auto& thread : handlers_) thread.join();
    for (auto& [id, session] : sessions_) {
      session->link->close();
      if (session->runner.joinable()) session->runner.join();
    }
  }
  std::uint16_t port() const { return listener_.port; }
  const std::string& path() const { return listener_.path; }
  struct Session {
    Ear ear;
    std::unique_ptr<ServerLink> link;
    std::thread runner;
  };
  /// The first session, once it is there.
  Session& session() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return !sessions_.empty(); });
    return *sessions_.begin()->second;
  }
  std::size_t count() {
    const std::lock_guard guard(lock_);
    return sessions_.size();
  }
  std::vector<std::string> refused() {
    const std::lock_guard guard(lock_);
    return refused_;
  }
  /// Ends every connection there is, whatever it runs over, as if something between had.
  std::size_t cut() {
    const std::lock_guard guard(lock_);
    std::size_t count = 0;
    for (const auto& [fd, inode] : taken_)
      if (inode_of(fd) == inode && shutdown(fd, SHUT_RDWR) == 0) ++count;
    taken_.clear();
    return count;
  }
  std::string wait_refused() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return !refused_.empty(); });
    return refused_.back();
  }

 private:
  static ino_t inode_of(int fd) {
    struct stat about{};
    return fstat(fd, &about) == 0 ? about.st_ino : 0;
  }
  void accept() {
    for (int fd; (fd = listener_.accept_one()) >= 0;) handlers_.emplace_back([this, fd] { handle(fd); });
  }
  void handle(int fd) {
    {
      const std::lock_guard guard(lock_);
      taken_.emplace_back(fd, inode_of(fd));
    }
    try {
      Preamble preamble;
      {
        Socket socket(fd);
        preamble = read_preamble(fd, std::chrono::seconds(5));
        (void)socket.release();
      }
      if (preamble.is_resume()) {
        std::unique_lock guard(lock_);
        const auto found = sessions_.find(preamble.session);
        guard.unlock();
        if (found != sessions_.end()) return found->second->link->attach(fd, preamble);
        Socket socket(fd);
        answer(fd, Turned::unknown_session, "no such session");
        throw Error(Error::Kind::refused, "unknown session");
      }
      auto session = std::make_unique<Session>();
      auto& made = *session;
      made.ear.frame = [this, &made](const Header& header, View body) { frame_(*made.link, header, body); };
      made.link = accept_session(fd, preamble, key_, limits_, api_, made.ear);
      made.runner = std::thread([&made] { made.link->run(); });
      const std::lock_guard guard(lock_);
      sessions_[preamble.session] = std::move(session);
      changed_.notify_all();
    } catch (const Error& error) {
      const std::lock_guard guard(lock_);
      refused_.push_back(error.what());
      changed_.notify_all();
    }
  }

  const Bytes key_;
  const Limits limits_;
  const Frame frame_;
  const Api api_;
  Listener own_;
  Listener& listener_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::map<Id, std::unique_ptr<Session>> sessions_;
  std::vector<std::string> refused_;
  std::vector<std::pair<int, ino_t>> taken_;  ///< connections; the number may be another's by now
  std::vector<std::thread> handlers_;
  std::thread acceptor_;
};

inline Bytes some_key(std::uint8_t first = 1) {
  Bytes key(32, 7);
  key[0] = first;
  return key;
}

inline Dial dial_to(std::uint16_t port, const Bytes& key, const std::string& transport = "tcp") {
  Dial to;
  to.address = "127.0.0.1";
  to.port = port;
  to.transport = transport;
  to.lease = "00112233445566778899aabbccddeeff";
  to.key = key;
  return to;
}

inline Dial dial_to(const Server& server, const std::string& transport) {
  auto to = dial_to(server.port(), some_key(), transport);
  to.unix_path = server.path();
  return to;
}

/// Bytes that differ everywhere, so that a chunk in the wrong place shows.
inline Bytes pattern(std::size_t size, std::uint64_t seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>((i * 2654435761u + seed * 97) >> 7);
  return bytes;
}

}  // namespace flexrack::test
