// What a device is: from what its server said when it was reached.
#include "client/nvml/watch.h"
#include "gen/cuda/cuda.h"
#include "gen/nvml/client_functions.h"

namespace flexrack::client::nvml {
namespace {

int major_of(const Device& device) { return device.facts.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR); }
int minor_of(const Device& device) { return device.facts.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR); }

/// Cores for single precision in a multiprocessor, by compute capability ("CUDA C++ Programming Guide", arithmetic
/// instructions); 0: not known.
unsigned cores_of_multiprocessor(int major, int minor) {
  switch (major) {
    case 5: return 128;
    case 6: return minor == 0 ? 64 : 128;
    case 7: return 64;
    case 8: return minor == 0 ? 64 : 128;
    case 9:
    case 10:
    case 11:
    case 12: return 128;
    default: return 0;
  }
}

/// nvml.h 13.0, NVML_DEVICE_ARCH_*, by compute capability.
nvmlDeviceArchitecture_t architecture_of(int major, int minor) {
  switch (major) {
    case 3: return NVML_DEVICE_ARCH_KEPLER;
    case 5: return NVML_DEVICE_ARCH_MAXWELL;
    case 6: return NVML_DEVICE_ARCH_PASCAL;
    case 7: return minor < 5 ? NVML_DEVICE_ARCH_VOLTA : NVML_DEVICE_ARCH_TURING;
    case 8: return minor < 9 ? NVML_DEVICE_ARCH_AMPERE : NVML_DEVICE_ARCH_ADA;
    case 9: return NVML_DEVICE_ARCH_HOPPER;
    case 10:
    case 11:
    case 12: return NVML_DEVICE_ARCH_BLACKWELL;
    default: return NVML_DEVICE_ARCH_UNKNOWN;
  }
}

template <class Value>
nvmlReturn_t give(nvmlDevice_t device, Value* into, Value value) {
  return with(device, into, [&](const Device&) { return *into = value, NVML_SUCCESS; });
}

nvmlReturn_t give_attribute(nvmlDevice_t device, unsigned* into, int which, int divisor = 1) {
  return with(device, into, [&](const Device& one) {
    const auto value = one.facts.attribute(which);
    if (value <= 0) return NVML_ERROR_NOT_SUPPORTED;
    *into = static_cast<unsigned>(value / divisor);
    return NVML_SUCCESS;
  });
}

}  // namespace

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* type) {
  return give(device, type, NVML_BRAND_UNKNOWN);
}
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t* display) {
  return give(device, display, NVML_FEATURE_DISABLED);
}
nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t* isActive) {
  return give(device, isActive, NVML_FEATURE_DISABLED);
}
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int* isMigDevice) {
  return give(device, isMigDevice, 0u);
}
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int* count) {
  return give(device, count, 0u);
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return with(device, major && minor ? major : nullptr,
              [&](const Device& one) { return *major = major_of(one), *minor = minor_of(one), NVML_SUCCESS; });
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t* arch) {
  return with(device, arch,
              [&](const Device& one) { return *arch = architecture_of(major_of(one), minor_of(one)), NVML_SUCCESS; });
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int* numCores) {
  return with(device, numCores, [&](const Device& one) {
    const auto multiprocessors = static_cast<unsigned>(one.facts.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    const auto cores = cores_of_multiprocessor(major_of(one), minor_of(one)) * multiprocessors;
    if (cores == 0) return NVML_ERROR_NOT_SUPPORTED;
    *numCores = cores;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int* busWidth) {
  return give_attribute(device, busWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
}

/// CUDA has kHz, NVML MHz.
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock) {
  switch (type) {
    case NVML_CLOCK_GRAPHICS:
    case NVML_CLOCK_SM: return give_attribute(device, clock, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000);
    case NVML_CLOCK_MEM: return give_attribute(device, clock, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000);
    case NVML_CLOCK_VIDEO: return with(device, clock, [](const Device&) { return NVML_ERROR_NOT_SUPPORTED; });
    default: return NVML_ERROR_INVALID_ARGUMENT;
  }
}

/// The numbers of CUcomputemode and nvmlComputeMode_t are the same.
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* mode) {
  return with(device, mode, [&](const Device& one) {
    *mode = static_cast<nvmlComputeMode_t>(one.facts.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current, nvmlEnableState_t* pending) {
  return with(device, current && pending ? current : nullptr, [&](const Device& one) {
    const auto ecc = one.facts.attribute(CU_DEVICE_ATTRIBUTE_ECC_ENABLED, -1);
    if (ecc < 0) return NVML_ERROR_NOT_SUPPORTED;
    *current = *pending = ecc == 0 ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED;
    return NVML_SUCCESS;
  });
}

/// As cuDeviceCanAccessPeer says; other servers' memory is out of reach.
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2, nvmlGpuP2PCapsIndex_t p2pIndex,
                                    nvmlGpuP2PStatus_t* p2pStatus) {
  return with(device1, p2pStatus, [&](const Device& one) {
    return with(device2, p2pStatus, [&](const Device& other) {
      const auto found = one.server == other.server ? one.facts.peers.find(other.facts.at) : one.facts.peers.end();
      const bool can = found != one.facts.peers.end() && found->second &&
                       (p2pIndex == NVML_P2P_CAPS_INDEX_READ || p2pIndex == NVML_P2P_CAPS_INDEX_WRITE);
      *p2pStatus = can ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
      return NVML_SUCCESS;
    });
  });
}

}  // namespace flexrack::client::nvml
