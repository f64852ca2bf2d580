// How applications and runtime libraries find the driver's functions, and what they ask of it before anything else.
#include <array>
#include <cstring>

#include "client/cuda/driver.h"
#include "client/cuda/settle.h"
#include "client/cuda/thread.h"
#include "cuda/export_tables.h"
#include "gen/cuda/client_functions.h"
#include "gen/cuda/entry_points.h"

namespace flexrack::client::cuda {
namespace {

class Facts final : public flexrack::cuda::DriverFacts {
 public:
  CUresult primary_context(CUdevice ordinal, CUcontext* context) noexcept override {
    const auto* device = device_of(ordinal);
    if (!device) return process() ? CUDA_ERROR_INVALID_DEVICE : not_open();
    *context = device->primary;
    return CUDA_SUCCESS;
  }
  CUcontext current_context() noexcept override { return thread_state.current; }
  CUresult context_id(CUcontext context, unsigned long long* id) noexcept override {
    return cuda::cuCtxGetId(context, id);
  }
  std::vector<flexrack::cuda::DeviceIdentity> devices() noexcept override {
    std::vector<flexrack::cuda::DeviceIdentity> all;
    if (const auto* known = process()) {
      for (const auto* device : known->devices) {
        auto& one = all.emplace_back();
        std::memcpy(one.uuid.data(), &device->uuid, one.uuid.size());
        one.pci_domain = device->attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
        one.pci_bus = device->attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
        one.pci_device = device->attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
      }
    }
    return all;
  }
  CUresult load_module(CUmodule* module, const void* image) noexcept override {
    return cuda::cuModuleLoadData(module, image);
  }
  int version() noexcept override {
    const auto* known = process();
    return known ? known->driver_version : 0;
  }
};

struct ResultText {
  CUresult result;
  const char *name, *text;
};
constexpr ResultText kResults[] = {
#define RESULT(name, text) {name, #name, text},
#include "gen/cuda/results.inc"
#undef RESULT
};

const ResultText* find_result(CUresult result) {
  for (const auto& one : kResults) {
    if (one.result == result) return &one;
  }
  return nullptr;
}

}  // namespace

CUresult cuGetErrorName(CUresult error, const char** pStr) {
  if (!pStr) return CUDA_ERROR_INVALID_VALUE;
  const auto* found = find_result(error);
  *pStr = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** pStr) {
  if (!pStr) return CUDA_ERROR_INVALID_VALUE;
  const auto* found = find_result(error);
  *pStr = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuInit(unsigned int Flags) { return Flags == 0 ? open_process() : CUDA_ERROR_INVALID_VALUE; }

/// May be asked before cuInit. Where no server can be reached it is the version that this driver is written for: what
/// fails then is cuInit, with its reason.
CUresult cuDriverGetVersion(int* driverVersion) {
  if (!driverVersion) return CUDA_ERROR_INVALID_VALUE;
  open_process();
  const auto* known = process();
  *driverVersion = known ? known->driver_version : 13000;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* symbolStatus) {
  constexpr cuuint64_t kKnown = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!symbol || !pfn || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto found = cu::find(symbol, cudaVersion, flags);
  *pfn = found.entry ? entry_address(static_cast<std::size_t>(found.entry - cu::entry_points().data())) : nullptr;
  if (symbolStatus) {
    *symbolStatus = found.status;
    return CUDA_SUCCESS;
  }
  return found.entry ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
  return cuda::cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) {
  static auto& facts = *new Facts;
  if (ppExportTable && pExportTableId && flexrack::cuda::is_named<flexrack::cuda::ClientTable>(*pExportTableId))
    return *ppExportTable = &client_table(), CUDA_SUCCESS;
  if (ppExportTable && pExportTableId && flexrack::cuda::is_named<flexrack::cuda::NcclTable>(*pExportTableId))
    return *ppExportTable = &nccl_table(), CUDA_SUCCESS;
  return flexrack::cuda::export_table(facts, ppExportTable, pExportTableId);
}

/// Kernels are looked up when they are first used.
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (!process()) return not_open();
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart() { return process() ? CUDA_SUCCESS : not_open(); }
CUresult cuProfilerStop() { return process() ? CUDA_SUCCESS : not_open(); }

}  // namespace flexrack::client::cuda
