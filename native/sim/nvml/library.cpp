// libnvidia-ml.so.1 beside the driver in software: for programs that run on it without a daemon, as NCCL, which asks
// NVML what devices there are and how they are connected. Behind a daemon it is client/nvml that answers.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/own_tables.h"
#include "gen/nvml/nvml.h"

namespace flexrack::sim::nvml {
namespace {

using Table = flexrack::cuda::SimTable;

struct Device {
  Table::Facts facts;
  unsigned index = 0;
};

std::atomic<int> users{0};

/// The driver beside this library, which has its name from the folder both are in; of a daemon's worker, which opens
/// both by their files, the one that the process has.
const Table* table() {
  static const Table* const found = []() -> const Table* {
    Dl_info own{};
    if (!dladdr(reinterpret_cast<void*>(&nvmlInit_v2), &own) || !own.dli_fname) return nullptr;
    const std::string path(own.dli_fname);
    auto* library = dlopen((path.substr(0, path.rfind('/') + 1) + "libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library) return nullptr;
    return flexrack::cuda::find_table<Table>(
        reinterpret_cast<CUresult (*)(const void**, const CUuuid*)>(dlsym(library, "cuGetExportTable")));
  }();
  return found;
}

const std::vector<Device>& devices() {
  static const auto* const all = [] {
    auto* made = new std::vector<Device>;
    const auto* driver = table();
    Device one;
    while (driver && driver->describe &&
           driver->describe(static_cast<CUdevice>(made->size()), &one.facts) == CUDA_SUCCESS) {
      one.index = static_cast<unsigned>(made->size());
      made->push_back(one);
    }
    return made;
  }();
  return *all;
}

nvmlDevice_t handle_of(const Device& device) { return reinterpret_cast<nvmlDevice_t>(const_cast<Device*>(&device)); }

const Device* device_of(nvmlDevice_t handle) {
  for (const auto& one : devices())
    if (handle_of(one) == handle) return &one;
  return nullptr;
}

template <class Body>
nvmlReturn_t with(nvmlDevice_t handle, const void* out, Body&& body) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  const auto* device = device_of(handle);
  if (!device || !out) return NVML_ERROR_INVALID_ARGUMENT;
  body(*device);
  return NVML_SUCCESS;
}

template <class Is>
nvmlReturn_t find(nvmlDevice_t* device, Is&& is) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  if (!device) return NVML_ERROR_INVALID_ARGUMENT;
  for (const auto& one : devices()) {
    if (is(one)) return *device = handle_of(one), NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t give_text(const std::string& text, char* into, unsigned length) {
  if (!into) return NVML_ERROR_INVALID_ARGUMENT;
  if (text.size() >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(into, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

void write_place(const Device& device, nvmlPciInfo_t& info) {
  info = {};
  const auto domain = static_cast<unsigned>(device.facts.pci_domain), bus = static_cast<unsigned>(device.facts.pci_bus),
             number = static_cast<unsigned>(device.facts.pci_device);
  info.domain = domain, info.bus = bus, info.device = number;
  std::snprintf(info.busIdLegacy, sizeof info.busIdLegacy, "%04X:%02X:%02X.0", domain & 0xffff, bus & 0xff,
                number & 0xff);
  std::snprintf(info.busId, sizeof info.busId, "%08X:%02X:%02X.0", domain, bus & 0xff, number & 0xff);
}

std::string uuid_text(const Device& device) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < device.facts.uuid.size(); ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", device.facts.uuid[i]);
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += two;
  }
  return text;
}

/// Of DOMAIN:BUS:DEVICE, or BUS:DEVICE, in hexadecimal, whatever stands behind; none where one is missing or too large.
std::vector<unsigned> numbers_of(std::string_view text) {
  std::vector<unsigned> found;
  for (;;) {
    unsigned number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (failed != std::errc()) return {};
    found.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (found.size() == 3 || text.empty() || text.front() != ':') return found;
    text.remove_prefix(1);
  }
}

/// What there is no answer to, for a device that is one.
nvmlReturn_t none(nvmlDevice_t handle) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  return device_of(handle) ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
}

}  // namespace
}  // namespace flexrack::sim::nvml

using namespace flexrack::sim::nvml;

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  if (devices().empty()) return NVML_ERROR_DRIVER_NOT_LOADED;
  ++users;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlInitWithFlags(unsigned int) { return nvmlInit_v2(); }
nvmlReturn_t nvmlShutdown() {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  --users;
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
#define RESULT(name, text) \
  case name: return text;
#include "gen/nvml/errors.inc"
#undef RESULT
  }
  return "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  const auto number = devices()[0].facts.driver;
  return give_text(std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10), version, length);
}
nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return give_text("13.0.39", version, length);
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  if (!version) return NVML_ERROR_INVALID_ARGUMENT;
  return *version = devices()[0].facts.driver, NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  if (!count) return NVML_ERROR_INVALID_ARGUMENT;
  return *count = static_cast<unsigned>(devices().size()), NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  const auto found = find(device, [&](const Device& one) { return one.index == index; });
  return found == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : found;
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (!uuid) return NVML_ERROR_INVALID_ARGUMENT;
  return find(device, [&](const Device& one) { return uuid_text(one) == uuid; });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* text, nvmlDevice_t* device) {
  const auto numbers = text ? numbers_of(text) : std::vector<unsigned>();
  if (numbers.size() < 2) return NVML_ERROR_INVALID_ARGUMENT;
  const auto* place = &numbers.back() - 1;
  const unsigned domain = numbers.size() == 3 ? numbers.front() : 0, bus = place[0], number = place[1];
  return find(device, [&](const Device& one) {
    return one.facts.pci_domain == static_cast<int>(domain) && one.facts.pci_bus == static_cast<int>(bus) &&
           one.facts.pci_device == static_cast<int>(number);
  });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  return with(device, index, [&](const Device& one) { *index = one.index; });
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  return device_of(device) ? give_text(device_of(device)->facts.name, name, length) : none(device);
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  return device_of(device) ? give_text(uuid_text(*device_of(device)), uuid, length) : none(device);
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return with(device, pci, [&](const Device& one) { write_place(one, *pci); });
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return with(device, major && minor ? major : nullptr,
              [&](const Device& one) { *major = one.facts.major, *minor = one.facts.minor; });
}
/// Of this process: memory of such a device is each process's own.
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return with(device, memory, [&](const Device& one) {
    std::uint64_t used = 0;
    if (table()->memory(static_cast<CUdevice>(one.index), &used) != CUDA_SUCCESS) used = 0;
    *memory = {one.facts.memory, one.facts.memory - std::min(used, one.facts.memory), used};
  });
}

