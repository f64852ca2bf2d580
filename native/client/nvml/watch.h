// This process as a watcher of leased devices, from the first nvmlInit on.
#pragma once

#include <memory>
#include <vector>

#include "client/nvml/server.h"
#include "gen/nvml/nvml.h"

namespace flexrack::client::nvml {

/// A leased device as the application has it; never changes once it is there.
struct Device {
  DeviceFacts facts;
  Server* server = nullptr;
  unsigned index = 0;  ///< as the application counts: as CUDA does where CUDA_VISIBLE_DEVICES is not set

  /// What is known of its use, as of now; or what was asked a moment ago, of what does not follow from the
  /// application's own calls.
  nvmlReturn_t usage(Usage& into, bool is_fresh) const;

 private:
  mutable std::mutex lock_;
  mutable Usage last_;
  mutable std::chrono::steady_clock::time_point requested_{};
};

/// Of no part of a divided device (nvml.h 13.0, nvmlProcessInfo_t and nvmlEventData_t).
inline constexpr unsigned kNoInstance = 0xffffffff;

/// nvmlInit: reaches the servers of the lease that are not reached, lost ones too. NVML_ERROR_DRIVER_NOT_LOADED where
/// no devices of CUDA are leased or no server of one answers; nvmlInit has not been then, unless `needs_devices` is
/// false.
nvmlReturn_t initialise(bool needs_devices);
/// nvmlShutdown. The sessions stay: a program that looks every second initialises every second.
nvmlReturn_t shut_down();
bool is_initialised();

/// All devices by index. In a child after fork(), which may not use its parent's sessions, it opens its own.
const std::vector<std::unique_ptr<Device>>& devices();
/// The lowest among the servers', as cuDriverGetVersion writes it; 0 without any.
int driver_version();

/// What an application has for a device, and back. A handle stays good in a child. Null: it is none.
nvmlDevice_t handle_of(const Device& device);
const Device* device_of(nvmlDevice_t handle);

/// Runs `body(device)` where NVML is initialised, `out` is not null, and the handle is a device's whose server is not
/// lost.
template <class Body>
nvmlReturn_t with(nvmlDevice_t handle, const void* out, Body&& body) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  const auto* device = device_of(handle);
  if (!device || !out) return NVML_ERROR_INVALID_ARGUMENT;
  return device->server->is_alive() ? body(*device) : NVML_ERROR_GPU_IS_LOST;
}

/// The same with what is known of its use.
template <class Body>
nvmlReturn_t with_usage(nvmlDevice_t handle, const void* out, bool is_fresh, Body&& body) {
  return with(handle, out, [&](const Device& device) {
    Usage usage;
    const auto status = device.usage(usage, is_fresh);
    return status == NVML_SUCCESS ? body(usage) : status;
  });
}

/// Copies text with its end. NVML_ERROR_INSUFFICIENT_SIZE where `length` does not hold it.
nvmlReturn_t give_text(std::string_view text, char* into, unsigned length);

}  // namespace flexrack::client::nvml
