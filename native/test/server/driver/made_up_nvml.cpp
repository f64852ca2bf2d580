// A machine's NVML that knows one device, and not its power: for tests of what the daemon asks it.
#include <cstring>

#include "gen/nvml/nvml.h"

namespace {

int the_device;
nvmlDevice_t own() { return reinterpret_cast<nvmlDevice_t>(&the_device); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (std::strcmp(uuid, "GPU-made-up") != 0) return NVML_ERROR_NOT_FOUND;
  return *device = own(), NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  if (device != own()) return NVML_ERROR_INVALID_ARGUMENT;
  return *rates = {.gpu = 42, .memory = 17}, NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t sensor, unsigned int* degrees) {
  return *degrees = 55, sensor == NVML_TEMPERATURE_GPU ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned int*) { return NVML_ERROR_NOT_SUPPORTED; }
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, nvmlClockType_t type, unsigned int* clock) {
  return *clock = type == NVML_CLOCK_MEM ? 2619 : 1980, NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int) {
  return std::strcpy(version, "580.65.06"), NVML_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
