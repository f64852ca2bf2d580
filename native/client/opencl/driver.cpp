#include "client/opencl/driver.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "client/lease_file.h"
#include "client/opencl/describe.h"
#include "client/opencl/inbox.h"
#include "client/trace.h"
#include "gen/opencl/revision.h"
#include "wire/error.h"

namespace flexrack::client::opencl {
namespace {

using Clock = std::chrono::steady_clock;

// A daemon that is being started again is away for a moment: loaders ask a driver once, so the first call tries for a while.
constexpr auto kAwhile = std::chrono::seconds(3);
constexpr auto kFirstPause = std::chrono::milliseconds(50), kLongestPause = std::chrono::milliseconds(1000);
// And where no server could be reached at all, a program that asks again has them tried again, not more often than this.
constexpr auto kAskedAgain = std::chrono::seconds(2), kSeldom = std::chrono::seconds(30);

/// A leased server. Lives until the process ends: other threads may be inside while static objects go.
struct Server {
  LeasedServer lease;
  Inbox inbox;
  std::unique_ptr<Session> session;
  ServerDescription description;
  bool is_out = false;          ///< for good: it refused
};

std::mutex opening;
bool is_settled = false;        ///< open, or found impossible
cl_platform_id opened = nullptr;
Clock::time_point next_try{};
Clock::duration patience = kAwhile;
Clock::duration next_pause = kAskedAgain;
std::vector<std::unique_ptr<Server>>& servers = *new std::vector<std::unique_ptr<Server>>;
std::atomic<bool> is_ending{false};
std::atomic<bool> is_child{false};

void read_leases(const char* path);
void open_all();
void open_one(Server& server);
bool try_once(Server& server);
void become_child();

}  // namespace

cl_platform_id platform() {
  if (is_child.load()) return nullptr;
  const std::lock_guard guard(opening);
  if (is_settled || Clock::now() < next_try) return opened;
  try {
    const char* path = std::getenv("FLEXRACK_LEASES");
    if (servers.empty() && path && *path) read_leases(path);
    open_all();
  } catch (const std::exception& error) {
    trace(std::string("no leased devices: ") + error.what());
    is_settled = true;
  }
  return opened;
}

bool may_call_back() { return !is_ending.load(); }

namespace {

void read_leases(const char* path) {
  for (auto& lease : read_lease_file(path, cl::kApi.name)) {
    servers.push_back(std::make_unique<Server>());
    servers.back()->lease = std::move(lease);
  }
  ::pthread_atfork(nullptr, nullptr, become_child);
  std::atexit([] { is_ending.store(true); });
}

/// Once there are devices, servers that come back later add none: the application reads its list without a lock of ours.
void open_all() {
  std::vector<std::thread> threads;
  threads.reserve(servers.size());
  for (const auto& server : servers) {
    if (server->is_out) continue;
    try {
      threads.emplace_back(open_one, std::ref(*server));
    } catch (const std::system_error&) {  // no more threads to be had: one after the other then
      open_one(*server);
    }
  }
  for (auto& thread : threads) thread.join();
  auto made = std::make_unique<_cl_platform_id>();
  std::vector<const ServerDescription*> descriptions;
  for (const auto& server : servers) {
    if (!server->session) continue;
    descriptions.push_back(&server->description);
    add_devices(*made, server->description, *server->session, server->inbox);
  }
  is_settled = !made->devices.empty() || std::all_of(servers.begin(), servers.end(), [](const auto& server) { return server->is_out || server->session; });
  patience = {};  // whoever asks again is not kept waiting again
  next_try = Clock::now() + next_pause;
  next_pause = std::min<Clock::duration>(next_pause * 2, kSeldom);
  if (made->devices.empty()) return;
  describe_platform(*made, descriptions);
  opened = made.release();
}

void open_one(Server& server) {
  const auto end = Clock::now() + patience;
  for (auto pause = kFirstPause; !server.is_out && !try_once(server) && Clock::now() + pause < end; pause = std::min(pause * 2, kLongestPause)) {
    std::this_thread::sleep_for(pause);
  }
}

bool try_once(Server& server) {
  try {
    server.description = {};
    server.session = open_session(server.lease.dial, cl::kApi, server.inbox);
    if (!describe_server(*server.session, server.description)) server.session.reset();
    trace("server " + server.lease.node + " by " + server.lease.dial.transport + ": " + std::to_string(server.description.devices.size()) + " devices");
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

/// A goodbye, so that the server gives everything back at once instead of waiting for us. As late as can be, after the program's own exit handlers
/// and static objects, which may still use devices. What we hold stays: threads may run on.
[[gnu::destructor]] void close_all() {
  if (is_child.load()) return;
  for (const auto& server : servers) {
    if (server->session) server->session->link().close();
  }
}

/// Sockets are shared with the parent, locks may be held by threads that are not here: nothing of ours may be used.
void become_child() {
  is_child.store(true);
  forget_slots();
}

}  // namespace
}  // namespace flexrack::client::opencl
