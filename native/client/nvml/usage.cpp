// What a device is doing, asked of its server.
#include <chrono>

#include "client/nvml/watch.h"
#include "gen/nvml/client_functions.h"

namespace flexrack::client::nvml {
namespace {

constexpr auto kUnknown = ~0u;

nvmlReturn_t give_known(unsigned value, unsigned* into) {
  if (value == kUnknown) return NVML_ERROR_NOT_SUPPORTED;
  *into = value;
  return NVML_SUCCESS;
}

nvmlReturn_t give_clock(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  if (type >= NVML_CLOCK_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
  return with_usage(device, clock, false, [&](const Usage& usage) {
    if (type == NVML_CLOCK_VIDEO) return NVML_ERROR_NOT_SUPPORTED;
    return give_known(type == NVML_CLOCK_MEM ? usage.memory_clock : usage.clock, clock);
  });
}

nvmlReturn_t give_temperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, const void* out, auto&& take) {
  if (sensor != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
  return with_usage(device, out, false, [&](const Usage& usage) {
    if (usage.temperature == -1) return NVML_ERROR_NOT_SUPPORTED;
    take(usage.temperature);
    return NVML_SUCCESS;
  });
}

/// Of the many fields only power is known here.
nvmlReturn_t give_field(const Usage& usage, nvmlFieldValue_t& value) {
  if (value.fieldId != NVML_FI_DEV_POWER_INSTANT && value.fieldId != NVML_FI_DEV_POWER_AVERAGE)
    return NVML_ERROR_NOT_SUPPORTED;
  value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
  return give_known(usage.power, &value.value.uiVal);
}

}  // namespace

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return with_usage(device, memory, true, [&](const Usage& usage) {
    memory->total = usage.total, memory->free = usage.total - usage.used, memory->used = usage.used;
    return NVML_SUCCESS;
  });
}

/// Nothing of a share is reserved: it is what a program can have.
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return with_usage(device, memory, true, [&](const Usage& usage) {
    if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memory->total = usage.total, memory->reserved = 0, memory->free = usage.total - usage.used,
    memory->used = usage.used;
    return NVML_SUCCESS;
  });
}

/// The structure has no word for a part that is not known: memory is 0 then.
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* utilization) {
  return with_usage(device, utilization, false, [&](const Usage& usage) {
    if (usage.busy == kUnknown) return NVML_ERROR_NOT_SUPPORTED;
    utilization->gpu = usage.busy;
    utilization->memory = usage.memory_busy == kUnknown ? 0 : usage.memory_busy;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensorType, unsigned int* temp) {
  return give_temperature(device, sensorType, temp, [&](int degrees) { *temp = static_cast<unsigned>(degrees); });
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t* temperature) {
  if (!temperature) return NVML_ERROR_INVALID_ARGUMENT;
  if (temperature->version != nvmlTemperature_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  return give_temperature(device, temperature->sensorType, temperature,
                          [&](int degrees) { temperature->temperature = degrees; });
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* power) {
  return with_usage(device, power, false, [&](const Usage& usage) { return give_known(usage.power, power); });
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock) {
  return give_clock(device, type, clock);
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t clockType, nvmlClockId_t clockId,
                                unsigned int* clockMHz) {
  if (clockId >= NVML_CLOCK_ID_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
  if (clockId == NVML_CLOCK_ID_CURRENT) return give_clock(device, clockType, clockMHz);
  return with(device, clockMHz, [](const Device&) { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t* values) {
  if (valuesCount < 0) return NVML_ERROR_INVALID_ARGUMENT;
  return with_usage(device, values, false, [&](const Usage& usage) {
    const auto now =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    for (int i = 0; i < valuesCount; ++i) {
      auto& value = values[i];
      value.timestamp = now, value.latencyUsec = 0;
      value.nvmlReturn = give_field(usage, value);
    }
    return NVML_SUCCESS;
  });
}

}  // namespace flexrack::client::nvml
