#include "backend/cuda/devices.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "backend/backend.h"
#include "backend/cuda/context_cost.h"

namespace flexrack::backend {
namespace cuda {
namespace {

constexpr std::string_view kSimulated = "Flexrack Simulated GPU";

void check(const DriverLibrary& driver, const char* what, CUresult result) {
  if (result != CUDA_SUCCESS) throw std::runtime_error(std::string(what) + ": " + driver.text_of(result));
}

int attribute(const DriverLibrary& driver, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(driver, "cuDeviceGetAttribute",
        driver.need<decltype(cuDeviceGetAttribute)>("cuDeviceGetAttribute")(&value, which, device));
  return value;
}

/// Of CUDA, as "13.0" is 13000 (cuda.h 13.0, cuDriverGetVersion).
std::string version_text(const DriverLibrary& driver) {
  int version = 0;
  check(driver, "cuDriverGetVersion", driver.need<decltype(cuDriverGetVersion)>("cuDriverGetVersion")(&version));
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DeviceReport describe(const DriverLibrary& driver, CUdevice device) {
  DeviceReport report;
  std::array<char, 256> name{};
  check(driver, "cuDeviceGetName",
        driver.need<decltype(cuDeviceGetName)>("cuDeviceGetName")(name.data(), static_cast<int>(name.size()) - 1,
                                                                  device));
  std::size_t bytes = 0;
  check(driver, "cuDeviceTotalMem", driver.need<decltype(cuDeviceTotalMem_v2)>("cuDeviceTotalMem_v2")(&bytes, device));
  report.native_id = uuid_text(driver, device);
  report.name = name.data();
  report.vendor = report.name.starts_with(kSimulated) ? "Flexrack" : "NVIDIA Corporation";
  report.driver = version_text(driver);
  report.api = "cuda";
  report.capability = std::to_string(attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) + "." +
                      std::to_string(attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  report.memory = bytes;
  report.context_memory = measure_context(driver, device, report.native_id);
  report.compute_units =
      static_cast<std::uint32_t>(attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  return report;
}

}  // namespace

std::string uuid_text(const DriverLibrary& driver, CUdevice device) {
  // Since CUDA 11.4 there are two: of the GPU, and of the part of it that this device is, where it is divided (cuda.h,
  // cuDeviceGetUuid_v2).
  CUuuid whole{}, own{};
  check(driver, "cuDeviceGetUuid", driver.need<decltype(cuDeviceGetUuid)>("cuDeviceGetUuid")(&whole, device));
  own = whole;
  if (auto* second = driver.find<decltype(cuDeviceGetUuid_v2)>("cuDeviceGetUuid_v2"))
    check(driver, "cuDeviceGetUuid", second(&own, device));
  std::string text = std::memcmp(&whole, &own, sizeof own) == 0 ? "GPU" : "MIG";
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < sizeof own.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(own.bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace cuda

std::vector<DeviceReport> list_cuda_devices(const std::string& driver) {
  using namespace cuda;
  // As nvidia-smi lists them, and the same after every start: CUDA's own order is by speed.
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
  const DriverLibrary library(driver);
  check(library, "the CUDA driver does not start", library.need<decltype(cuInit)>("cuInit")(0));
  int count = 0;
  check(library, "cuDeviceGetCount", library.need<decltype(cuDeviceGetCount)>("cuDeviceGetCount")(&count));
  std::vector<DeviceReport> list;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    check(library, "cuDeviceGet", library.need<decltype(cuDeviceGet)>("cuDeviceGet")(&device, ordinal));
    list.push_back(describe(library, device));
  }
  return list;
}

}  // namespace flexrack::backend
