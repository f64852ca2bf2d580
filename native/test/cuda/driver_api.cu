// The driver API itself: PTX as text, modules and libraries, launches with arguments in every form, linking, contexts,
// attributes, occupancy.
#include "driver.h"

#include <string>

namespace {

/// By hand, so that it is the same whatever nvcc makes of a source. PTX ISA 6.3 for sm_75 runs everywhere.
const char* const kMain = R"(
.version 6.3
.target sm_75
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .global .align 4 .u32 counter = 40;
.visible .entry compute(.param .u64 out, .param .u32 a, .param .f32 b, .param .u8 c)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<3>;
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd1, %rd1;
	ld.param.u32 %r1, [a];
	{
	.param .b32 argument;
	.param .b32 answer;
	st.param.b32 [argument], %r1;
	call (answer), twice, (argument);
	ld.param.b32 %r2, [answer];
	}
	st.global.u32 [%rd1], %r2;
	ld.param.f32 %f1, [b];
	add.f32 %f2, %f1, %f1;
	st.global.f32 [%rd1+4], %f2;
	ld.param.u8 %r3, [c];
	st.global.u32 [%rd1+8], %r3;
	mov.u64 %rd2, counter;
	cvta.global.u64 %rd2, %rd2;
	atom.global.add.u32 %r4, [counter], 2;
	st.global.u32 [%rd1+12], %r4;
	ret;
}
)";
const char* const kPart = R"(
.version 6.3
.target sm_75
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 value)
{
	.reg .b32 %r<3>;
	ld.param.b32 %r1, [value];
	shl.b32 %r2, %r1, 1;
	st.param.b32 [result], %r2;
	ret;
}
)";
const char* const kAlone = R"(
.version 6.3
.target sm_75
.address_size 64
.visible .const .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 values, .param .u32 count)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [values];
	ld.param.u32 %r1, [count];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra done;
	mul.wide.u32 %rd2, %r5, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.u32 %r6, [%rd3];
	ld.const.u32 %r7, [factor];
	mul.lo.u32 %r6, %r6, %r7;
	st.u32 [%rd3], %r6;
done:
	ret;
}
)";

struct Results {
  unsigned twice;
  float sum;
  unsigned byte, counter;
};

Results results_at(CUdeviceptr memory) {
  Results found{};
  DRIVER(cuMemcpyDtoH(&found, memory, sizeof found));
  return found;
}

void* link(std::size_t* size, CUlinkState* state) {
  static char info[4096], errors[4096];
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_LOG_VERBOSE};
  void* values[] = {info, reinterpret_cast<void*>(sizeof info), errors, reinterpret_cast<void*>(sizeof errors),
                    reinterpret_cast<void*>(1)};
  DRIVER(cuLinkCreate(5, options, values, state));
  DRIVER(cuLinkAddData(*state, CU_JIT_INPUT_PTX, const_cast<char*>(kMain), std::strlen(kMain) + 1, "main", 0, nullptr,
                       nullptr));
  DRIVER(cuLinkAddData(*state, CU_JIT_INPUT_PTX, const_cast<char*>(kPart), std::strlen(kPart) + 1, "part", 0, nullptr,
                       nullptr));
  void* image = nullptr;
  DRIVER(cuLinkComplete(*state, &image, size));
  return image;
}

