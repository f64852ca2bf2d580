// The first thing anybody runs: two vectors added, on every device, by one queue each.
#include "report.h"

int main() {
  const auto devices = all_devices();
  say("%zu devices", devices.size());
  const auto context = new_context(devices);
  const auto program = built_program(
      context,
      "kernel void add(global const float* a, global const float* b, global float* c, float k) { size_t i = get_global_id(0); c[i] = a[i] + k * b[i]; }");
  constexpr size_t kCount = 1 << 20;
  std::vector<float> a(kCount), b(kCount), c(kCount);
  for (size_t i = 0; i < kCount; i++) a[i] = static_cast<float>(i % 1000), b[i] = static_cast<float>(i % 777) * 0.5f;
  for (size_t d = 0; d < devices.size(); d++) {
    const auto queue = new_queue(context, devices[d]);
    cl_int code;
    const auto left = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, kCount * 4, a.data(), &code);
    need("clCreateBuffer", code);
    const auto right = clCreateBuffer(context, CL_MEM_READ_ONLY, kCount * 4, nullptr, &code);
    const auto sum = clCreateBuffer(context, CL_MEM_WRITE_ONLY, kCount * 4, nullptr, &code);
    said("write", clEnqueueWriteBuffer(queue, right, CL_FALSE, 0, kCount * 4, b.data(), 0, nullptr, nullptr));
    const auto kernel = new_kernel(program, "add");
    const float k = 3;
    said("arg 0", clSetKernelArg(kernel, 0, sizeof(cl_mem), &left));
    said("arg 1", clSetKernelArg(kernel, 1, sizeof(cl_mem), &right));
    said("arg 2", clSetKernelArg(kernel, 2, sizeof(cl_mem), &sum));
    said("arg 3", clSetKernelArg(kernel, 3, sizeof k, &k));
    said("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kCount, nullptr, 0, nullptr, nullptr));
    said("read", clEnqueueReadBuffer(queue, sum, CL_TRUE, 0, kCount * 4, c.data(), 0, nullptr, nullptr));
    say("device %zu: %s", d, digest(c.data(), kCount * 4).c_str());
    clReleaseKernel(kernel);
    for (auto memory : {left, right, sum}) said("release", clReleaseMemObject(memory));
    said("release queue", clReleaseCommandQueue(queue));
  }
  said("release program", clReleaseProgram(program));
  said("release context", clReleaseContext(context));
}
