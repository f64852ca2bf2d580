// A CUDA driver that has devices and can do nothing with them: for tests of what the daemon asks a driver for. As the
// driver in software it reads FLEXRACK_SIM_DEVICES (default 1), FLEXRACK_SIM_MEMORY (bytes) and FLEXRACK_SIM_SEED;
// FLEXRACK_SIM_FAULT=init: it does not start. It does not start either where CUDA_VISIBLE_DEVICES says what to show,
// and its log says what that was.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gen/cuda/cuda.h"

namespace {

unsigned long long given(const char* name, unsigned long long otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CUresult cuInit(unsigned int) {
  const char* fault = std::getenv("FLEXRACK_SIM_FAULT");
  return (fault && std::strcmp(fault, "init") == 0) || std::getenv("CUDA_VISIBLE_DEVICES") ? CUDA_ERROR_NO_DEVICE
                                                                                           : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) { return *version = 13010, CUDA_SUCCESS; }

CUresult cuGetErrorName(CUresult error, const char** name) {
  return *name = error == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR", CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult, const char** text) { return *text = "as the test wants it", CUDA_SUCCESS; }

CUresult cuLogsDumpToMemory(unsigned int*, char* buffer, size_t* size, unsigned int) {
  const char* shown = std::getenv("CUDA_VISIBLE_DEVICES");
  const int length = std::snprintf(buffer, *size, "[11:00:00.000][7][CUDA][W] before\n[11:00:00.001][7][CUDA][E] %s\n",
                                   shown ? shown : "no such thing");
  *size = static_cast<std::size_t>(length) + 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return *count = static_cast<int>(given("FLEXRACK_SIM_DEVICES", 1)), CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }

CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(length), "made up");
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  return *bytes = given("FLEXRACK_SIM_MEMORY", 1 << 30), CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  const auto seed = given("FLEXRACK_SIM_SEED", 0);
  std::memset(uuid, 0, sizeof *uuid);
  std::memcpy(uuid->bytes, &seed, sizeof seed);
  uuid->bytes[15] = static_cast<char>(device + 0xa0);
  return CUDA_SUCCESS;
}

/// The second device is a part of one.
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  cuDeviceGetUuid(uuid, device);
  if (device == 1) uuid->bytes[14] = 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
           : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT   ? 132
                                                                 : 0;
  return CUDA_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
