// A kernel that faults breaks its context, and nothing else.
#include "driver_rig.h"
#include "sim/driver/error_log.h"

using namespace flexrack::test::driver;

namespace {

std::string last_fault() {
  char text[512];
  flexrack_sim_last_fault(text, sizeof text);
  return text;
}

/// Everything that needs the context answers its error; what only looks at handles does not.
void check_broken(Rig& rig, CUresult error) {
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  unsigned value = 0;
  CHECK_EQ(cuCtxSynchronize(), error);
  CHECK_EQ(cuStreamSynchronize(nullptr), error);
  CHECK_EQ(cuStreamQuery(nullptr), error);
  CHECK_EQ(cuMemAlloc_v2(&memory, 4), error);
  CHECK_EQ(cuMemcpyHtoD_v2(memory, &value, 4), error);
  CHECK_EQ(cuStreamCreate(&stream, 0), error);
  CHECK_EQ(cuModuleLoadData(&module, kKernels), error);
  CHECK_EQ(rig.launch("empty", {}), error);
  CUcontext found = nullptr;
  CUdevice device = -1;
  CU(cuCtxGetCurrent(&found));
  CHECK_EQ(found, rig.context);
  CU(cuCtxGetDevice(&device));
}

}  // namespace

TEST_CASE("driver: an address that is none") {
  Rig rig, other;
  Numbers fine(10);
  CU(cuCtxPushCurrent_v2(rig.context));
  const auto stream = make_stream(), idle = make_stream();
  rig.kernel("empty");
  CUdeviceptr wrong = 0x1000;
  const auto before = make_event();
  CU(cuEventRecord(before, stream));
  CU(rig.launch("store", {&wrong}, 1, stream));
  CHECK_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  const auto text = last_fault();
  CHECK_NE(text.find("store"), std::string::npos);
  CHECK_NE(text.find("0x1000"), std::string::npos);
  CHECK_EQ(cuStreamSynchronize(idle), CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK_EQ(cuEventDestroy_v2(before), CUDA_ERROR_ILLEGAL_ADDRESS);
  check_broken(rig, CUDA_ERROR_ILLEGAL_ADDRESS);
  CU(cuCtxPopCurrent_v2(nullptr));
  CU(other.fill(fine.address, 3, 10));
  CHECK(fine.are_all(3));
}

TEST_CASE("driver: one byte behind an allocation") {
  Rig rig;
  rig.kernel("empty");
  Numbers numbers(10);
  CUdeviceptr behind = numbers.address + 40;
  CU(rig.launch("store", {&behind}));
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  check_broken(rig, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("driver: freed memory") {
  Rig rig;
  CUdeviceptr memory = 0;
  CU(cuMemAlloc_v2(&memory, 1 << 22));
  CU(cuMemFree_v2(memory));
  CU(rig.launch("store", {&memory}));
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("driver: an address that is not aligned") {
  Rig rig;
  rig.kernel("empty");
  Numbers numbers(10);
  CUdeviceptr wrong = numbers.address + 2;
  CU(rig.launch("store", {&wrong}));
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
  check_broken(rig, CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST_CASE("driver: a trap ends other kernels of the context too") {
  Rig rig;
  Numbers numbers(10);
  rig.kernel("empty");
  const auto endless = make_stream(), trap = make_stream();
  CU(rig.launch("wait", {&numbers.address}, 1, endless));   // nobody sets it
  CU(rig.launch("dies", {}, 1, trap));
  CHECK_EQ(cuStreamSynchronize(trap), CUDA_ERROR_LAUNCH_FAILED);
  CHECK_EQ(cuStreamSynchronize(endless), CUDA_ERROR_LAUNCH_FAILED);
  check_broken(rig, CUDA_ERROR_LAUNCH_FAILED);
}

TEST_CASE("driver: what is behind a fault is not done, but callbacks are told") {
  Rig rig;
  Numbers numbers(10);
  unsigned* shared = nullptr;
  CU(cuMemHostAlloc(reinterpret_cast<void**>(&shared), 64, 0));
  shared[0] = shared[1] = shared[2] = 0;
  const auto stream = make_stream();
  Flag flag;
  auto address = flag.address();
  CU(rig.launch("wait", {&address}, 1, stream));
  CU(rig.launch("dies", {}, 1, stream));
  CU(cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(shared), 9, 1, stream));
  CU(cuLaunchHostFunc(stream, [](void* data) { static_cast<unsigned*>(data)[1] = 9; }, shared));
  CU(cuStreamAddCallback(
      stream, [](CUstream, CUresult status, void* data) { static_cast<unsigned*>(data)[2] = status; }, shared, 0));
  flag.raise();
  CHECK_EQ(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  CHECK_EQ(shared[0], 0);
  CHECK_EQ(shared[1], 0);
  CHECK_EQ(shared[2], CUDA_ERROR_LAUNCH_FAILED);
}

TEST_CASE("driver: a primary context works again after it was reset") {
  initialise();
  CUcontext context = nullptr;
  CU(cuDevicePrimaryCtxRetain(&context, 1));
  CU(cuCtxPushCurrent_v2(context));
  CUmodule module = nullptr;
  CU(cuModuleLoadData(&module, kKernels));
  CUfunction dies = nullptr;
  CU(cuModuleGetFunction(&dies, module, "dies"));
  CU(cuLaunchKernel(dies, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  CU(cuDevicePrimaryCtxReset_v2(1));
  CU(cuDevicePrimaryCtxRetain(&context, 1));
  CU(cuCtxSynchronize());
  CU(cuModuleLoadData(&module, kKernels));
  CU(cuDevicePrimaryCtxRelease_v2(1));
  CU(cuCtxPopCurrent_v2(nullptr));
}

TEST_CASE("driver: faults that were asked for" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  Rig rig;
  CUdeviceptr memory[5] = {};
  CU(cuMemAlloc_v2(&memory[0], 4));
  CHECK_EQ(cuMemAlloc_v2(&memory[1], 4), CUDA_ERROR_OUT_OF_MEMORY);
  CU(cuMemAlloc_v2(&memory[1], 4));
  CUmodule module = nullptr;
  CU(cuModuleLoadData(&module, kKernels));
  CHECK_EQ(cuModuleLoadData(&rig.module, kKernels), CUDA_ERROR_OUT_OF_MEMORY);
  rig.module = module;
  CU(rig.launch("empty", {}));
  CU(rig.launch("empty", {}));
  CU(cuCtxSynchronize());
  CU(rig.launch("empty", {}));
  CHECK_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  CHECK_NE(last_fault().find("empty"), std::string::npos);
}

TEST_CASE("driver: injected faults") {
  CHECK_EQ(run_apart("driver: faults that were asked for", {{"FLEXRACK_SIM_FAULT", "launch:3,alloc:2,load:2"}}), 0);
}
