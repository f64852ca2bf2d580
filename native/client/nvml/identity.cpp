// Which devices there are, and how they are told apart: by index, uuid and place on the PCI bus, as CUDA's driver has
// them.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "client/nvml/watch.h"
#include "cuda/identity.h"
#include "gen/nvml/client_functions.h"

namespace flexrack::client::nvml {
namespace {

template <class Is>
nvmlReturn_t find(nvmlDevice_t* device, Is&& is) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  if (!device) return NVML_ERROR_INVALID_ARGUMENT;
  for (const auto& one : devices()) {
    if (!is(*one)) continue;
    *device = handle_of(*one);
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

/// nvml.h 13.0, NVML_DEVICE_PCI_BUS_ID_FMT and its legacy form.
void write_places(const flexrack::cuda::PciPlace& at, nvmlPciInfo_t& info) {
  info.domain = at.domain, info.bus = at.bus, info.device = at.device;
  std::snprintf(info.busIdLegacy, sizeof info.busIdLegacy, "%04X:%02X:%02X.0", at.domain, at.bus, at.device);
  std::snprintf(info.busId, sizeof info.busId, "%08X:%02X:%02X.0", at.domain, at.bus, at.device);
}

/// What kind of card it is, nobody said.
nvmlReturn_t describe_place(const Device& device, nvmlPciInfo_t& info) {
  const auto at = flexrack::cuda::pci_place(device.facts.pci);
  if (!at) return NVML_ERROR_NOT_SUPPORTED;
  info = {};
  write_places(*at, info);
  return NVML_SUCCESS;
}

}  // namespace

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* deviceCount) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  if (!deviceCount) return NVML_ERROR_INVALID_ARGUMENT;
  *deviceCount = static_cast<unsigned>(devices().size());
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  const auto status = find(device, [&](const Device& one) { return one.index == index; });
  return status == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : status;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (!uuid) return NVML_ERROR_INVALID_ARGUMENT;
  return find(device, [&](const Device& one) { return one.facts.uuid == uuid; });
}

nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t* uuid, nvmlDevice_t* device) {
  if (!uuid) return NVML_ERROR_INVALID_ARGUMENT;
  if (uuid->version != nvmlUUID_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  switch (uuid->type) {
    case NVML_UUID_TYPE_ASCII: {
      const std::string_view text(uuid->value.str, strnlen(uuid->value.str, sizeof uuid->value.str));
      return find(device, [&](const Device& one) { return one.facts.uuid == text; });
    }
    case NVML_UUID_TYPE_BINARY:
      return find(device,
                  [&](const Device& one) { return std::ranges::equal(one.facts.uuid_bytes, uuid->value.bytes); });
    default: return NVML_ERROR_INVALID_ARGUMENT;
  }
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* pciBusId, nvmlDevice_t* device) {
  const auto wanted = pciBusId ? flexrack::cuda::pci_place(pciBusId) : std::nullopt;
  if (!wanted) return NVML_ERROR_INVALID_ARGUMENT;
  return find(device, [&](const Device& one) { return flexrack::cuda::pci_place(one.facts.pci) == wanted; });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  return with(device, index, [&](const Device& one) { return *index = one.index, NVML_SUCCESS; });
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  return with(device, name, [&](const Device& one) { return give_text(one.facts.name, name, length); });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  return with(device, uuid, [&](const Device& one) { return give_text(one.facts.uuid, uuid, length); });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return with(device, pci, [&](const Device& one) { return describe_place(one, *pci); });
}

/// Older programs have less room: what the structure of nvml.h 8 has is in it up to the sub-system's id.
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return with(device, pci, [&](const Device& one) {
    nvmlPciInfo_t info;
    const auto status = describe_place(one, info);
    if (status == NVML_SUCCESS) std::memcpy(static_cast<void*>(pci), &info, offsetof(nvmlPciInfo_t, busId));
    return status;
  });
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* pci) {
  return with(device, pci, [&](const Device& one) {
    if (pci->version != nvmlPciInfoExt_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlPciInfo_t info;
    if (const auto status = describe_place(one, info); status != NVML_SUCCESS) return status;
    *pci = {};
    pci->version = nvmlPciInfoExt_v1;
    pci->domain = info.domain, pci->bus = info.bus, pci->device = info.device;
    std::memcpy(pci->busId, info.busId, sizeof pci->busId);
    return NVML_SUCCESS;
  });
}

}  // namespace flexrack::client::nvml
