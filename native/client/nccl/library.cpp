#include "client/nccl/library.h"

#include <dlfcn.h>

#include "cuda/own_tables.h"

namespace flexrack::client::nccl {

const flexrack::cuda::NcclTable* table() {
  // By its name, as CUDA's runtime libraries find it; it stays. A driver of somebody else has no such table.
  static const auto* const found = []() -> const flexrack::cuda::NcclTable* {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) return nullptr;
    const auto* known = flexrack::cuda::find_table<flexrack::cuda::NcclTable>(
        reinterpret_cast<decltype(&cuGetExportTable)>(dlsym(driver, "cuGetExportTable")));
    return known && known->size >= sizeof *known ? known : nullptr;
  }();
  return found;
}

}  // namespace flexrack::client::nccl
