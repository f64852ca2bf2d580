#include "backend/opencl/engine.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace flexrack::backend::opencl {
namespace {

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// For tests of the path for devices with memory of their own, on one that has none.
bool is_unified(cl_device_id device) {
  return !std::getenv("FLEXRACK_TEST_DISCRETE") && device_value<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY, 0);
}

}  // namespace

std::uint64_t Usage::launched() {
  if (busy_since_.load(std::memory_order_relaxed) == 0) busy_since_.store(now(), std::memory_order_relaxed);
  return launches_.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t Usage::completed(std::uint64_t number) {
  const auto at = now();
  const auto is_idle = number >= launches_.load(std::memory_order_relaxed);
  const auto since = busy_since_.exchange(is_idle ? 0 : at, std::memory_order_relaxed);
  return since == 0 ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(0, at - since));
}

Engine::Engine(wire::Link& to, Peers& others, Grant& grant)
    : link(to), peers(to, others), notices(to), account(std::make_shared<Account>(grant)), grant_(&grant) {
  const auto all = native_devices();
  for (std::size_t i = 0; i < grant.devices().size(); ++i) {
    const auto& granted = grant.devices()[i];
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const NativeDevice& one) { return one.id == granted.native_id; });
    if (found == all.end())
      throw std::runtime_error("OpenCL device " + granted.native_id + " is not on this machine any more");
    Device device;
    device.native = *found;
    const auto known = std::find(platforms.begin(), platforms.end(), found->platform);
    device.platform = static_cast<std::uint32_t>(known - platforms.begin());
    if (known == platforms.end()) platforms.push_back(found->platform);
    device.memory = granted.memory;
    device.largest =
        std::min(granted.memory, device_value<cl_ulong>(found->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, granted.memory));
    device.is_unified = is_unified(found->device);
    device.is_time_sliced = grant.is_time_sliced(i);
    const auto index = next_device++;
    device.index = device.share = index;
    devices.emplace(index, std::make_shared<const Device>(std::move(device)));
  }
}

bool Account::charge(std::size_t device, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  return grant_ && grant_->charge(device, bytes);
}

void Account::refund(std::size_t device, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  if (grant_) grant_->refund(device, bytes);
}

void Account::finished(std::size_t device, std::uint64_t nanoseconds, std::uint64_t by_events) {
  const std::lock_guard guard(lock_);
  if (!grant_) return;
  grant_->finished(device, nanoseconds);
  if (by_events > 0) grant_->took(device, by_events);
}

void Account::close() {
  const std::lock_guard guard(lock_);
  grant_ = nullptr;
}

std::shared_ptr<const Device> Engine::device(std::uint32_t index) const {
  const auto found = devices.find(index);
  return found == devices.end() ? nullptr : found->second;
}

void Engine::leave() {
  grant_.store(nullptr);
  account->close();
}

void Engine::admit(std::size_t device, std::function<void()> admitted) {
  if (auto* grant = grant_.load()) grant->admit(device, std::move(admitted));
}

void Engine::finished(std::size_t device, std::uint64_t nanoseconds) {
  if (auto* grant = grant_.load()) grant->finished(device, nanoseconds);
}

}  // namespace flexrack::backend::opencl
