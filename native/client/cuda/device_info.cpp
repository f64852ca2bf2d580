// What applications ask about devices: answered from what their servers said when they were reached.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "client/cuda/driver.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// `use(device)` where there is such a device and somewhere to write to.
template <class Use>
CUresult with(CUdevice ordinal, const void* into, Use&& use) {
  if (!process()) return not_open();
  const auto* device = device_of(ordinal);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!into) return CUDA_ERROR_INVALID_VALUE;
  return use(*device);
}

CUresult give_text(const std::string& text, char* into, int room) {
  if (room <= 0) return CUDA_ERROR_INVALID_VALUE;
  const auto size = std::min(text.size(), static_cast<std::size_t>(room) - 1);
  std::memcpy(into, text.data(), size);
  into[size] = 0;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return with(ordinal, device, [&](const Device& found) {
    *device = found.ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  const auto* known = process();
  if (!known) return not_open();
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(known->devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
  return with(dev, name, [&](const Device& device) { return give_text(device.name, name, len); });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
  return with(dev, uuid, [&](const Device& device) {
    *uuid = device.uuid;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) { return cuda::cuDeviceGetUuid(uuid, dev); }

/// Of the share.
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  return with(dev, bytes, [&](const Device& device) {
    *bytes = device.memory;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  return with(dev, pi, [&](const Device& device) {
    const auto which = static_cast<std::size_t>(attrib);
    if (which >= Device::kMostAttributes || !device.known[which]) return CUDA_ERROR_INVALID_VALUE;
    *pi = device.attributes[which];
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                           unsigned int count, CUdevice dev) {
  if (!operations || count == 0) return CUDA_ERROR_INVALID_VALUE;
  return with(dev, capabilities, [&](const Device&) {
    std::fill_n(capabilities, count, 0u);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType, CUdevice dev) {
  return with(dev, pi, [&](const Device&) {
    *pi = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
  return with(dev, prop, [&](const Device& device) {
    prop->maxThreadsPerBlock = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (std::size_t i = 0; i < 3; ++i) {
      prop->maxThreadsDim[i] = static_cast<int>(device.most_block[i]);
      prop->maxGridSize[i] = static_cast<int>(device.most_grid[i]);
    }
    prop->sharedMemPerBlock = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    prop->totalConstantMemory = device.attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    prop->SIMDWidth = device.attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    prop->memPitch = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    prop->regsPerBlock = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    prop->clockRate = device.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    prop->textureAlign = device.attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  if (!minor) return CUDA_ERROR_INVALID_VALUE;
  return with(dev, major, [&](const Device& device) {
    *major = device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
  return with(dev, pciBusId, [&](const Device& device) { return give_text(device.pci, pciBusId, len); });
}

/// "[domain]:[bus]:[device].[function]", the domain and the function may be missing (cuda.h 13.0).
CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
  const auto* known = process();
  if (!known) return not_open();
  if (!dev || !pciBusId) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    domain = 0;
    if (std::sscanf(pciBusId, "%x:%x", &bus, &slot) != 2) return CUDA_ERROR_INVALID_VALUE;
  }
  for (const auto* device : known->devices) {
    unsigned its_domain = 0, its_bus = 0, its_slot = 0;
    if (std::sscanf(device->pci.c_str(), "%x:%x:%x", &its_domain, &its_bus, &its_slot) != 3) continue;
    if (domain != its_domain || bus != its_bus || slot != its_slot) continue;
    *dev = device->ordinal;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  return with(dev, canAccessPeer, [&](const Device& device) {
    const auto* other = device_of(peerDev);
    if (!other) return CUDA_ERROR_INVALID_DEVICE;
    const auto found = device.server == other->server ? device.peers.find(other->index) : device.peers.end();
    *canAccessPeer = found != device.peers.end() && found->second.can_access;
    return CUDA_SUCCESS;
  });
}

/// Of devices of different servers: none of it is possible.
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice) {
  return with(srcDevice, value, [&](const Device& device) {
    const auto* other = device_of(dstDevice);
    if (!other || other == &device) return CUDA_ERROR_INVALID_DEVICE;
    if (attrib < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attrib > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
      return CUDA_ERROR_INVALID_VALUE;
    const auto peer = device.server == other->server ? device.peers.find(other->index) : device.peers.end();
    *value = 0;
    if (peer == device.peers.end()) return CUDA_SUCCESS;
    if (const auto found = peer->second.attributes.find(static_cast<int>(attrib));
        found != peer->second.attributes.end())
      *value = found->second;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                          unsigned int count, CUdevice srcDevice, CUdevice dstDevice) {
  if (!operations || count == 0) return CUDA_ERROR_INVALID_VALUE;
  return with(srcDevice, capabilities, [&](const Device& device) {
    const auto* other = device_of(dstDevice);
    if (!other || other == &device) return CUDA_ERROR_INVALID_DEVICE;
    std::fill_n(capabilities, count, 0u);
    return CUDA_SUCCESS;
  });
}

}  // namespace flexrack::client::cuda
