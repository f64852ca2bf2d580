#include "lease_keeper/successor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

#include "wire/accept.h"
#include "wire/error.h"
#include "wire/json.h"
#include "wire/keeper_stream.h"

namespace flexrack::lease_keeper {
namespace {

constexpr int kSuccessorLook = 100;  // milliseconds

void ping_until(wire::Channel& channel, const std::atomic<bool>& is_over) {
  auto pinged = std::chrono::steady_clock::time_point{};
  while (!is_over) {
    const auto now = std::chrono::steady_clock::now();
    if (now - pinged >= wire::kKeeperPingEvery) {
      pinged = now;
      if (!wire::write_all(channel, {&wire::kKeeperPing, 1})) return;
    }
    pollfd wait{channel.fd(), POLLIN, 0};
    if (!channel.has_buffered()) poll(&wait, 1, kSuccessorLook);
    std::array<std::uint8_t, 64> bytes{};
    if (channel.read_some(bytes) == wire::Channel::kEnded) return;
  }
}

}  // namespace

bool Successor::hold(const std::string& file) {
  if (server_ && file == file_) return true;  // asked once more, over another connection
  give_up();
  try {
    auto servers = client::parse_lease_file(file);
    if (servers.size() != 1) return false;
    auto channel = std::shared_ptr<wire::Channel>(wire::dial_keeper(servers.front().dial));
    is_over_ = gives_back_ = false;
    holding_ = std::thread([this, channel] {
      ping_until(*channel, is_over_);
      if (gives_back_) wire::write_all(*channel, {&wire::kKeeperGoodbye, 1});
    });
    server_ = std::move(servers.front());
    file_ = file;
    return true;
  } catch (const std::exception&) { return false; }
}

void Successor::end(bool gives_back) {
  gives_back_ = gives_back;
  is_over_ = true;
  if (holding_.joinable()) holding_.join();
  server_.reset();
}

client::LeasedServer Successor::take_place() {
  auto server = std::move(*server_);
  end(false);
  return server;
}

void replace_in_lease_file(const std::string& path, const std::string& lease, const std::string& successor) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto file = wire::Json::parse(text), next = wire::Json::parse(successor);
  if (!file || !next) return;
  wire::Json::List servers;
  for (const auto& server : (*file)["servers"].list())
    servers.push_back(server["lease"].text() == lease ? (*next)["servers"].list().front() : server);
  auto changed = *file;
  changed.set("servers", std::move(servers));
  const auto written = changed.write() + "\n";
  const auto beside = path + ".moved";
  const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  const bool is_written = ::write(fd, written.data(), written.size()) == static_cast<ssize_t>(written.size());
  ::close(fd);
  if (!is_written || std::rename(beside.c_str(), path.c_str()) != 0) ::unlink(beside.c_str());
}

}  // namespace flexrack::lease_keeper
