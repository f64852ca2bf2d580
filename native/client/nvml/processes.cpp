// Who uses a device: the processes of the lease that have contexts on it. Each is called by its process id where it
// runs.
#include "client/nvml/watch.h"
#include "gen/nvml/client_functions.h"

namespace flexrack::client::nvml {
namespace {

void write(nvmlProcessInfo_v1_t& into, const Usage::Process& from) {
  into = {static_cast<unsigned>(from.id), from.memory};
}
void write(nvmlProcessInfo_t& into, const Usage::Process& from) {
  into = {static_cast<unsigned>(from.id), from.memory, kNoInstance, kNoInstance};
}
void write(nvmlProcessDetail_v1_t& into, const Usage::Process& from) {
  into = {static_cast<unsigned>(from.id), from.memory, kNoInstance, kNoInstance, 0};
}

/// `count` is how many there is room for, and then how many there are.
template <class Info>
nvmlReturn_t list(const std::vector<Usage::Process>& from, unsigned& count, Info* into) {
  const auto room = into ? count : 0;
  count = static_cast<unsigned>(from.size());
  if (room < count) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < count; ++i) write(into[i], from[i]);
  return NVML_SUCCESS;
}

template <class Info>
nvmlReturn_t list_compute(nvmlDevice_t device, unsigned* count, Info* infos) {
  return with_usage(device, count, true, [&](const Usage& usage) { return list(usage.processes, *count, infos); });
}

nvmlReturn_t list_none(nvmlDevice_t device, unsigned* count) {
  return with(device, count, [&](const Device&) { return *count = 0, NVML_SUCCESS; });
}

}  // namespace

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int* infoCount,
                                                  nvmlProcessInfo_v1_t* infos) {
  return list_compute(device, infoCount, infos);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount,
                                                     nvmlProcessInfo_t* infos) {
  return list_compute(device, infoCount, infos);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int* infoCount,
                                                   nvmlProcessInfo_v1_t*) {
  return list_none(device, infoCount);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount,
                                                      nvmlProcessInfo_t*) {
  return list_none(device, infoCount);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int* infoCount,
                                                     nvmlProcessInfo_v1_t*) {
  return list_none(device, infoCount);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount,
                                                        nvmlProcessInfo_t*) {
  return list_none(device, infoCount);
}

/// Modes: 0 compute, 1 graphics, 2 MPS (nvml.h 13.0, nvmlProcessMode_t).
nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t* plist) {
  return with_usage(device, plist, true, [&](const Usage& usage) {
    if (plist->version != nvmlProcessDetailList_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (plist->mode > 2) return NVML_ERROR_INVALID_ARGUMENT;
    return list(plist->mode == 0 ? usage.processes : std::vector<Usage::Process>{}, plist->numProcArrayEntries,
                plist->procArray);
  });
}

}  // namespace flexrack::client::nvml
