// cuGetExportTable: tables of functions without names, which NVIDIA's runtime library asks of a driver before it does
// anything else.
#pragma once

#include <vector>

#include "cuda/integrity.h"
#include "gen/cuda/cuda.h"

namespace flexrack::cuda {

/// What the tables need of the driver they belong to. Called from any thread; nothing here may throw.
class DriverFacts {
 public:
  virtual ~DriverFacts() = default;
  /// The handle of the device's primary context, without activating it: the one that a later cuDevicePrimaryCtxRetain
  /// gives.
  virtual CUresult primary_context(CUdevice device, CUcontext* context) noexcept = 0;
  /// The calling thread's; null where none is current. On the path of every call of the runtime: a few nanoseconds.
  virtual CUcontext current_context() noexcept = 0;
  /// As cuCtxGetId says.
  virtual CUresult context_id(CUcontext context, unsigned long long* id) noexcept = 0;
  /// All devices in the order of their ordinals.
  virtual std::vector<DeviceIdentity> devices() noexcept = 0;
  /// As cuModuleLoadData, in the thread's context.
  virtual CUresult load_module(CUmodule* module, const void* image) noexcept = 0;
  /// As cuDriverGetVersion says.
  virtual int version() noexcept = 0;
};

/// cuGetExportTable of a driver. CUDA_ERROR_NOT_FOUND for a table we do not have, CUDA_ERROR_INVALID_VALUE where an
/// argument is null. The facts have to last as long as the process; one driver a process, so the first that is given is
/// the one that all tables use.
CUresult export_table(DriverFacts& driver, const void** table, const CUuuid* id) noexcept;

}  // namespace flexrack::cuda
