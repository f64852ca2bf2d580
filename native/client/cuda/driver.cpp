#include "client/cuda/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "client/cuda/replicated_link.h"
#include "client/trace.h"
#include "gen/cuda/revision.h"

namespace flexrack::client::cuda {
namespace {

Servers& servers() {
  static auto& all = *new Servers(cu::kApi, [] { return std::make_unique<CudaServer>(); });
  return all;
}

std::atomic<Process*> opened{nullptr};

/// One of two servers that do the same is reached within that, or away.
constexpr std::chrono::milliseconds kReplicaWithin{1000};

CUcontext make_primary(Device& device) {
  const auto context = new CUctx_st;
  context->server = device.server;
  context->device = &device;
  context->context = context;
  context->is_primary = true;
  return context;
}

bool make_process(const std::vector<std::unique_ptr<Server>>& all) {
  auto made = std::make_unique<Process>();
  std::vector<Device*> devices;
  for (const auto& one : all) {
    if (!one->session) continue;
    auto& server = static_cast<CudaServer&>(*one);
    server.number = made->servers.size();
    made->servers.push_back(&server);
    made->driver_version =
        made->driver_version == 0 ? server.driver_version : std::min(made->driver_version, server.driver_version);
    for (const auto& device : server.devices) devices.push_back(device.get());
  }
  part_pci_places(devices);
  made->devices = visible_devices(devices, std::getenv("CUDA_VISIBLE_DEVICES"));
  if (made->devices.empty()) return !devices.empty();
  for (std::size_t i = 0; i < made->devices.size(); ++i) made->devices[i]->ordinal = static_cast<CUdevice>(i);
  for (auto* device : made->devices) device->primary = make_primary(*device);
  opened.store(made.release(), std::memory_order_release);
  return true;
}

}  // namespace

std::unique_ptr<Session> CudaServer::connect(const wire::Api& api) {
  if (!replica) return Server::connect(api);
  std::vector<ReplicaPlace> places{{lease.node, lease.dial}, {replica->node, replica->dial}};
  for (auto& place : places) place.dial.connect_timeout = kReplicaWithin;
  const ReplicaSettings settings{.stops_at_mismatch = lease.stops_at_mismatch};
  return open_session(
      lease.dial, [&](wire::Receiver& receiver) { return replicate(places, settings, api, receiver); }, notices());
}

std::optional<std::size_t> CudaServer::describe(Session& with) {
  devices.clear();
  if (is_mirrored()) {
    const auto layout = std::random_device{}() | std::uint64_t{1} << 32;
    if (!with.call(cu::Replicate{.layout = layout}, [](const auto&) {})) return std::nullopt;
  }
  const bool is_reported =
      with.call(cu::Describe{.process = static_cast<std::uint64_t>(::getpid())}, [&](const cu::DescribeReply& reply) {
        driver_version = reply.driver_version;
        for (const auto& reported : reply.devices) devices.push_back(take_device(*this, reported));
      });
  return is_reported ? std::optional(devices.size()) : std::nullopt;
}

CUresult open_process() {
  if (is_child()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!opened.load(std::memory_order_acquire)) servers().open(make_process);
  return opened.load(std::memory_order_acquire) ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

Process* process() { return is_child() ? nullptr : opened.load(std::memory_order_acquire); }

Device* device_of(CUdevice ordinal) {
  const auto* known = process();
  return known && ordinal >= 0 && static_cast<std::size_t>(ordinal) < known->devices.size()
             ? known->devices[static_cast<std::size_t>(ordinal)]
             : nullptr;
}

std::uint64_t mint() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace flexrack::client::cuda
