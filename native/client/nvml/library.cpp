// The library itself: its life, its versions, and what is asked of it without a device.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "client/nvml/watch.h"
#include "gen/nvml/client_functions.h"

namespace flexrack::client::nvml {
namespace {

nvmlReturn_t give_none(unsigned* count) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  if (!count) return NVML_ERROR_INVALID_ARGUMENT;
  *count = 0;
  return NVML_SUCCESS;
}

/// The table that nvidia-smi asks for, by the bytes of its name. What is in it is not public, and differs from driver
/// to driver: its size in bytes comes first, and every function says that it is not supported, whatever it is called
/// with. nvidia-smi 535.261.03 goes on then, and leaves out what it would have asked there; of a table of nulls it says
/// "[Uninitialized]".
constexpr std::array<unsigned char, 16> kSmiTable = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                                     0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};
constexpr std::size_t kSmiSlots = 512;

nvmlReturn_t unsupported() { return NVML_ERROR_NOT_SUPPORTED; }

const std::array<std::uintptr_t, kSmiSlots>& smi_table() {
  static const auto table = [] {
    std::array<std::uintptr_t, kSmiSlots> made;
    made.fill(reinterpret_cast<std::uintptr_t>(&unsupported));
    made.front() = sizeof made;
    return made;
  }();
  return table;
}

}  // namespace

nvmlReturn_t nvmlInit_v2() { return initialise(true); }

nvmlReturn_t nvmlInitWithFlags(unsigned int flags) { return initialise((flags & NVML_INIT_FLAG_NO_GPUS) == 0); }

nvmlReturn_t nvmlShutdown() { return shut_down(); }

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
#define RESULT(name, text) \
  case name: return text;
#include "gen/nvml/errors.inc"
#undef RESULT
  }
  return "Unknown Error";
}

/// As the machine's own NVML says. Where the server has none, the driver is known by its version of CUDA.
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  for (const auto& device : devices()) {
    Usage usage;
    if (device->server->is_alive() && device->usage(usage, false) == NVML_SUCCESS && !usage.driver.empty())
      return give_text(usage.driver, version, length);
  }
  const auto cuda = driver_version();
  return cuda == 0 ? NVML_ERROR_DRIVER_NOT_LOADED
                   : give_text(std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10), version, length);
}

/// That of the header this library is written by.
nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return give_text("13.0.39", version, length);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* cudaDriverVersion) {
  if (!cudaDriverVersion) return NVML_ERROR_INVALID_ARGUMENT;
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  *cudaDriverVersion = driver_version();
  return *cudaDriverVersion == 0 ? NVML_ERROR_DRIVER_NOT_LOADED : NVML_SUCCESS;
}

/// The first word of its command line, or as the kernel calls it.
nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int length) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  if (!name || length == 0) return NVML_ERROR_INVALID_ARGUMENT;
  for (const auto* of : {"cmdline", "comm"}) {
    char text[4096] = {};
    auto* file = std::fopen(("/proc/" + std::to_string(pid) + "/" + of).c_str(), "re");
    if (!file) return NVML_ERROR_NOT_FOUND;
    const auto size = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    if (size == 0 || text[0] == '\0') continue;
    text[std::strcspn(text, "\n")] = '\0';
    const auto whole = std::string_view(text);
    return give_text(whole.substr(0, length - 1), name, length);
  }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlSystemGetHicVersion(unsigned int* hwbcCount, nvmlHwbcEntry_t*) { return give_none(hwbcCount); }
nvmlReturn_t nvmlUnitGetCount(unsigned int* unitCount) { return give_none(unitCount); }
nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int* deviceCount) { return give_none(deviceCount); }

nvmlReturn_t nvmlInternalGetExportTable(const void** table, const void* id) {
  if (!table || !id) return NVML_ERROR_INVALID_ARGUMENT;
  const bool is_known = std::memcmp(id, kSmiTable.data(), kSmiTable.size()) == 0;
  *table = is_known ? smi_table().data() : nullptr;
  return is_known ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

}  // namespace flexrack::client::nvml
