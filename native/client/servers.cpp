#include "client/servers.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>
#include <system_error>
#include <thread>

#include "client/slab.h"
#include "client/trace.h"
#include "wire/error.h"

namespace flexrack::client {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(50), kLongestPause = std::chrono::milliseconds(1000);
// Where no server could be reached at all, a program that asks again has them tried again, less and less often.
constexpr auto kSeldom = std::chrono::seconds(30);

std::atomic<bool> the_end{false};
std::atomic<bool> forked{false};
/// Of all servers of this process. Never destroyed.
std::vector<const Server*>& all_servers = *new std::vector<const Server*>;
std::mutex& all_servers_lock = *new std::mutex;

/// Sockets are shared with the parent, locks may be held by threads that are not here: nothing of ours may be used.
void become_child() {
  forked.store(true);
  forget_slots();
}

/// A goodbye, so that the server gives everything back at once instead of waiting for us. As late as can be, after the
/// program's own exit handlers and static objects, which may still use devices. What we hold stays: threads may run on.
[[gnu::destructor]] void close_all() {
  if (forked.load()) return;
  const std::lock_guard guard(all_servers_lock);
  for (const auto* server : all_servers) {
    if (server->session) server->session->link().close();
  }
}

}  // namespace

bool is_ending() { return the_end.load(); }

bool is_child() { return forked.load(); }

/// Who only looks is served by either of two that do the same.
std::unique_ptr<Session> Server::connect(const wire::Api& api) {
  try {
    return open_session(lease.dial, api, notices());
  } catch (const wire::Error&) {
    if (!replica) throw;
    return open_session(replica->dial, api, notices());
  }
}

void Servers::open(const Use& use) {
  if (forked.load()) return;
  const std::lock_guard guard(opening_);
  if (is_settled_ || Clock::now() < next_try_) return;
  try {
    const char* path = std::getenv("FLEXRACK_LEASES");
    if (servers_.empty() && path && *path) read_leases(path);
    open_all();
    // Once there are devices, servers that come back later add none: the application reads its list without a lock of
    // ours.
    is_settled_ = use(servers_) || std::all_of(servers_.begin(), servers_.end(),
                                               [](const auto& server) { return server->is_out || server->session; });
  } catch (const std::exception& error) {
    trace(std::string("no leased devices: ") + error.what());
    is_settled_ = true;
  }
}

void Servers::read_leases(const char* path) {
  for (auto& lease : read_lease_file(path, api_.name)) {
    if (lease.is_mirrored && !servers_.empty()) {
      servers_.back()->replica = std::move(lease);
      continue;
    }
    servers_.push_back(make_());
    servers_.back()->lease = std::move(lease);
    const std::lock_guard guard(all_servers_lock);
    all_servers.push_back(servers_.back().get());
  }
  ::pthread_atfork(nullptr, nullptr, become_child);
  std::atexit([] { the_end.store(true); });
}

void Servers::open_all() {
  std::vector<std::thread> threads;
  threads.reserve(servers_.size());
  for (const auto& server : servers_) {
    if (server->is_out || server->session) continue;
    try {
      threads.emplace_back([this, at = server.get()] { open_one(*at); });
    } catch (const std::system_error&) {  // no more threads to be had: one after the other then
      open_one(*server);
    }
  }
  for (auto& thread : threads) thread.join();
  patience_ = {};  // whoever asks again is not kept waiting again
  next_try_ = Clock::now() + next_pause_;
  next_pause_ = std::min<Clock::duration>(next_pause_ * 2, kSeldom);
}

void Servers::open_one(Server& server) const {
  const auto end = Clock::now() + patience_;
  for (auto pause = kFirstPause; !server.is_out && !try_once(server) && Clock::now() + pause < end;
       pause = std::min(pause * 2, kLongestPause)) {
    std::this_thread::sleep_for(pause);
  }
}

bool Servers::try_once(Server& server) const {
  try {
    server.session = server.connect(api_);
    const auto devices = server.describe(*server.session);
    if (!devices) server.session.reset();
    trace("server " + server.lease.node + " by " + server.lease.dial.transport + ": " +
          std::to_string(devices.value_or(0)) + " devices");
  } catch (const wire::Error& error) {
    // Refused is refused; who does not answer may be back in a moment.
    server.is_out = error.kind() != wire::Error::Kind::unreachable && error.kind() != wire::Error::Kind::gone;
    trace("server " + server.lease.node + ": " + error.what());
  } catch (const std::exception& error) {
    server.is_out = true;
    trace("server " + server.lease.node + ": " + error.what());
  }
  return server.session != nullptr;
}

}  // namespace flexrack::client
