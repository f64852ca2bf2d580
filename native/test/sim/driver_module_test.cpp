// Modules, libraries, functions and their attributes, launches, linking.
#include "cuda_facts/fatbin_writer.h"
#include "driver_rig.h"

using namespace flexrack::test::driver;

TEST_CASE("driver: modules") {
  Rig rig;
  rig.kernel("empty");
  unsigned count = 0;
  CU(cuModuleGetFunctionCount(&count, rig.module));
  CHECK_EQ(count, 10);
  std::vector<CUfunction> functions(count);
  CU(cuModuleEnumerateFunctions(functions.data(), count, rig.module));
  CUfunction found = nullptr;
  CU(cuModuleGetFunction(&found, rig.module, "add"));
  CHECK_EQ(found, functions[0]);
  CHECK_EQ(cuModuleGetFunction(&found, rig.module, "subtract"), CUDA_ERROR_NOT_FOUND);
  const char* name = nullptr;
  CU(cuFuncGetName(&name, functions[0]));
  CHECK_EQ(std::string(name), "add");
  CUmodule module = nullptr;
  CU(cuFuncGetModule(&module, functions[0]));
  CHECK_EQ(module, rig.module);
  CUdeviceptr counter = 0, table = 0;
  size_t size = 0;
  CU(cuModuleGetGlobal_v2(&counter, &size, rig.module, "counter"));
  CHECK_EQ(size, 4);
  unsigned value = 0;
  CU(cuMemcpyDtoH_v2(&value, counter, 4));
  CHECK_EQ(value, 7);
  CU(cuModuleGetGlobal_v2(&table, &size, rig.module, "table"));
  CHECK_EQ(size, 16);
  CU(cuMemcpyDtoH_v2(&value, table, 4));
  CHECK_EQ(value, 0x04030201);
  CU(cuMemcpyDtoH_v2(&value, table + 12, 4));
  CHECK_EQ(value, 0);
  CHECK_EQ(cuMemFree_v2(counter), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuModuleGetGlobal_v2(&counter, &size, rig.module, "nothing"), CUDA_ERROR_NOT_FOUND);
  // Constants can be set by the host.
  CUdeviceptr scale = 0;
  CU(cuModuleGetGlobal_v2(&scale, &size, rig.module, "scale"));
  Numbers result(1);
  CU(rig.launch("scaled", {&result.address}));
  CHECK(result.are_all(21));
  value = 5;
  CU(cuMemcpyHtoD_v2(scale, &value, 4));
  CU(rig.launch("scaled", {&result.address}));
  CHECK(result.are_all(35));
  CU(cuModuleUnload(rig.module));
  CHECK_EQ(cuModuleUnload(rig.module), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQ(cuLaunchKernel(functions[0], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQ(cuMemcpyDtoH_v2(&value, table, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: images that cannot be loaded") {
  const Rig rig;
  CUmodule module = nullptr;
  char log[512] = "x";
  const auto load = [&](const char* image) {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log), nullptr};
    const auto result = cuModuleLoadDataEx(&module, image, 3, options, values);
    CHECK_EQ(reinterpret_cast<std::size_t>(values[1]), std::strlen(log));
    return result;
  };
  CHECK_EQ(load(".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n  mov.u32 %r1, 4;\n  ret;\n}\n"),
           CUDA_ERROR_INVALID_PTX);
  CHECK_NE(std::string(log).find("line 5"), std::string::npos);
  CHECK_EQ(load(".version 77.0\n.target sm_70\n.address_size 64\n"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CHECK_EQ(load("hello"), CUDA_ERROR_INVALID_IMAGE);
  CHECK_EQ(load(kKernels), CUDA_SUCCESS);
  CHECK_EQ(std::string(log), "");
  CU(cuModuleUnload(module));
  CHECK_EQ(cuModuleLoad(&module, "/nowhere/at/all.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  CHECK_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: libraries are loaded where they are used") {
  initialise();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr, again = nullptr;
  CU(cuLibraryLoadData(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU(cuLibraryGetKernel(&kernel, library, "count"));
  CU(cuLibraryGetKernel(&again, library, "count"));
  CHECK_EQ(kernel, again);
  CHECK_EQ(cuLibraryGetKernel(&again, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  unsigned count = 0;
  CU(cuLibraryGetKernelCount(&count, library));
  CHECK_EQ(count, 10);
  CUdeviceptr addresses[2] = {};
  for (int device = 0; device < 2; ++device) {
    const Rig rig(device);
    // A kernel may be given for a function.
    for (int i = 0; i <= device; ++i)
      CU(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    size_t size = 0;
    CU(cuLibraryGetGlobal(&addresses[device], &size, library, "counter"));
    unsigned value = 0;
    CU(cuMemcpyDtoH_v2(&value, addresses[device], 4));
    CHECK_EQ(value, 8u + static_cast<unsigned>(device));
    CUfunction function = nullptr;
    CU(cuKernelGetFunction(&function, kernel));
    CUmodule module = nullptr, of = nullptr;
    CU(cuLibraryGetModule(&module, library));
    CU(cuFuncGetModule(&of, function));
    CHECK_EQ(module, of);
  }
  CUlibrary found = nullptr;
  CU(cuKernelGetLibrary(&found, kernel));
  CHECK_EQ(found, library);
  int value = 0;
  CU(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel, 1));
  CU(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 1));
  CHECK_EQ(value, 60000);
  CU(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
  CHECK_EQ(value, 49152);
  CU(cuLibraryUnload(library));
  CHECK_EQ(cuLibraryGetKernel(&kernel, library, "count"), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQ(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("driver: a fatbin says how many registers its compiler may use, and so how many threads fit") {
  Rig rig;
  // A hundred values that live at once.
  std::string loads, sums;
  for (int i = 0; i < 100; ++i) {
    loads += "ld.volatile.global.u32 %v" + std::to_string(i) + ", [%d0+" + std::to_string(i * 4) + "]; ";
    sums += "add.u32 %s, %s, %v" + std::to_string(i) + "; ";
  }
  const auto text =
      ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry sum(.param .u64 at) { .reg .b64 %d0; .reg .b32 %v<100>, %s; ld.param.u64 %d0, [at]; " +
      loads + "mov.u32 %s, 0; " + sums + "st.global.u32 [%d0], %s; ret; }\n";
  const auto attribute = [](CUmodule module, CUfunction_attribute which) {
    CUfunction function = nullptr;
    int value = 0;
    CU(cuModuleGetFunction(&function, module, "sum"));
    CU(cuFuncGetAttribute(&value, which, function));
    return value;
  };
  CUmodule module = nullptr;
  CU(cuModuleLoadData(&module, flexrack::test::FatbinWriter().add(1, 70, text).container().data()));
  CHECK_GE(attribute(module, CU_FUNC_ATTRIBUTE_NUM_REGS), 100);
  CHECK_LT(attribute(module, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  CU(cuModuleLoadData(&module,
                      flexrack::test::FatbinWriter().add(1, 70, text, 0x11, " -maxrregcount=32 ").container().data()));
  CHECK_EQ(attribute(module, CU_FUNC_ATTRIBUTE_NUM_REGS), 32);
  CHECK_EQ(attribute(module, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  // The same by an option of the call.
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* value = reinterpret_cast<void*>(40);
  CU(cuModuleLoadDataEx(&module, text.c_str(), 1, &option, &value));
  CHECK_EQ(attribute(module, CU_FUNC_ATTRIBUTE_NUM_REGS), 40);
}

TEST_CASE("driver: parameters, and launches that are refused") {
  Rig rig;
  Numbers numbers(300);
  const auto fill = rig.kernel("fill");
  struct {
    CUdeviceptr to;
    unsigned value, count;
  } block{numbers.address, 6, 300};
  size_t size = sizeof block;
  // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END.
  void* extra[] = {reinterpret_cast<void*>(1), &block, reinterpret_cast<void*>(2), &size, nullptr};
  CU(cuLaunchKernel(fill, 3, 1, 1, 100, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(numbers.are_all(6));
  // Fewer bytes than the kernel declares: what is missing is zero, here the count.
  size = 12;
  block.value = 8;
  CU(cuLaunchKernel(fill, 3, 1, 1, 100, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(numbers.are_all(6));
  CHECK_EQ(cuLaunchKernel(fill, 3, 1, 1, 100, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  size_t offset = 0;
  CU(cuFuncGetParamInfo(fill, 2, &offset, &size));
  CHECK_EQ(offset, 12);
  CHECK_EQ(size, 4);
  CHECK_EQ(cuFuncGetParamInfo(fill, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  const auto empty = rig.kernel("empty"), shares = rig.kernel("shares");
  const auto launch = [&](CUfunction function, unsigned grid, unsigned block_x, unsigned block_y, unsigned shared) {
    void* parameters[] = {&numbers.address};
    return cuLaunchKernel(function, grid, 1, 1, block_x, block_y, 1, shared, nullptr, parameters, nullptr);
  };
  CHECK_EQ(launch(empty, 0, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(launch(empty, 1, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(launch(empty, 1, 1025, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(launch(empty, 1, 64, 17, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(launch(empty, 1, 32, 1, 49153), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(launch(empty, 1, 32, 1, 49152), CUDA_SUCCESS);
  CHECK_EQ(launch(shares, 1, 129, 1, 0), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  CHECK_EQ(launch(shares, 1, 128, 1, 45056), CUDA_SUCCESS);
  CHECK_EQ(launch(shares, 1, 128, 1, 45057), CUDA_ERROR_INVALID_VALUE);
  CU(cuFuncSetAttribute(shares, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 61440));
  CHECK_EQ(cuFuncSetAttribute(shares, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 61441),
           CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(launch(shares, 1, 128, 1, 61440), CUDA_SUCCESS);
  CU(cuCtxSynchronize());
  CHECK_EQ(numbers.read()[0], 9);
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 2;
  config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK_EQ(cuLaunchKernelEx(&config, empty, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = -2;
  CU(cuLaunchKernelEx(&config, empty, nullptr, nullptr));
  CHECK_EQ(cuLaunchCooperativeKernel(empty, 100000, 1, 1, 1024, 1, 1, 0, nullptr, nullptr),
           CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  Rig other(1);
  CHECK_EQ(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("driver: attributes of functions and occupancy") {
  Rig rig;
  const auto shares = rig.kernel("shares"), empty = rig.kernel("empty");
  const auto ask = [&](CUfunction function, CUfunction_attribute which) {
    int value = -1;
    CU(cuFuncGetAttribute(&value, which, function));
    return value;
  };
  CHECK_EQ(ask(shares, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 128);
  CHECK_EQ(ask(shares, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 4096);
  CHECK_EQ(ask(shares, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 45056);
  CHECK_EQ(ask(empty, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  CHECK_EQ(ask(empty, CU_FUNC_ATTRIBUTE_PTX_VERSION), 70);
  CHECK_EQ(ask(empty, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 75);
  int value = 0;
  CHECK_EQ(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(99), empty), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_NUM_REGS, 4), CUDA_ERROR_INVALID_VALUE);
  // Compute capability 7.5: 1024 threads, 16 blocks, 64 KiB of shared memory.
  CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, empty, 1024, 0));
  CHECK_EQ(value, 1);
  CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, empty, 32, 0));
  CHECK_EQ(value, 16);
  CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, empty, 32, 20000, 0));
  CHECK_EQ(value, 3);
  CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, shares, 256, 0));
  CHECK_EQ(value, 0);
  int grid = 0, block = 0, processors = 0;
  CU(cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, nullptr, 0, 0));
  CU(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  CHECK_EQ(block, 1024);
  CHECK_EQ(grid, processors);
  CU(cuOccupancyMaxPotentialBlockSize(
      &grid, &block, empty, [](int threads) { return static_cast<size_t>(threads) * 128; }, 0, 0));
  CHECK_EQ(block, 512);
  size_t bytes = 0;
  CU(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, shares, 2, 128));
  CHECK_EQ(bytes, 28672);
}

TEST_CASE("driver: linking") {
  Rig rig;
  const char* caller = R"(.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b32 out) twice(.param .b32 in);
.visible .entry call(.param .u64 to, .param .u32 value) {
  .reg .b32 %r<3>; .reg .b64 %d<2>; .param .b32 a; .param .b32 b;
  ld.param.u32 %r1, [value]; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 %r2, [b];
  ld.param.u64 %d1, [to]; st.global.u32 [%d1], %r2; ret;
})";
  const char* callee = R"(.version 8.0
.target sm_70
.address_size 64
.visible .func (.param .b32 out) twice(.param .b32 in) {
  .reg .b32 %r<3>; ld.param.b32 %r1, [in]; add.u32 %r2, %r1, %r1; st.param.b32 [out], %r2; ret;
})";
  CUlinkState link = nullptr;
  char log[1024];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CU(cuLinkCreate_v2(2, options, values, &link));
  const auto add = [&](const char* text, const char* name) {
    return cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, name, 0, nullptr,
                            nullptr);
  };
  CU(add(caller, "caller"));
  void* image = nullptr;
  size_t size = 0;
  CHECK_EQ(cuLinkComplete(link, &image, &size), CUDA_ERROR_INVALID_PTX);
  CHECK_NE(std::string(log).find("twice"), std::string::npos);
  CU(add(callee, "callee"));
  CHECK_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_CUBIN, log, sizeof log, "x", 0, nullptr, nullptr),
           CUDA_ERROR_NOT_SUPPORTED);
  CHECK_EQ(add("nonsense", "bad"), CUDA_ERROR_INVALID_PTX);
  CU(cuLinkComplete(link, &image, &size));
  // Programs copy so many bytes and load the copy: the zero that ends a text is one of them.
  const std::string copy(static_cast<const char*>(image), size);
  CHECK_EQ(copy.find('\0'), size - 1);
  CUmodule module = nullptr;
  CU(cuModuleLoadData(&module, copy.data()));
  CU(cuLinkDestroy(link));
  CUfunction function = nullptr;
  CU(cuModuleGetFunction(&function, module, "call"));
  Numbers result(1);
  unsigned value = 21;
  void* parameters[] = {&result.address, &value};
  CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  CHECK(result.are_all(42));
  CHECK_EQ(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
}
