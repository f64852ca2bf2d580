// The functions of CUDA's driver that the benches use, of a driver opened here, and processor time.
#pragma once

#include <dlfcn.h>

#include <ctime>
#include <stdexcept>
#include <string>

#include "gen/cuda/cuda.h"

namespace flexrack::bench {

/// By the names under which a driver exports them. Throws std::runtime_error where there is none, or one of them is
/// missing.
struct CudaDriver {
#define FLEXRACK_EACH(DO)                                     \
  DO(cuInit, cuInit)                                          \
  DO(cuGetErrorName, cuGetErrorName)                          \
  DO(cuDeviceGet, cuDeviceGet)                                \
  DO(cuDeviceGetName, cuDeviceGetName)                        \
  DO(cuDeviceGetAttribute, cuDeviceGetAttribute)              \
  DO(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)      \
  DO(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2) \
  DO(cuCtxSetCurrent, cuCtxSetCurrent)                        \
  DO(cuCtxGetDevice, cuCtxGetDevice)                          \
  DO(cuCtxSynchronize, cuCtxSynchronize)                      \
  DO(cuModuleLoadData, cuModuleLoadData)                      \
  DO(cuModuleGetFunction, cuModuleGetFunction)                \
  DO(cuLaunchKernel, cuLaunchKernel)                          \
  DO(cuStreamCreate, cuStreamCreate)                          \
  DO(cuStreamSynchronize, cuStreamSynchronize)                \
  DO(cuStreamWaitEvent, cuStreamWaitEvent)                    \
  DO(cuEventCreate, cuEventCreate)                            \
  DO(cuEventRecord, cuEventRecord)                            \
  DO(cuMemAlloc, cuMemAlloc_v2)                               \
  DO(cuMemAllocHost, cuMemAllocHost_v2)                       \
  DO(cuMemFree, cuMemFree_v2)                                 \
  DO(cuMemsetD8, cuMemsetD8_v2)                               \
  DO(cuMemcpyHtoD, cuMemcpyHtoD_v2)                           \
  DO(cuMemcpyDtoH, cuMemcpyDtoH_v2)                           \
  DO(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)
#define FLEXRACK_DECLARE(name, exported) decltype(&::exported) name = nullptr;
  FLEXRACK_EACH(FLEXRACK_DECLARE)
#undef FLEXRACK_DECLARE

  explicit CudaDriver(const std::string& file) {
    void* library = dlopen(file.empty() ? "libcuda.so.1" : file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
#define FLEXRACK_LOOK_UP(name, exported)                              \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #exported)); \
  if (!name) throw std::runtime_error(std::string("a CUDA driver without ") + #exported);
    FLEXRACK_EACH(FLEXRACK_LOOK_UP)
#undef FLEXRACK_LOOK_UP
  }
#undef FLEXRACK_EACH

  /// Throws std::runtime_error with the error's name.
  void check(CUresult code, const char* what) const {
    if (code == CUDA_SUCCESS) return;
    const char* name = nullptr;
    cuGetErrorName(code, &name);
    throw std::runtime_error(std::string(what) + ": " + (name ? name : std::to_string(code)));
  }
};

inline double processor_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace flexrack::bench
