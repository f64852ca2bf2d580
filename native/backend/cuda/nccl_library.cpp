#include "backend/cuda/nccl_library.h"

#include <dlfcn.h>

#include <cstdio>
#include <utility>

namespace flexrack::backend::cuda {
namespace {

/// NCCL opens libcuda.so.1 and libnvidia-ml.so.1 by these names. The driver in software bears the first, whatever its
/// file is called; its NVML is open where the daemon was told of one, else it lies beside the driver.
void bring_management(const DriverLibrary& driver) {
  Dl_info about{};
  if (!driver.sim() || dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_NOLOAD) ||
      dladdr(reinterpret_cast<const void*>(driver.find<decltype(::cuInit)>("cuInit")), &about) == 0)
    return;
  const std::string file = about.dli_fname;
  if (!dlopen((file.substr(0, file.rfind('/') + 1) + "libflexrack-sim-nvml.so").c_str(), RTLD_NOW | RTLD_LOCAL))
    std::fprintf(stderr, "NCCL needs an NVML, and the driver in software has none beside it: %s\n", dlerror());
}

}  // namespace

const nccl::LibraryTable* NcclLibrary::open(const DriverLibrary& driver) {
  if (!std::exchange(is_tried_, true)) is_open_ = load(driver);
  return is_open_ ? &table_ : nullptr;
}

bool NcclLibrary::load(const DriverLibrary& driver) {
  if (path_.empty()) return why_ = "this daemon carries no collectives: it was started without --nccl", false;
  bring_management(driver);
  void* const library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return why_ = std::string("NCCL: ") + dlerror(), false;
  nccl::fill(table_, [&](const char* symbol) { return dlsym(library, symbol); });
  // 2.14: communicators that do not block, which can be ended while their ranks come together.
  int version = 0;
  if (!table_.ncclGetVersion || table_.ncclGetVersion(&version) != ncclSuccess || version < 21400 ||
      !table_.ncclCommInitRankConfig || !table_.ncclCommFinalize || !table_.ncclCommAbort || !table_.ncclCommDestroy ||
      !table_.ncclCommGetAsyncError || !table_.ncclGroupStart || !table_.ncclGroupEnd || !table_.ncclGetUniqueId)
    return why_ = path_ + " is no NCCL, or older than 2.14", false;
  return true;
}

std::string NcclLibrary::text_of(ncclResult_t result) const {
  const auto* meaning = table_.ncclGetErrorString ? table_.ncclGetErrorString(result) : nullptr;
  const auto* last = table_.ncclGetLastError ? table_.ncclGetLastError(nullptr) : nullptr;
  return std::string(meaning ? meaning : "error") + (last && *last ? std::string(": ") + last : "");
}

}  // namespace flexrack::backend::cuda
