// What OpenCL costs on the first device: enqueues, round trips, copies, and two programs that compute. Prints one JSON object;
// times are medians of rounds in microseconds, bandwidths in GB/s (1e9 bytes). An ordinary program: run it natively and remotely.
// c++ -O2 -std=c++20 opencl_micro.cpp -lOpenCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr const char* kSource = R"(
kernel void nop(global float* a) { if (get_global_id(0) == 1000000000) a[0] = 1; }
kernel void axpy(global const float* x, global float* y, float a) { size_t i = get_global_id(0); y[i] += a * x[i]; }
kernel void spin(global float* a, int rounds) {
  size_t i = get_global_id(0); float v = a[i];
  for (int r = 0; r < rounds; r++) v = v * 1.0001f + 0.5f;
  a[i] = v;
}
)";

void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Median over rounds of seconds a call of `action`, `count` calls and one `after` a round, the first round not counted.
double per_call(int rounds, int count, const std::function<void()>& action, const std::function<void()>& after = [] {}) {
  std::vector<double> times;
  for (int round = -1; round < rounds; round++) {
    const auto start = seconds();
    for (int i = 0; i < count; i++) action();
    after();
    if (round >= 0) times.push_back((seconds() - start) / count);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  const auto context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  const auto queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  const auto program = clCreateProgramWithSource(context, 1, const_cast<const char**>(&kSource), nullptr, &code);
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  const auto nop = clCreateKernel(program, "nop", &code), axpy = clCreateKernel(program, "axpy", &code), spin = clCreateKernel(program, "spin", &code);
  constexpr size_t kBytes = 64u << 20, kFloats = kBytes / 4, kSmall = 4096;
  std::vector<float> host(kFloats), back(kFloats);
  for (size_t i = 0; i < kFloats; i++) host[i] = static_cast<float>(i % 1013);
  const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, &code), other = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, &code);
  check(code, "clCreateBuffer");
  check(clSetKernelArg(nop, 0, sizeof buffer, &buffer), "clSetKernelArg");
  const size_t one = 1;
  const auto finish = [&] { check(clFinish(queue), "clFinish"); };
  const auto enqueue = [&] { check(clEnqueueNDRangeKernel(queue, nop, 1, nullptr, &one, &one, 0, nullptr, nullptr), "launch"); };
  const auto write = [&](size_t size) { check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, size, host.data(), 0, nullptr, nullptr), "write"); };
  const auto read = [&](size_t size) { check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, back.data(), 0, nullptr, nullptr), "read"); };

  const auto enqueue_us = 1e6 * per_call(9, 1000, enqueue, finish);
  const auto finish_us = 1e6 * per_call(400, 1, [&] { enqueue(), finish(); });
  const auto write_64 = kBytes / per_call(9, 1, [&] { write(kBytes); }) / 1e9, read_64 = kBytes / per_call(9, 1, [&] { read(kBytes); }) / 1e9;
  const auto write_4 = 1e6 * per_call(400, 1, [&] { write(kSmall); }), read_4 = 1e6 * per_call(400, 1, [&] { read(kSmall); });

  // Compute-bound: kernels of about a millisecond, one after the other, and the result read at the end.
  const size_t wide = 1 << 13;
  const int rounds = 400;
  check(clSetKernelArg(spin, 0, sizeof other, &other), "clSetKernelArg");
  check(clSetKernelArg(spin, 1, sizeof rounds, &rounds), "clSetKernelArg");
  const auto compute_ms = 1e3 * per_call(5, 1, [&] {
    for (int i = 0; i < 200; i++) check(clEnqueueNDRangeKernel(queue, spin, 1, nullptr, &wide, nullptr, 0, nullptr, nullptr), "launch");
    check(clEnqueueReadBuffer(queue, other, CL_TRUE, 0, wide * 4, back.data(), 0, nullptr, nullptr), "read");
  });
  // Many small kernels, with new arguments each and a finish every hundred: a benchmark that enqueues much.
  const size_t narrow = 1 << 10;
  check(clSetKernelArg(axpy, 0, sizeof buffer, &buffer), "clSetKernelArg");
  check(clSetKernelArg(axpy, 1, sizeof other, &other), "clSetKernelArg");
  const auto many_ms = 1e3 * per_call(5, 1, [&] {
    for (int i = 0; i < 2000; i++) {
      const float a = static_cast<float>(i) * 1e-6f;
      check(clSetKernelArg(axpy, 2, sizeof a, &a), "clSetKernelArg");
      check(clEnqueueNDRangeKernel(queue, axpy, 1, nullptr, &narrow, nullptr, 0, nullptr, nullptr), "launch");
      if (i % 100 == 99) finish();
    }
  });

  // The copies and a kernel must also be right.
  const float two = 2;
  write(kBytes);
  check(clEnqueueWriteBuffer(queue, other, CL_TRUE, 0, kBytes, host.data(), 0, nullptr, nullptr), "write");
  check(clSetKernelArg(axpy, 2, sizeof two, &two), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, axpy, 1, nullptr, &kFloats, nullptr, 0, nullptr, nullptr), "launch");
  check(clEnqueueReadBuffer(queue, other, CL_TRUE, 0, kBytes, back.data(), 0, nullptr, nullptr), "read");
  bool right = true;
  for (size_t i = 0; i < kFloats; i++) right = right && back[i] == 3 * host[i];
  std::printf("{\"enqueue_us\": %.3f, \"enqueue_finish_us\": %.2f, \"write_64MiB_GBps\": %.3f, \"read_64MiB_GBps\": %.3f, \"write_4KiB_us\": %.2f, \"read_4KiB_us\": %.2f, "
              "\"compute_ms\": %.2f, \"many_small_ms\": %.2f, \"correct\": %s}\n",
              enqueue_us, finish_us, write_64, read_64, write_4, read_4, compute_ms, many_ms, right ? "true" : "false");
  return right ? 0 : 1;
}