// How they are connected. Each device lies on the bus by itself: NCCL reads that where the system has no such device,
// and without asking whether the function is there.
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other, nvmlGpuP2PCapsIndex_t,
                                    nvmlGpuP2PStatus_t* status) {
  if (users != 0 && !device_of(other)) return NVML_ERROR_INVALID_ARGUMENT;
  return with(device, status, [&](const Device&) { *status = NVML_P2P_STATUS_NOT_SUPPORTED; });
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int* generation) {
  return with(device, generation, [&](const Device&) { *generation = 4; });
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int* width) {
  return with(device, width, [&](const Device&) { *width = 16; });
}
nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned int* speed) {
  return with(device, speed, [&](const Device&) { *speed = 16000; });
}
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int, nvmlEnableState_t*) { return none(device); }
nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int, nvmlNvLinkCapability_t, unsigned int*) {
  return none(device);
}
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int, nvmlPciInfo_t*) {
  return none(device);
}
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return with(device, values, [&](const Device&) {
    for (int i = 0; i < count; ++i) values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
  });
}

// There is nothing to be hot, nor a clock to slow down: programs that watch over a card ask, hashcat among them, and go
// on without.
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t, unsigned int*) {
  return none(device);
}
nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, nvmlTemperatureThresholds_t, unsigned int*) {
  return none(device);
}
nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int*) { return none(device); }
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t*) { return none(device); }
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t, unsigned int*) { return none(device); }
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long*) {
  return none(device);
}
nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, unsigned long long*) {
  return none(device);
}

// The names of NVML 4 to 7, which programs look up that were written for any NVML, NCCL among them. A structure of
// theirs is the beginning of what came later.
nvmlReturn_t nvmlInit() { return nvmlInit_v2(); }
nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) { return nvmlDeviceGetCount_v2(count); }
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* text, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(text, device);
}
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return with(device, pci, [&](const Device& one) {
    nvmlPciInfo_t whole;
    write_place(one, whole);
    std::memcpy(pci, &whole, offsetof(nvmlPciInfo_t, pciSubSystemId));
  });
}
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int, nvmlPciInfo_t*) {
  return none(device);
}

}  // extern "C"
