#include "client/nvml/watch.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "client/nvml/guard.h"
#include "client/trace.h"
#include "cuda/identity.h"
#include "cuda/own_tables.h"

/// What a handle points to: its place in an array that is always there says which device it is.
struct nvmlDevice_st {};

namespace flexrack::client::nvml {
namespace {

/// Between answers about a device that are asked for together: a watcher shows ten numbers and asks ten times.
constexpr auto kMoment = std::chrono::milliseconds(50);
constexpr std::size_t kMostDevices = 4096;
nvmlDevice_st handles[kMostDevices];

struct Watch {
  std::mutex reaching;
  std::vector<std::unique_ptr<Server>> servers;
  bool has_read = false;
  std::vector<std::unique_ptr<Device>> devices;   ///< written once, before has_devices
  std::atomic<bool> has_devices{false};
  int driver_version = 0;
};

// Never destroyed: other threads may be inside while static objects go.
std::atomic<Watch*> the_watch{nullptr};
std::mutex& watch_lock = *new std::mutex;
std::atomic<int> initialised{0};

/// Sockets are shared with the parent, locks may be held by threads that are not here: what is there is left as it is,
/// and nothing of it used.
void become_child() {
  new (&watch_lock) std::mutex;
  the_watch.store(nullptr);
}

/// A goodbye, so that the servers need not wait for us.
[[gnu::destructor]] void close_all() {
  if (auto* watch = the_watch.load()) {
    for (const auto& server : watch->servers) server->close();
  }
}

Watch& watch() {
  const std::lock_guard guard(watch_lock);
  auto* found = the_watch.load();
  if (!found) {
    static const bool is_registered = ::pthread_atfork(nullptr, nullptr, become_child) == 0;
    if (!is_registered) throw std::bad_alloc();
    the_watch.store(found = new Watch);
  }
  return *found;
}

void read_leases(Watch& all) {
  const char* path = std::getenv("FLEXRACK_LEASES");
  if (all.has_read || !path || !*path) return;
  try {
    for (auto& lease : read_lease_file(path, "cuda")) all.servers.push_back(std::make_unique<Server>(std::move(lease)));
    all.has_read = true;
  } catch (const std::runtime_error& error) { trace(std::string("NVML, no leased devices: ") + error.what()); }
}

void reach_all(const Watch& all) {
  std::vector<std::thread> threads;
  for (const auto& server : all.servers) {
    if (server->is_alive()) continue;
    const auto reach = [at = server.get()] { at->reach(); };
    try {
      threads.emplace_back(reach);
    } catch (const std::system_error&) {  // no more threads to be had: one after the other then
      reach();
    }
  }
  for (auto& thread : threads) thread.join();
}

void list_devices(Watch& all) {
  flexrack::cuda::PciPlaces places;
  for (const auto& server : all.servers) {
    for (const auto& facts : server->devices()) {
      if (all.devices.size() == kMostDevices) break;
      auto device = std::make_unique<Device>();
      device->facts = facts;
      device->server = server.get();
      device->index = static_cast<unsigned>(all.devices.size());
      places.take(device->facts.pci);
      all.devices.push_back(std::move(device));
    }
    if (server->devices().empty()) continue;
    const auto version = server->driver_version();
    all.driver_version = all.driver_version == 0 ? version : std::min(all.driver_version, version);
  }
  // From now on there are these: an application keeps their indexes and handles.
  if (!all.devices.empty()) all.has_devices.store(true, std::memory_order_release);
}

/// Our driver of CUDA, where this process has loaded it: what it has freed is on its way in another session than ours.
const flexrack::cuda::ClientTable* cuda_here() {
  static std::atomic<const flexrack::cuda::ClientTable*> table{nullptr};
  if (const auto* known = table.load(std::memory_order_acquire)) return known;
  // Not loaded for this: a program that only looks has no use for it. Once it is there it stays.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return nullptr;
  const auto tables = reinterpret_cast<decltype(&::cuGetExportTable)>(dlsym(library, "cuGetExportTable"));
  const auto* found = flexrack::cuda::find_table<flexrack::cuda::ClientTable>(tables);
  if (found) table.store(found, std::memory_order_release);
  else dlclose(library);   // somebody else's driver
  return found;
}

Watch& reached() {
  auto& all = watch();
  const std::lock_guard guard(all.reaching);
  read_leases(all);
  reach_all(all);
  if (!all.has_devices.load()) list_devices(all);
  return all;
}

}  // namespace

nvmlReturn_t refused() noexcept { return is_initialised() ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_UNINITIALIZED; }

nvmlReturn_t initialise(bool needs_devices) {
  if (!reached().has_devices && needs_devices) return NVML_ERROR_DRIVER_NOT_LOADED;
  initialised.fetch_add(1);
  return NVML_SUCCESS;
}

nvmlReturn_t shut_down() {
  auto count = initialised.load();
  while (count > 0) {
    if (initialised.compare_exchange_weak(count, count - 1)) return NVML_SUCCESS;
  }
  return NVML_ERROR_UNINITIALIZED;
}

bool is_initialised() { return initialised.load(std::memory_order_relaxed) > 0; }

const std::vector<std::unique_ptr<Device>>& devices() {
  static const auto& none = *new std::vector<std::unique_ptr<Device>>;
  auto* all = the_watch.load();
  if (!all && is_initialised()) all = &reached();
  return all && all->has_devices.load(std::memory_order_acquire) ? all->devices : none;
}

int driver_version() { return devices().empty() ? 0 : watch().driver_version; }

nvmlDevice_t handle_of(const Device& device) { return &handles[device.index]; }

const Device* device_of(nvmlDevice_t handle) {
  const auto& all = devices();
  if (std::less<>{}(handle, std::begin(handles)) || !std::less<>{}(handle, std::end(handles))) return nullptr;
  const auto found = static_cast<std::size_t>(handle - handles);
  return found < all.size() ? all[found].get() : nullptr;
}

nvmlReturn_t Device::usage(Usage& into, bool is_fresh) const {
  {
    const std::lock_guard guard(lock_);
    if (!is_fresh && std::chrono::steady_clock::now() - requested_ < kMoment) {
      into = last_;
      return NVML_SUCCESS;
    }
  }
  const auto ask = [&] { return server->ask(facts.at, into); };
  const auto* cuda = is_fresh ? cuda_here() : nullptr;
  bool is_reported = true;
  if (cuda) {
    // CUDA waits for a server that is away as long as the lease allows: asked first whether it answers, nobody waits
    // here longer than a watcher does.
    is_reported = ask();
    CUuuid uuid;
    std::memcpy(uuid.bytes, facts.uuid_bytes.data(), sizeof uuid.bytes);
    if (is_reported) cuda->settle(uuid);
  }
  if (!is_reported || !ask()) return server->is_alive() ? NVML_ERROR_UNKNOWN : NVML_ERROR_GPU_IS_LOST;
  const std::lock_guard guard(lock_);
  last_ = into;
  requested_ = std::chrono::steady_clock::now();
  return NVML_SUCCESS;
}

nvmlReturn_t give_text(std::string_view text, char* into, unsigned length) {
  if (!into) return NVML_ERROR_INVALID_ARGUMENT;
  if (length <= text.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(into, text.data(), text.size());
  into[text.size()] = '\0';
  return NVML_SUCCESS;
}

}  // namespace flexrack::client::nvml