void linked_module() {
  CUlinkState state;
  std::size_t size = 0;
  void* const image = link(&size, &state);
  program::expect(image && size > 0, "two pieces of PTX are linked");
  CUmodule module;
  DRIVER(cuModuleLoadData(&module, image));
  DRIVER(cuLinkDestroy(state));
  CUfunction compute;
  DRIVER(cuModuleGetFunction(&compute, module, "compute"));
  CUdeviceptr out, counter;
  std::size_t counter_size = 0;
  DRIVER(cuMemAlloc(&out, sizeof(Results)));
  DRIVER(cuModuleGetGlobal(&counter, &counter_size, module, "counter"));
  program::expect(counter_size == 4, "a variable has its size");

  unsigned a = 21;
  float b = 1.25f;
  unsigned char c = 200;
  void* arguments[] = {&out, &a, &b, &c};
  DRIVER(cuLaunchKernel(compute, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  auto found = results_at(out);
  std::printf("by pointers: %u %g %u %u\n", found.twice, found.sum, found.byte, found.counter);
  program::expect(found.twice == 42 && found.sum == 2.5f && found.byte == 200 && found.counter == 40,
                  "a launch takes arguments by pointers");

  struct __attribute__((packed)) Packed {
    CUdeviceptr out;
    unsigned a;
    float b;
    unsigned char c;
  } packed{out, 50, -3.0f, 7};
  std::size_t packed_size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_size,
                   CU_LAUNCH_PARAM_END};
  DRIVER(cuLaunchKernel(compute, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  found = results_at(out);
  std::printf("in a buffer: %u %g %u %u\n", found.twice, found.sum, found.byte, found.counter);
  program::expect(found.twice == 100 && found.sum == -6.0f && found.byte == 7 && found.counter == 42,
                  "and in a buffer");

  CUlaunchConfig configuration{};
  configuration.gridDimX = configuration.gridDimY = configuration.gridDimZ = configuration.blockDimX =
      configuration.blockDimY = configuration.blockDimZ = 1;
  DRIVER(cuLaunchKernelEx(&configuration, compute, arguments, nullptr));
  program::expect(results_at(out).counter == 44, "and by a configuration");
  packed_size = 16;
  DRIVER(cuLaunchKernel(compute, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  found = results_at(out);
  program::expect(found.twice == 100 && found.sum == -6.0f && found.counter == 46,
                  "a buffer may be shorter than what the kernel declares");

  const std::size_t offsets[] = {0, 8, 12, 16}, sizes[] = {8, 4, 4, 1};
  bool is_right = true;
  for (int i = 0; i < 4; ++i) {
    std::size_t offset = 99, parameter = 99;
    DRIVER(cuFuncGetParamInfo(compute, i, &offset, &parameter));
    is_right &= offset == offsets[i] && parameter == sizes[i];
  }
  std::size_t offset = 0, parameter = 0;
  program::expect(is_right, "parameters are where they are");
  program::expect_error(cuFuncGetParamInfo(compute, 4, &offset, &parameter), CUDA_ERROR_INVALID_VALUE,
                        "there is no fifth");

  DRIVER(cuMemsetD32(counter, 1000, 1));
  DRIVER(cuLaunchKernel(compute, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned count = 0;
  DRIVER(cuMemcpyDtoH(&count, counter, sizeof count));
  program::expect(count == 1008, "a variable is written by both sides");
  CUfunction none;
  program::expect_error(cuModuleGetFunction(&none, module, "nothing"), CUDA_ERROR_NOT_FOUND,
                        "a kernel that is not there");
  unsigned functions = 0;
  DRIVER(cuModuleGetFunctionCount(&functions, module));
  const char* name = nullptr;
  DRIVER(cuFuncGetName(&name, compute));
  program::expect(functions == 1 && std::string(name) == "compute", "a module knows its kernels");
  DRIVER(cuMemFree(out));
  DRIVER(cuModuleUnload(module));
}

void libraries() {
  CUlibrary library;
  DRIVER(cuLibraryLoadData(&library, kAlone, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel;
  DRIVER(cuLibraryGetKernel(&kernel, library, "scale"));
  unsigned kernels = 0;
  DRIVER(cuLibraryGetKernelCount(&kernels, library));
  CUfunction function;
  CUmodule module;
  DRIVER(cuKernelGetFunction(&function, kernel));
  DRIVER(cuLibraryGetModule(&module, library));
  program::expect(kernels == 1, "a library knows its kernels");
  std::vector<unsigned> values(1000);
  for (unsigned i = 0; i < values.size(); ++i) values[i] = i;
  CUdeviceptr memory, factor;
  std::size_t size = 0;
  unsigned count = static_cast<unsigned>(values.size()), five = 5;
  DRIVER(cuMemAlloc(&memory, values.size() * 4));
  DRIVER(cuMemcpyHtoD(memory, values.data(), values.size() * 4));
  void* arguments[] = {&memory, &count};
  DRIVER(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  DRIVER(cuLibraryGetGlobal(&factor, &size, library, "factor"));
  DRIVER(cuMemcpyHtoD(factor, &five, sizeof five));
  DRIVER(cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  DRIVER(cuMemcpyDtoH(values.data(), memory, values.size() * 4));
  bool is_right = size == 4;
  for (unsigned i = 0; i < values.size(); ++i) is_right &= values[i] == 15 * i;
  program::expect(is_right, "a library's kernel uses a library's variable");

  int threads = 0, shared = -1, blocks = 0, smallest = 0, best = 0, device_most = 0;
  DRIVER(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  DRIVER(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
  DRIVER(cuDeviceGetAttribute(&device_most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
  DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0));
  DRIVER(cuOccupancyMaxPotentialBlockSize(&smallest, &best, function, nullptr, 0, 0));
  program::expect(threads > 0 && threads <= device_most && shared == 0, "a kernel has attributes");
  program::expect(blocks > 0 && smallest > 0 && best > 0 && best % 32 == 0, "and an occupancy");
  DRIVER(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 16384));
  DRIVER(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
  program::expect(shared == 16384, "that can be set");
  DRIVER(cuMemFree(memory));
  DRIVER(cuLibraryUnload(library));
}

void contexts(CUdevice device, CUcontext primary) {
  CUcontext own, current;
  DRIVER(cuCtxCreate(&own, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, device));
  DRIVER(cuCtxGetCurrent(&current));
  program::expect(current == own, "a new context is current");
  CUdevice of = -1;
  unsigned version = 0;
  DRIVER(cuCtxGetDevice(&of));
  DRIVER(cuCtxGetApiVersion(own, &version));
  CUdeviceptr memory;
  DRIVER(cuMemAlloc(&memory, 100));
  CUcontext holder = nullptr;
  DRIVER(cuPointerGetAttribute(&holder, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  program::expect(of == device && version >= 3010 && holder == own, "it has a device, a version and its memory");
  CUstream stream;
  DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  auto green = reinterpret_cast<CUgreenCtx>(&stream);
  DRIVER(cuStreamGetGreenCtx(stream, &green));
  program::expect(green == nullptr, "and streams that are of no green context");
  DRIVER(cuStreamDestroy(stream));
  DRIVER(cuCtxPushCurrent(primary));
  CUcontext popped;
  DRIVER(cuCtxPopCurrent(&popped));
  DRIVER(cuCtxGetCurrent(&current));
  program::expect(popped == primary && current == own, "contexts are pushed and popped");
  std::size_t stack = 0;
  DRIVER(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  DRIVER(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
  program::expect(stack >= 4096, "limits are set");
  DRIVER(cuCtxDestroy(own));
  DRIVER(cuCtxGetCurrent(&current));
  program::expect(current == primary, "a context that is destroyed leaves its place to the one below");
}

void refused(const char* what, const char* ptx, CUresult wanted) {
  CUmodule module;
  program::expect_error(cuModuleLoadData(&module, ptx), wanted, what);
}

}  // namespace

int main() {
  int version = 0, devices = 0, flags_active = 0;
  unsigned flags = 0;
  program::expect_error(cuDeviceGetCount(&devices), CUDA_ERROR_NOT_INITIALIZED, "before cuInit");
  DRIVER(cuInit(0));
  DRIVER(cuDriverGetVersion(&version));
  DRIVER(cuDeviceGetCount(&devices));
  program::expect(version >= 12000 && devices > 0, "there is a driver and a device");
  CUdevice device;
  CUcontext primary;
  DRIVER(cuDeviceGet(&device, 0));
  CUdeviceptr memory;
  program::expect_error(cuMemAlloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT, "without a context");
  DRIVER(cuDevicePrimaryCtxRetain(&primary, device));
  DRIVER(cuDevicePrimaryCtxGetState(device, &flags, &flags_active));
  program::expect(flags_active == 1, "the primary context is active");
  DRIVER(cuCtxSetCurrent(primary));
  linked_module();
  libraries();
  contexts(device, primary);
  refused("PTX that is cut off", ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry f() { ret",
          CUDA_ERROR_INVALID_PTX);
  refused("PTX with a register that nobody declared",
          ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry f() { mov.u32 %r1, 5; ret; }\n",
          CUDA_ERROR_INVALID_PTX);
  refused("something else", "hello", CUDA_ERROR_INVALID_IMAGE);
  DRIVER(cuDevicePrimaryCtxRelease(device));
  return program::verdict();
}
