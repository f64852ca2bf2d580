#include "client/opencl/driver.h"

#include <pthread.h>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "client/lease_file.h"
#include "client/opencl/describe.h"
#include "client/opencl/inbox.h"
#include "client/trace.h"

namespace flexrack::client::opencl {
namespace {

constexpr std::uint16_t kApi = 0x1000;  ///< OpenCL's op range, native/spec/opencl.api

/// A leased server. Lives until the process ends: other threads may be inside while static objects go.
struct Server {
  LeasedServer lease;
  Inbox inbox;
  std::unique_ptr<Session> session;
  ServerDescription description;
};

std::mutex opening;
bool is_open = false;           ///< or found impossible
cl_platform_id opened = nullptr;
std::vector<std::unique_ptr<Server>>& servers = *new std::vector<std::unique_ptr<Server>>;
std::atomic<bool> is_ending{false};
std::atomic<bool> is_child{false};

void open_all(const char* path);
void open_one(Server& server);
void become_child();

}  // namespace

cl_platform_id platform() {
  if (is_child.load()) return nullptr;
  const std::lock_guard guard(opening);
  if (is_open) return opened;
  is_open = true;
  const char* path = std::getenv("FLEXRACK_LEASES");
  if (!path || !*path) return nullptr;
  try {
    open_all(path);
  } catch (const std::exception& error) {
    trace(std::string("no leased devices: ") + error.what());
  }
  return opened;
}

bool may_call_back() { return !is_ending.load(); }

namespace {

void open_all(const char* path) {
  for (auto& lease : read_lease_file(path)) {
    servers.push_back(std::make_unique<Server>());
    servers.back()->lease = std::move(lease);
  }
  ::pthread_atfork(nullptr, nullptr, become_child);
  std::vector<std::thread> threads;
  threads.reserve(servers.size());
  for (const auto& server : servers) {
    try {
      threads.emplace_back(open_one, std::ref(*server));
    } catch (const std::system_error&) {  // no more threads to be had: one after the other then
      open_one(*server);
    }
  }
  for (auto& thread : threads) thread.join();
  std::atexit([] { is_ending.store(true); });
  auto made = std::make_unique<_cl_platform_id>();
  std::vector<const ServerDescription*> descriptions;
  for (const auto& server : servers) {
    if (!server->session) continue;
    descriptions.push_back(&server->description);
    add_devices(*made, server->description, *server->session, server->inbox);
  }
  if (made->devices.empty()) return;
  describe_platform(*made, descriptions);
  opened = made.release();
}

void open_one(Server& server) {
  try {
    server.session = open_session(server.lease.dial, kApi, server.inbox);
    if (!describe_server(*server.session, server.description)) server.session.reset();
    trace("server " + server.lease.node + " by " + server.lease.dial.transport + ": " + std::to_string(server.description.devices.size()) + " devices");
  } catch (const std::exception& error) {
    trace("server " + server.lease.node + ": " + error.what());
  }
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
