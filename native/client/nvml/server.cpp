#include "client/nvml/server.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "client/trace.h"
#include "cuda/identity.h"
#include "gen/cuda/messages.h"
#include "gen/cuda/revision.h"
#include "wire/error.h"

namespace flexrack::client::nvml {
namespace {

/// A watcher shows that a device is lost rather than wait for it: less than the lease gives programs that compute.
constexpr auto kGrace = std::chrono::milliseconds(3000);
constexpr auto kConnectWithin = std::chrono::milliseconds(3000);
constexpr auto kTryAgain = std::chrono::seconds(2);

DeviceFacts take(const cu::Device& reported) {
  DeviceFacts facts;
  facts.at = reported.index;
  facts.name = reported.name;
  facts.pci = reported.pci;
  if (reported.uuid.size() == facts.uuid_bytes.size()) std::ranges::copy(reported.uuid, facts.uuid_bytes.begin());
  CUuuid uuid;
  std::memcpy(uuid.bytes, facts.uuid_bytes.data(), sizeof uuid.bytes);
  facts.uuid = flexrack::cuda::uuid_text(uuid);
  for (const auto& one : reported.attributes) facts.attributes[one.which] = one.value;
  for (const auto& one : reported.peers) facts.peers[one.device] = one.can_access != 0;
  return facts;
}

}  // namespace

Server::Server(LeasedServer reported) : lease_(std::move(reported)) {
  lease_.dial.grace = std::min(lease_.dial.grace, kGrace);
  lease_.dial.connect_timeout = kConnectWithin;
}

std::shared_ptr<Session> Server::session() const {
  const std::lock_guard guard(lock_);
  return session_;
}

bool Server::is_alive() const {
  const auto now = session();
  return now && now->is_alive();
}

void Server::reach() {
  if (is_out_ || is_alive() || Clock::now() < next_try_) return;
  try {
    std::shared_ptr<Session> made = open_session(lease_.dial, cu::kApi, *this);
    if (!describe(*made)) return;
    const std::lock_guard guard(lock_);
    session_.swap(made);   // one that is lost ends outside of the lock
  } catch (const wire::Error& error) {
    is_out_ = error.kind() != wire::Error::Kind::unreachable && error.kind() != wire::Error::Kind::gone;
    trace("NVML, server " + lease_.node + ": " + error.what());
  } catch (const std::exception& error) {
    is_out_ = true;
    trace("NVML, server " + lease_.node + ": " + error.what());
  }
  next_try_ = is_alive() ? Clock::time_point{} : Clock::now() + kTryAgain;
}

bool Server::describe(Session& session) {
  std::vector<DeviceFacts> found;
  int version = 0;
  const bool is_reported = session.call(cu::Describe{.process = static_cast<std::uint64_t>(::getpid())},
                                        [&](const cu::DescribeReply& reply) {
                                          version = reply.driver_version;
                                          for (const auto& reported : reply.devices) found.push_back(take(reported));
                                        });
  if (!is_reported) return false;
  if (devices_.empty()) {
    devices_ = std::move(found);
    driver_version_ = version;
    return true;
  }
  // Handles of devices are out already.
  is_out_ = !std::ranges::equal(devices_, found, {}, &DeviceFacts::uuid, &DeviceFacts::uuid);
  return !is_out_;
}

bool Server::ask(std::uint32_t device, Usage& into) const {
  const auto now = session();
  bool is_good = false;
  const auto take = [&](const cu::UsageReply& reply) {
    is_good = reply.status == CUDA_SUCCESS;
    into = {.total = reply.total,
            .used = std::min(reply.used, reply.total),
            .busy = reply.busy,
            .memory_busy = reply.memory_busy,
            .power = reply.power,
            .clock = reply.clock,
            .memory_clock = reply.memory_clock,
            .temperature = reply.temperature,
            .driver = std::string(reply.driver),
            .processes = {}};
    for (const auto& one : reply.processes) into.processes.push_back({one.id, one.memory});
  };
  return now && now->call(cu::Usage{.device = device}, take) && is_good;
}

void Server::close() const {
  if (const auto now = session()) now->link().close();
}

}  // namespace flexrack::client::nvml
