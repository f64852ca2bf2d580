// A launch that cannot be: whoever reads what it should have written is told, at the latest.
#include "driver.h"

__global__ void __launch_bounds__(64) fill(int* out, int value) { out[threadIdx.x % 32] = value; }

const char* const kText = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry linked(.param .u64 out, .param .u32 value)
.maxntid 64, 1, 1
{
  .reg .b64 %at;
  .reg .b32 %value;
  ld.param.u64 %at, [out];
  ld.param.u32 %value, [value];
  cvta.to.global.u64 %at, %at;
  st.global.u32 [%at], %value;
  ret;
}
)";

CUfunction linked() {
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  DRIVER(cuLinkCreate(0, nullptr, nullptr, &link));
  DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kText), std::strlen(kText) + 1, "linked", 0, nullptr,
                       nullptr));
  DRIVER(cuLinkComplete(link, &image, &size));
  DRIVER(cuModuleLoadData(&module, image));
  DRIVER(cuLinkDestroy(link));
  DRIVER(cuModuleGetFunction(&kernel, module, "linked"));
  return kernel;
}

CUfunction built() {
  cudaFunction_t function = nullptr;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(fill)));
  return reinterpret_cast<CUfunction>(function);
}

/// The first error of the launch and of the blocking copy behind it.
CUresult first_error(CUfunction kernel, int* out, unsigned threads, unsigned shared, unsigned together = 0) {
  int values[32], value = 2;
  void* parameters[] = {&out, &value};
  const auto launched =
      together > 0 ? cuLaunchCooperativeKernel(kernel, together, 1, 1, threads, 1, 1, shared, nullptr, parameters)
                   : cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, shared, nullptr, parameters, nullptr);
  const auto copied = cuMemcpyDtoH(values, reinterpret_cast<CUdeviceptr>(out), sizeof values);
  return launched != CUDA_SUCCESS ? launched : copied;
}

int main() {
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  CHECK(cudaMemset(out, 0, 32 * sizeof(int)));
  program::expect(first_error(built(), out, 64, 0) == CUDA_SUCCESS, "what can be is no error");
  std::printf("more threads than it was compiled for: %s\n", program::name(first_error(built(), out, 128, 0)));
  std::printf("more shared memory than it may have: %s\n", program::name(first_error(built(), out, 64, 64 << 10)));
  // What is known of a kernel of the linker is known where it was linked.
  std::printf("of a linked kernel: %s\n", program::name(first_error(linked(), out, 128, 0)));
  std::printf("more blocks than there are at a time: %s\n", program::name(first_error(built(), out, 64, 0, 1 << 20)));
  program::expect(first_error(built(), out, 64, 0) == CUDA_SUCCESS, "the error is told once");
  CHECK(cudaFree(out));
  return program::verdict();
}
