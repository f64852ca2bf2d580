// Events of leased devices: there is one kind, that of a device whose server is lost.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "client/nvml/watch.h"
#include "gen/nvml/client_functions.h"

struct nvmlEventSet_st {
  struct Registration {
    nvmlDevice_t device = nullptr;
    bool is_told = false;   ///< that it is lost
  };
  std::vector<Registration> registrations;
};

namespace flexrack::client::nvml {
namespace {

/// What NVIDIA's driver reports where a GPU cannot be reached any more: "GPU has fallen off the bus" ("Xid Errors",
/// docs.nvidia.com/deploy/xid-errors).
constexpr unsigned long long kFallenOffTheBus = 79;
constexpr unsigned long long kToldTypes = nvmlEventTypeXidCriticalError;
/// A loss is certain after seconds only, and one who asks has no lock or thread that a child after fork() would miss.
constexpr auto kLookEvery = std::chrono::milliseconds(100);

struct Sets {
  std::mutex lock;
  std::vector<std::unique_ptr<nvmlEventSet_st>> all;
};

// Never destroyed: other threads may be inside while static objects go.
Sets& sets() {
  static auto& kept = *new Sets;
  return kept;
}

/// With the lock held; null: it is none of ours, or freed.
nvmlEventSet_st* find(Sets& in, nvmlEventSet_t set) {
  const auto found = std::ranges::find(in.all, set, &std::unique_ptr<nvmlEventSet_st>::get);
  return found == in.all.end() ? nullptr : found->get();
}

bool take_loss(nvmlEventSet_st& set, nvmlEventData_t& into) {
  for (auto& one : set.registrations) {
    const auto* device = device_of(one.device);
    if (!device || device->server->is_alive()) {
      one.is_told = false;   // reached again by a later nvmlInit, it can be lost again
      continue;
    }
    if (std::exchange(one.is_told, true)) continue;
    into = {};
    into.device = one.device, into.eventType = nvmlEventTypeXidCriticalError, into.eventData = kFallenOffTheBus;
    into.gpuInstanceId = into.computeInstanceId = kNoInstance;
    return true;
  }
  return false;
}

nvmlReturn_t wait(nvmlEventSet_t set, unsigned timeout, nvmlEventData_t& into) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  for (;;) {
    if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
    {
      auto& kept = sets();
      const std::lock_guard guard(kept.lock);
      auto* const found = find(kept, set);
      if (!found) return NVML_ERROR_INVALID_ARGUMENT;
      if (take_loss(*found, into)) return NVML_SUCCESS;
    }
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return NVML_ERROR_TIMEOUT;
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(left, kLookEvery));
  }
}

}  // namespace

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* eventTypes) {
  return with(device, eventTypes, [&](const Device&) { return *eventTypes = kToldTypes, NVML_SUCCESS; });
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  if (!set) return NVML_ERROR_INVALID_ARGUMENT;
  auto& kept = sets();
  const std::lock_guard guard(kept.lock);
  *set = kept.all.emplace_back(std::make_unique<nvmlEventSet_st>()).get();
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long eventTypes, nvmlEventSet_t set) {
  return with(device, set, [&](const Device&) {
    auto& kept = sets();
    const std::lock_guard guard(kept.lock);
    auto* const found = find(kept, set);
    if (!found) return NVML_ERROR_INVALID_ARGUMENT;
    if ((eventTypes & ~kToldTypes) != 0) return NVML_ERROR_NOT_SUPPORTED;
    auto& all = found->registrations;
    if (eventTypes != 0 && std::ranges::find(all, device, &nvmlEventSet_st::Registration::device) == all.end())
      all.push_back({.device = device});
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data, unsigned int timeoutms) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  return data ? wait(set, timeoutms, *data) : NVML_ERROR_INVALID_ARGUMENT;
}

/// Older programs have less room: there are no parts of a device in theirs.
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* data, unsigned int timeoutms) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  if (!data) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlEventData_t whole;
  const auto status = wait(set, timeoutms, whole);
  if (status == NVML_SUCCESS) std::memcpy(static_cast<void*>(data), &whole, offsetof(nvmlEventData_t, gpuInstanceId));
  return status;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  auto& kept = sets();
  const std::lock_guard guard(kept.lock);
  return std::erase_if(kept.all, [&](const auto& one) { return one.get() == set; }) == 0 ? NVML_ERROR_INVALID_ARGUMENT
                                                                                         : NVML_SUCCESS;
}

}  // namespace flexrack::client::nvml
