#include "backend/cuda/management.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "backend/cuda/driver_library.h"
#include "gen/nvml/nvml.h"

namespace flexrack::backend::cuda {
namespace {

class Nvml {
 public:
  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library || is_forwarding(library)) return;
    const auto find = [library](auto& function, const char* symbol) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
    };
    find(init, "nvmlInit_v2");
    find(handle_by_uuid, "nvmlDeviceGetHandleByUUID");
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(temperature, "nvmlDeviceGetTemperature");
    find(power, "nvmlDeviceGetPowerUsage");
    find(clock, "nvmlDeviceGetClockInfo");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(driver_version, "nvmlSystemGetDriverVersion");
    if (!init || !handle_by_uuid || init() != NVML_SUCCESS) return;
    is_open = true;
    std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
    if (driver_version && driver_version(text.data(), static_cast<unsigned>(text.size() - 1)) == NVML_SUCCESS)
      driver = text.data();
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
  decltype(&::nvmlDeviceGetComputeRunningProcesses_v3) processes = nullptr;
  decltype(&::nvmlDeviceGetMemoryInfo) memory = nullptr;
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
  return function && function(arguments..., &value) == NVML_SUCCESS ? std::optional(static_cast<Value>(value))
                                                                    : std::nullopt;
}

}  // namespace

Readings read_management(const std::string& uuid) {
  Readings found;
  auto& library = nvml();
  const auto device = library.find_device(uuid);
  if (!device) return found;
  nvmlUtilization_t rates{};
  if (library.utilization && library.utilization(device, &rates) == NVML_SUCCESS)
    found.busy = rates.gpu, found.memory_busy = rates.memory;
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
  return device && library.utilization && library.utilization(device, &rates) == NVML_SUCCESS ? std::optional(rates.gpu)
                                                                                              : std::nullopt;
}

std::optional<std::uint64_t> read_own_memory(const std::string& uuid) {
  auto& library = nvml();
  const auto device = library.find_device(uuid);
  if (!device || !library.processes) return std::nullopt;
  // More may come between two calls than there were: a GPU has no more than this at a time.
  std::vector<nvmlProcessInfo_t> all(1024);
  auto count = static_cast<unsigned>(all.size());
  if (library.processes(device, &count, all.data()) != NVML_SUCCESS) return std::nullopt;
  for (unsigned i = 0; i < count; ++i) {
    // nvml.h 13.0: NVML_VALUE_NOT_AVAILABLE is -1.
    if (all[i].pid == static_cast<unsigned>(getpid()) && all[i].usedGpuMemory != ~0ull) return all[i].usedGpuMemory;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> read_used_memory(const std::string& uuid) {
  auto& library = nvml();
  const auto device = library.find_device(uuid);
  nvmlMemory_t read{};
  return device && library.memory && library.memory(device, &read) == NVML_SUCCESS
             ? std::optional<std::uint64_t>(read.used)
             : std::nullopt;
}

const std::string& management_driver() { return nvml().driver; }

}  // namespace flexrack::backend::cuda
