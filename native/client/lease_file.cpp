#include "client/lease_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "wire/json.h"
#include "wire/server_entry.h"

namespace flexrack::client {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;
constexpr std::size_t kMostServers = 256;

std::string read_all(int fd) {
  std::string text;
  char part[4096];
  for (;;) {
    const auto got = ::read(fd, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > kLargestFile) throw std::runtime_error("the lease file is too large");
  }
}

/// auto, or no word of it: shared memory where the daemon is on this host.
std::string resolve_transport(const wire::Json& entry) {
  auto wish = entry["transport"].text();
  if (const char* forced = std::getenv("FLEXRACK_TRANSPORT"); forced && *forced) wish = forced;
  if (!wish.empty() && wish != "auto") return wish;
  return wire::is_on_this_host(entry) ? "shm" : "tls";
}

LeasedServer read_server(const wire::Json& entry, std::chrono::milliseconds grace) {
  LeasedServer server;
  server.node = entry["node"].text();
  server.api = entry["api"].text().empty() ? "opencl" : entry["api"].text();  // before there were two, nobody wrote it
  auto& dial = server.dial;
  if (!wire::read_server_entry(entry, dial))
    throw std::runtime_error("the lease file has a server without an address, lease or key");
  dial.grace = grace;
  dial.transport = resolve_transport(entry);
  for (const auto& device : entry["devices"].list()) {
    server.devices.push_back({device["name"].text(), static_cast<std::uint64_t>(device["memory"].integer())});
  }
  return server;
}

}  // namespace

std::vector<LeasedServer> read_lease_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
  struct stat about{};
  const bool is_private = ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & 077) == 0 &&
                          (about.st_uid == ::geteuid() || about.st_uid == ::getuid());
  std::string text;
  try {
    if (is_private) text = read_all(fd);
  } catch (...) {
    ::close(fd);
    throw;
  }
  ::close(fd);
  if (!is_private) throw std::runtime_error(path + ": holds keys and must be this user's alone (mode 0600)");
  return parse_lease_file(text);
}

std::vector<LeasedServer> read_lease_file(const std::string& path, std::string_view api) {
  auto servers = read_lease_file(path);
  std::erase_if(servers, [&](const auto& server) { return server.api != api; });
  return servers;
}

std::vector<LeasedServer> parse_lease_file(const std::string& text) {
  const auto file = wire::Json::parse(text);
  if (!file || !file->is_members()) throw std::runtime_error("the lease file is not JSON");
  if ((*file)["version"].integer() != 1) throw std::runtime_error("the lease file is of another version");
  const auto seconds = (*file)["grace_seconds"].integer(30);
  if (seconds < 0 || seconds > 24 * 3600) throw std::runtime_error("the lease file has an impossible grace time");
  const auto& entries = (*file)["servers"].list();
  if (entries.size() > kMostServers) throw std::runtime_error("the lease file has too many servers");
  const auto& mirror = (*file)["mirror"];
  const auto policy = mirror["on_mismatch"].text();
  if (mirror.is_members() && policy != "stop" && policy != "primary")
    throw std::runtime_error("the lease file says nothing known of what follows where its servers differ");
  std::vector<LeasedServer> servers;
  for (const auto& entry : entries) servers.push_back(read_server(entry, std::chrono::seconds(seconds)));
  for (auto& server : servers) {
    server.is_mirrored = mirror.is_members();
    server.stops_at_mismatch = policy != "primary";
  }
  if (mirror.is_members() && servers.size() != 2)
    throw std::runtime_error("the lease file has another number of servers than two that do the same");
  return servers;
}

}  // namespace flexrack::client
