#include "bench/tcp.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/answer.h"
#include "bench/rounds.h"

namespace flexrack::bench {
namespace {

constexpr std::size_t kStream = 64u << 20;
constexpr int kTrips = 20000, kStreams = 9;
constexpr unsigned kLongest = 600;   ///< seconds that an end waits to be used
constexpr int kKeyWithin = 5;        ///< seconds for one without the key to show the key

/// One byte says what follows: it comes back; a bulk, which is answered by a byte; or nothing, and a bulk comes back.
enum Word : char { kTrip = 1, kTake = 2, kGive = 3 };

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

  /// False where the other side is gone.
  bool get(char* at, std::size_t left) const {
    while (left > 0) {
      const auto got = recv(fd_, at, left, 0);
      if (got <= 0) return false;
      at += got, left -= static_cast<std::size_t>(got);
    }
    return true;
  }
  bool put(const char* at, std::size_t left) const {
    while (left > 0) {
      const auto done = send(fd_, at, left, MSG_NOSIGNAL);
      if (done <= 0) return false;
      at += done, left -= static_cast<std::size_t>(done);
    }
    return true;
  }
  void without_delay() const {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

 private:
  int fd_;
};

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& address, const char* port, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  const auto code = getaddrinfo(address.c_str(), port, &wanted, &found);
  if (code != 0) throw std::runtime_error(address + ": " + gai_strerror(code));
  return {found, freeaddrinfo};
}

Socket listen_on(const std::string& address) {
  const auto found = resolve(address, "0", AI_PASSIVE | AI_NUMERICHOST);
  Socket listener(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.fd() < 0 || bind(listener.fd(), found->ai_addr, found->ai_addrlen) != 0 || listen(listener.fd(), 4) != 0)
    fail(address);
  return listener;
}

std::string port_of(const Socket& listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char port[8] = "";
  if (getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
  const auto code =
      getnameinfo(reinterpret_cast<sockaddr*>(&address), size, nullptr, 0, port, sizeof port, NI_NUMERICSERV);
  if (code != 0) throw std::runtime_error(gai_strerror(code));
  return port;
}

Socket connect_to(const std::string& address, const std::string& port) {
  const auto found = resolve(address, port.c_str(), 0);
  Socket peer(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (peer.fd() < 0 || connect(peer.fd(), found->ai_addr, found->ai_addrlen) != 0) fail(address + " port " + port);
  peer.without_delay();
  return peer;
}

bool has_key(const Socket& peer, const Key& key) {
  const timeval patience{kKeyWithin, 0};
  setsockopt(peer.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  Key shown{};
  if (!peer.get(shown.data(), shown.size())) return false;
  char difference = 0;
  for (std::size_t i = 0; i < key.size(); i++) difference = static_cast<char>(difference | (shown[i] ^ key[i]));
  const timeval none{};
  setsockopt(peer.fd(), SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
  return difference == 0;
}

void answer(const Socket& peer) {
  peer.without_delay();
  std::vector<char> data(kStream, 1);
  for (char word = 0; peer.get(&word, 1);) {
    if (word == kTrip && !peer.put(&word, 1)) return;
    if (word == kTake && (!peer.get(data.data(), kStream) || !peer.put(&word, 1))) return;
    if (word == kGive && !peer.put(data.data(), kStream)) return;
  }
}

void ask(const Socket& peer) {
  std::vector<char> data(kStream, 1);
  const auto need = [](bool is_there) {
    if (!is_there) throw std::runtime_error("the other end of the link has gone");
  };
  const auto say = [&](char word) { need(peer.put(&word, 1)); };
  char back = 0;
  const auto trip = [&] { say(kTrip), need(peer.get(&back, 1)); };
  const auto there = [&] { say(kTake), need(peer.put(data.data(), kStream)), need(peer.get(&back, 1)); };
  const auto here = [&] { say(kGive), need(peer.get(data.data(), kStream)); };
  tell("rtt_us", 1e6 * per_call(kTrips, 1, trip));
  tell("stream_GBps", kStream / per_call(kStreams, 1, there) / 1e9);
  tell("stream_from_GBps", kStream / per_call(kStreams, 1, here) / 1e9);
}

}  // namespace

Key read_key() {
  char line[80] = "";
  const bool is_key = std::fgets(line, sizeof line, stdin) && std::strspn(line, "0123456789abcdef") == 2 * sizeof(Key);
  if (!is_key) throw std::runtime_error("no key of 64 hex digits on standard input");
  Key key{};
  for (std::size_t i = 0; i < key.size(); i++) {
    unsigned byte = 0;
    std::sscanf(line + 2 * i, "%2x", &byte);
    key[i] = static_cast<char>(byte);
  }
  return key;
}

void serve_tcp(const std::string& address, const Key& key) {
  alarm(kLongest);   // nobody is left who could end this
  const auto listener = listen_on(address);
  tell("port", std::stod(port_of(listener)));
  for (;;) {
    pollfd either[] = {{listener.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (poll(either, 2, -1) < 0) continue;
    if (either[1].revents != 0) return;
    const Socket peer(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer.fd() >= 0 && has_key(peer, key)) return answer(peer);
  }
}

void measure_tcp(const std::string& address, const std::string& port, const Key& key) {
  const auto peer = connect_to(address, port);
  if (!peer.put(key.data(), key.size())) fail(address);
  ask(peer);
}

void measure_loopback() {
  const auto listener = listen_on("127.0.0.1");
  const auto child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    const Socket peer(accept(listener.fd(), nullptr, nullptr));
    if (peer.fd() >= 0) answer(peer);
    _exit(0);
  }
  {
    const auto peer = connect_to("127.0.0.1", port_of(listener));
    ask(peer);
  }
  waitpid(child, nullptr, 0);
}

}  // namespace flexrack::bench
