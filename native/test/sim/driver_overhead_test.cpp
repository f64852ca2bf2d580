// What contexts, code and limits take of a device, as of hardware: before anything is asked for, and given back with
// them.
#include "cuda/own_tables.h"
#include "driver_rig.h"

using namespace flexrack::test::driver;

namespace {

constexpr int kDevice = 2;   // no other test counts its memory

std::uint64_t used() {
  std::uint64_t bytes = 0;
  CU(flexrack::cuda::find_table<flexrack::cuda::SimTable>(cuGetExportTable)->memory(kDevice, &bytes));
  return bytes;
}

}  // namespace

TEST_CASE("overhead: a context, its modules and its limits take memory of the device until they end") {
  initialise();
  const auto before = used();
  CUcontext context = nullptr, second = nullptr;
  CU(cuCtxCreate_v2(&context, 0, kDevice));
  const auto own = used() - before;
  CHECK_EQ(own, 1 << 20);   // FLEXRACK_SIM_CONTEXT
  CU(cuCtxCreate_v2(&second, 0, kDevice));
  CHECK_EQ(used() - before, 2 * own);
  CU(cuCtxDestroy_v2(second));
  CU(cuCtxSetCurrent(context));
  CUmodule module = nullptr;
  CU(cuModuleLoadData(&module, kKernels));
  CHECK_GT(used() - before, own);
  CU(cuModuleUnload(module));
  CHECK_EQ(used() - before, own);
  size_t free = 0, total = 0;
  CU(cuMemGetInfo_v2(&free, &total));
  CHECK_EQ(total - free, used());
  // A limit that is raised; memory for one that is lowered stays.
  int multiprocessors = 0, threads = 0;
  CU(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, kDevice));
  CU(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, kDevice));
  CU(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 5 << 20));
  CU(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
  const auto raised = own + (4 << 20) + 1024 * static_cast<std::uint64_t>(multiprocessors * threads);
  CHECK_EQ(used() - before, raised);
  CU(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20));
  CU(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  CU(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
  CHECK_EQ(used() - before, raised);
  CHECK_EQ(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, total), CUDA_ERROR_OUT_OF_MEMORY);
  // A context, and a module, for which there is nothing left.
  CUdeviceptr rest = 0;
  CU(cuMemGetInfo_v2(&free, &total));
  CU(cuMemAlloc_v2(&rest, free));
  CHECK_EQ(cuModuleLoadData(&module, kKernels), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQ(cuCtxCreate_v2(&second, 0, kDevice), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQ(cuDevicePrimaryCtxRetain(&second, kDevice), CUDA_ERROR_OUT_OF_MEMORY);
  CU(cuMemFree_v2(rest));
  CU(cuModuleLoadData(&module, kKernels));
  CU(cuCtxDestroy_v2(context));
  CHECK_EQ(used(), before);
}
