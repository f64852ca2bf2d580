#include "backend/cuda/management.h"

#include <dlfcn.h>

#include <array>
#include <map>
#include <mutex>

#include "backend/cuda/driver_library.h"
#include "gen/nvml/nvml.h"

namespace flexrack::backend::cuda {
namespace {

class Nvml {
 public:
  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library || is_forwarding(library)) return;
    const auto find = [library](auto& function, const char* symbol) { function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol)); };
    find(init, "nvmlInit_v2");
    find(handle_by_uuid, "nvmlDeviceGetHandleByUUID");
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(temperature, "nvmlDeviceGetTemperature");
    find(power, "nvmlDeviceGetPowerUsage");
    find(clock, "nvmlDeviceGetClockInfo");
    find(driver_version, "nvmlSystemGetDriverVersion");
    if (!init || !handle_by_uuid || init() != NVML_SUCCESS) return;
    is_open = true;
    std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
    if (driver_version && driver_version(text.data(), static_cast<unsigned>(text.size() - 1)) == NVML_SUCCESS) driver = text.data();
  }

  nvmlDevice_t find_device(const std::string& uuid) {
    if (!is_open) return nullptr;
    const std::lock_guard guard(lock_);
    const auto [found, is_new] = devices_.try_emplace(uuid, nullptr);
    if (is_new && handle_by_uuid(uuid.c_str(), &found->second) != NVML_SUCCESS) found->second = nullptr;
    return found->second;
  }

  decltype(&::nvmlInit_v2) init = nullptr;
  decltype(&::nvmlDeviceGetHandleByUUID) handle_by_uuid = nullptr;
  decltype(&::nvmlDeviceGetUtilizationRates) utilization = nullptr;
  decltype(&::nvmlDeviceGetTemperature) temperature = nullptr;
  decltype(&::nvmlDeviceGetPowerUsage) power = nullptr;
  decltype(&::nvmlDeviceGetClockInfo) clock = nullptr;
  decltype(&::nvmlSystemGetDriverVersion) driver_version = nullptr;
  bool is_open = false;
  std::string driver;

 private:
  std::mutex lock_;
  std::map<std::string, nvmlDevice_t> devices_;
};

/// Never destroyed: threads may still ask while the process ends.
Nvml& nvml() {
  static auto& only = *new Nvml;
  return only;
}

template <class Value, class Function, class... Arguments>
std::optional<Value> read_one(Function* function, Arguments... arguments) {
  unsigned value = 0;
  return function && function(arguments..., &value) == NVML_SUCCESS ? std::optional(static_cast<Value>(value)) : std::nullopt;
}

}  // namespace

Readings read_management(const std::string& uuid) {
  Readings found;
  auto& library = nvml();
  const auto device = library.find_device(uuid);
  if (!device) return found;
  nvmlUtilization_t rates{};
  if (library.utilization && library.utilization(device, &rates) == NVML_SUCCESS) found.busy = rates.gpu, found.memory_busy = rates.memory;
  found.temperature = read_one<int>(library.temperature, device, NVML_TEMPERATURE_GPU);
  found.power = read_one<unsigned>(library.power, device);
  found.clock = read_one<unsigned>(library.clock, device, NVML_CLOCK_SM);
  found.memory_clock = read_one<unsigned>(library.clock, device, NVML_CLOCK_MEM);
  return found;
}

std::optional<unsigned> read_busy(const std::string& uuid) {
  auto& library = nvml();
  const auto device = library.find_device(uuid);
  nvmlUtilization_t rates{};
  return device && library.utilization && library.utilization(device, &rates) == NVML_SUCCESS ? std::optional(rates.gpu) : std::nullopt;
}

const std::string& management_driver() { return nvml().driver; }

}  // namespace flexrack::backend::cuda
