#include "server/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "wire/error.h"
#include "wire/socket.h"

namespace flexrack::server {
namespace {

constexpr int kBacklog = 4096;    // one that is full costs whoever comes then a second, until its system asks again
constexpr int kTakenAtOnce = 32;  // so that a flood at the listener does not keep the loop from everything else

std::string problem(const std::string& what) { return what + ": " + std::strerror(errno); }

std::string address_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "gone";
  if (address.ss_family == AF_UNIX) return "unix";
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown";
  }
  const std::string name = host.data();
  return (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + port.data();
}

std::string origin_of_peer(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? origin_of(address) : "already gone";
}

/// Unproven connections have a share of the descriptors: whoever is in needs some too.
std::size_t share_of_descriptors(std::size_t most) {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min<std::size_t>(most, limit.rlim_cur / 4) : most;
}

}  // namespace

Listener::Listener(Loop& loop, Log& log, Judge judge, std::function<void(PendingConnection)> enter)
    : loop_(loop),
      log_(log),
      judge_(std::move(judge)),
      enter_(std::move(enter)),
      most_(share_of_descriptors(kMostUnproven)) {}

std::uint16_t Listener::listen_tcp(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    throw std::runtime_error(address + " is no IP address");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  Descriptor fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (found->ai_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  if (!fd.is_open() || bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || listen(fd.get(), kBacklog) != 0) {
    throw std::runtime_error(problem("cannot listen on " + address + " port " + std::to_string(port)));
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  add_listening(std::move(fd));
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

void Listener::listen_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + " is too long for a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(path.c_str());
  if (!fd.is_open() || bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0600) != 0 || listen(fd.get(), kBacklog) != 0) {
    throw std::runtime_error(problem(path));
  }
  add_listening(std::move(fd));
}

void Listener::close() {
  for (const auto& listening : listening_) loop_.forget(listening.get());
  listening_.clear();
  while (!unproven_.empty()) drop(unproven_.begin()->first, {});
}

void Listener::add_listening(Descriptor listening) {
  const int fd = listening.get();
  listening_.push_back(std::move(listening));
  // After those who are here and have something to say: a new one may take their place.
  loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { loop_.post([this, fd] { take(fd); }); });
}

void Listener::take(int listening) {
  const auto is_open = [&] {
    return std::any_of(listening_.begin(), listening_.end(), [&](const auto& have) { return have.get() == listening; });
  };
  if (!is_open()) return;
  for (int i = 0; i < kTakenAtOnce; ++i) {
    Descriptor connection(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.is_open()) {
      if (unproven_.size() >= most_) make_room();
      welcome(std::move(connection));
      continue;
    }
    // Out of descriptors: the connection stays in the backlog and the loop would spin on it.
    if ((errno == EMFILE || errno == ENFILE) && !make_room()) {
      loop_.forget(listening);
      loop_.after(std::chrono::milliseconds(200), [this, listening, is_open] {
        if (is_open())
          loop_.watch(listening, EPOLLIN,
                      [this, listening](std::uint32_t) { loop_.post([this, listening] { take(listening); }); });
      });
    }
    return;
  }
}

/// False: nobody is there who could go.
bool Listener::make_room() {
  const auto fd = fair_eviction_.oldest_of_the_most();
  if (fd) drop(*fd, "others came while it proved nothing");
  return fd.has_value();
}

void Listener::welcome(Descriptor connection) {
  const int fd = connection.get();
  auto unproven = std::make_unique<Unproven>();
  unproven->pending.address = address_of(fd);
  unproven->pending.connection = std::move(connection);
  unproven->timer = loop_.after(kPatience, [this, fd] {
    drop(fd, unproven_.at(fd)->proving ? "proved nothing for 5 s" : "said nothing for 5 s");
  });
  unproven_[fd] = std::move(unproven);
  fair_eviction_.add(fd, origin_of_peer(fd));
  loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { read_from(fd); });
}

void Listener::read_from(int fd) {
  auto& unproven = *unproven_.at(fd);
  unproven.proving ? read_proof(unproven) : read_preamble(unproven);
}

void Listener::read_preamble(Unproven& unproven) {
  auto& pending = unproven.pending;
  const int fd = pending.connection.get();
  const auto got = recv(fd, unproven.bytes.data() + unproven.have, unproven.bytes.size() - unproven.have, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // Somebody who only looks whether the port is open is no event.
  if (got <= 0) return drop(fd, unproven.have == 0 ? "" : "left in the middle of its first bytes");
  unproven.have += static_cast<std::size_t>(got);
  if (unproven.have < unproven.bytes.size()) return;

  try {
    pending.preamble = wire::decode_preamble(unproven.bytes);
  } catch (const wire::Error& error) { return drop(fd, error.what()); }
  pending.is_local = wire::is_local(fd);
  if (pending.address == "unix") {
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) pending.client_pid = who.pid;
  }
  const auto key = judge_(pending);
  if (!key || !wire::answer(fd, wire::Turned::no)) return drop(fd, "");
  unproven.proving = std::make_unique<wire::Proving>(pending.preamble, *key);
}

void Listener::read_proof(Unproven& unproven) {
  auto& pending = unproven.pending;
  const int fd = pending.connection.get();
  std::array<std::uint8_t, 4096> some;
  const auto got = recv(fd, some.data(), std::min(some.size(), unproven.proving->room()), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // Who looks whether the daemon of a lease is here says no more than that.
  if (got <= 0) return drop(fd, unproven.proving->has_begun() ? "left before it proved the lease's key" : "");
  wire::Bytes reply;
  const auto state = unproven.proving->feed({some.data(), static_cast<std::size_t>(got)}, reply);
  // A few bytes into a buffer that is empty: who does not take them has not read our answer either.
  const bool is_sent = reply.empty() || send(fd, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
                                            static_cast<ssize_t>(reply.size());
  if (state == wire::Proving::State::wrong || !is_sent) return drop(fd, "has not proved the lease's key");
  if (state == wire::Proving::State::more) return;
  auto proved = std::move(pending);
  proved.begun = unproven.proving->take();
  proved.mark = unproven.proving->mark();
  drop(fd, "");
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  enter_(std::move(proved));
}

/// Forgets it, and closes it unless its connection was taken.
void Listener::drop(int fd, std::string_view why) {
  const auto found = unproven_.find(fd);
  if (found == unproven_.end()) return;
  const auto& pending = found->second->pending;
  const bool has_said = found->second->have == wire::kPreambleSize;
  if (!why.empty())
    log_.refused(why, pending.address + (has_said ? " lease " + wire::to_hex(pending.preamble.lease) : ""));
  loop_.cancel(found->second->timer);
  loop_.forget(fd);
  fair_eviction_.remove(fd);
  unproven_.erase(found);
}

void turn_away(Log& log, const PendingConnection& pending, wire::Turned turned, std::string_view why) {
  log.refused(why, pending.address + " lease " + wire::to_hex(pending.preamble.lease));
  wire::answer(pending.connection.get(), turned, why);
}

}  // namespace flexrack::server
