// Contexts, the stack of a thread, limits, handles that are none.
#include <thread>

#include "driver_rig.h"

using namespace flexrack::test::driver;

TEST_CASE("driver: the stack of contexts") {
  initialise();
  CUcontext first = nullptr, second = nullptr, found = nullptr;
  CU(cuCtxCreate_v2(&first, CU_CTX_SCHED_SPIN, 0));
  CU(cuCtxCreate_v4(&second, nullptr, 0, 1));
  CU(cuCtxGetCurrent(&found));
  CHECK_EQ(found, second);
  CUdevice device = -1;
  CU(cuCtxGetDevice(&device));
  CHECK_EQ(device, 1);
  CU(cuCtxGetDevice_v2(&device, first));
  CHECK_EQ(device, 0);
  unsigned flags = 99;
  CU(cuCtxPopCurrent_v2(&found));
  CHECK_EQ(found, second);
  CU(cuCtxGetFlags(&flags));
  CHECK_EQ(flags, CU_CTX_SCHED_SPIN);
  CU(cuCtxPushCurrent_v2(second));
  std::thread([&] {
    CUcontext other = first;
    CU(cuCtxGetCurrent(&other));
    CHECK_EQ(other, nullptr);
    CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQ(cuCtxPopCurrent_v2(&other), CUDA_ERROR_INVALID_CONTEXT);
    CU(cuCtxSetCurrent(second));
    CU(cuCtxSynchronize());
    CU(cuCtxSetCurrent(nullptr));
  }).join();
  unsigned long long id = 0, other_id = 0;
  CU(cuCtxGetId(first, &id));
  CU(cuCtxGetId(second, &other_id));
  CHECK_NE(id, other_id);
  CU(cuCtxDestroy_v2(second));
  CU(cuCtxGetCurrent(&found));
  CHECK_EQ(found, first);
  CHECK_EQ(cuCtxDestroy_v2(second), CUDA_ERROR_INVALID_CONTEXT);
  CHECK_EQ(cuCtxSetCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
  // Destroyed by another thread, it stays on this one's stack and answers so.
  std::thread([&] { CU(cuCtxDestroy_v2(first)); }).join();
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CU(cuCtxPopCurrent_v2(&found));
  CHECK_EQ(cuCtxCreate_v2(&first, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuCtxCreate_v2(&first, 0, kDevices), CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("driver: primary contexts") {
  initialise();
  CUcontext context = nullptr, again = nullptr;
  unsigned flags = 0;
  int is_active = -1;
  CU(cuDevicePrimaryCtxGetState(2, &flags, &is_active));
  CHECK_EQ(is_active, 0);
  CU(cuDevicePrimaryCtxSetFlags_v2(2, CU_CTX_SCHED_YIELD));
  CU(cuDevicePrimaryCtxRetain(&context, 2));
  CU(cuDevicePrimaryCtxRetain(&again, 2));
  CHECK_EQ(context, again);
  CU(cuDevicePrimaryCtxGetState(2, &flags, &is_active));
  CHECK_EQ(is_active, 1);
  CHECK_EQ(flags, CU_CTX_SCHED_YIELD);
  CU(cuCtxPushCurrent_v2(context));
  CUdeviceptr memory = 0;
  size_t before = 0, free = 0, total = 0;
  CU(cuMemGetInfo_v2(&before, &total));
  CU(cuMemAlloc_v2(&memory, 1 << 20));
  CUstream stream = make_stream();
  CU(cuDevicePrimaryCtxRelease_v2(2));
  CU(cuStreamSynchronize(stream));
  CU(cuDevicePrimaryCtxRelease_v2(2));
  CHECK_EQ(cuDevicePrimaryCtxRelease_v2(2), CUDA_ERROR_INVALID_CONTEXT);
  CHECK_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQ(cuMemAlloc_v2(&memory, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CU(cuDevicePrimaryCtxRetain(&again, 2));
  CHECK_EQ(context, again);
  CU(cuMemGetInfo_v2(&free, &total));
  CHECK_EQ(free, before);
  CU(cuMemAlloc_v2(&memory, 1 << 20));
  CU(cuDevicePrimaryCtxReset_v2(2));
  CU(cuDevicePrimaryCtxGetState(2, &flags, &is_active));
  CHECK_EQ(is_active, 0);
  CHECK_EQ(cuCtxDestroy_v2(context), CUDA_ERROR_INVALID_CONTEXT);
  CU(cuCtxPopCurrent_v2(nullptr));
}

TEST_CASE("driver: limits and configurations") {
  const Rig rig;
  size_t value = 0;
  CU(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4001));
  CU(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  CHECK_EQ(value, 4016);
  CU(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4096));
  CU(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
  CHECK_EQ(value, 4096);
  CHECK_EQ(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 3), CUDA_ERROR_UNSUPPORTED_LIMIT);
  CUfunc_cache cache{};
  CU(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  CU(cuCtxGetCacheConfig(&cache));
  CHECK_EQ(cache, CU_FUNC_CACHE_PREFER_L1);
  int least = -1, greatest = 1;
  CU(cuCtxGetStreamPriorityRange(&least, &greatest));
  CHECK_EQ(least, 0);
  CHECK_LT(greatest, least);
}

TEST_CASE("driver: handles that are none") {
  const Rig rig;
  int on_stack = 0;
  for (void* wrong : {static_cast<void*>(&on_stack), reinterpret_cast<void*>(0x1234567),
                      reinterpret_cast<void*>(~std::uintptr_t{0}), static_cast<void*>(rig.context)}) {
    CHECK_EQ(cuStreamSynchronize(static_cast<CUstream>(wrong)), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuEventQuery(static_cast<CUevent>(wrong)), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuModuleUnload(static_cast<CUmodule>(wrong)), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuGraphDestroy(static_cast<CUgraph>(wrong)), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQ(cuLaunchKernel(static_cast<CUfunction>(wrong), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
             CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuArrayDestroy(static_cast<CUarray>(wrong)), CUDA_ERROR_INVALID_HANDLE);
  }
  const auto event = make_event();
  CU(cuEventDestroy_v2(event));
  CHECK_EQ(cuEventDestroy_v2(event), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("driver: what a context has ends with it") {
  initialise();
  CUcontext context = nullptr;
  CU(cuCtxCreate_v2(&context, 0, 1));
  size_t before = 0, after = 0, total = 0;
  CU(cuMemGetInfo_v2(&before, &total));
  CUdeviceptr memory = 0, pooled = 0;
  CU(cuMemAlloc_v2(&memory, 12345));
  CU(cuMemAllocAsync(&pooled, 54321, nullptr));
  CUmodule module = nullptr;
  CU(cuModuleLoadData(&module, kKernels));
  const CUDA_ARRAY_DESCRIPTOR as{64, 64, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  CU(cuArrayCreate_v2(&array, &as));
  const auto stream = make_stream();
  const auto event = make_event();
  CU(cuEventRecord(event, stream));
  CU(cuCtxDestroy_v2(context));
  CHECK_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  CU(cuCtxCreate_v2(&context, 0, 1));
  CU(cuMemGetInfo_v2(&after, &total));
  CHECK_EQ(after, before);
  CHECK_EQ(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
  CU(cuCtxDestroy_v2(context));
}
