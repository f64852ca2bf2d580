// Setting arguments: every kind, every way to get it wrong, and what a kernel then sees.
#include "report.h"

static const char* kSource = R"(
typedef struct { int a; float b; char c; } mixed;
kernel void values(global int* out, char c, short s, int i, long l, float f, int3 v, mixed m) {
  out[0] = c + s + i + (int)l + (int)f + v.x + v.y * 10 + v.z * 100 + m.a + (int)m.b + m.c;
}
kernel void memory(global int* out, global const int* in, constant int* table, local int* scratch) {
  size_t i = get_local_id(0);
  scratch[i] = (in ? in[get_global_id(0)] : -1) + table[i % 2];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = scratch[i];
}
kernel void nothing() {}
kernel void picture(read_only image2d_t from, write_only image2d_t to, sampler_t how) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(to, at, read_imagef(from, how, at));
}
)";

static cl_mem new_buffer(cl_context context, cl_mem_flags flags, size_t size, void* data = nullptr) {
  cl_int code;
  const auto buffer = clCreateBuffer(context, flags, size, data, &code);
  need("clCreateBuffer", code);
  return buffer;
}

static void values(cl_context context, cl_program program, cl_command_queue queue) {
  const auto kernel = new_kernel(program, "values");
  const auto out = new_buffer(context, CL_MEM_READ_WRITE, 64);
  const char c = 1;
  const short s = 2;
  const cl_int i = 3;
  const cl_long l = 4;
  const float f = 5;
  const cl_int4 v = {{1, 2, 3, 9}};
  const struct {
    cl_int a;
    float b;
    char c;
  } m = {6, 7, 8};
  const size_t one = 1;
  said("launch with nothing set",
       clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
  said("no kernel", clSetKernelArg(nullptr, 0, 4, &i));
  said("no such argument", clSetKernelArg(kernel, 8, sizeof i, &i));
  said("buffer of a wrong size", clSetKernelArg(kernel, 0, 4, &out));
  said("buffer", clSetKernelArg(kernel, 0, sizeof out, &out));
  said("char of no value", clSetKernelArg(kernel, 1, sizeof c, nullptr));
  said("char as int", clSetKernelArg(kernel, 1, sizeof i, &i));
  said("char of size 0", clSetKernelArg(kernel, 1, 0, &c));
  said("char", clSetKernelArg(kernel, 1, sizeof c, &c));
  said("short as char", clSetKernelArg(kernel, 2, sizeof c, &c));
  said("short", clSetKernelArg(kernel, 2, sizeof s, &s));
  said("int as long", clSetKernelArg(kernel, 3, sizeof l, &l));
  said("int", clSetKernelArg(kernel, 3, sizeof i, &i));
  said("long as int", clSetKernelArg(kernel, 4, sizeof i, &i));
  said("long", clSetKernelArg(kernel, 4, sizeof l, &l));
  said("float", clSetKernelArg(kernel, 5, sizeof f, &f));
  said("int3 as two", clSetKernelArg(kernel, 6, 8, &v));
  said("int3 as three", clSetKernelArg(kernel, 6, 12, &v));
  said("int3 as four", clSetKernelArg(kernel, 6, 16, &v));
  said("launch with one not set",
       clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
  said("struct", clSetKernelArg(kernel, 7, sizeof m, &m));
  for (int round = 0; round < 3; round++) {
    const cl_int changed = 100 * round;
    said("int again", clSetKernelArg(kernel, 3, sizeof changed, &changed));
    said("a wrong one changes nothing", clSetKernelArg(kernel, 4, 3, &changed));
    said("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
    int result = 0;
    said("read", clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, &result, 0, nullptr, nullptr));
    say("round %d: %d", round, result);
  }
  cl_int code;
  const auto clone = clCloneKernel(kernel, &code);
  said("clone", code);
  if (clone) {
    const cl_int other = 7777;
    said("int of the clone", clSetKernelArg(clone, 3, sizeof other, &other));
    for (const auto each : {clone, kernel}) {
      int result = 0;
      said("launch", clEnqueueNDRangeKernel(queue, each, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
      said("read", clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, &result, 0, nullptr, nullptr));
      say("%s: %d", each == clone ? "clone" : "original", result);
    }
    said("release clone", clReleaseKernel(clone));
  }
  clCloneKernel(nullptr, &code), said("clone of nothing", code);
  clReleaseMemObject(out);
  clReleaseKernel(kernel);
}

static void memory(cl_context context, cl_program program, cl_command_queue queue) {
  const auto kernel = new_kernel(program, "memory");
  int in_data[8] = {10, 20, 30, 40, 50, 60, 70, 80}, table_data[2] = {1, 2};
  const auto out = new_buffer(context, CL_MEM_WRITE_ONLY, sizeof in_data);
  const auto in = new_buffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in_data, in_data);
  const auto table = new_buffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof table_data, table_data);
  const cl_mem none = nullptr;
  said("out", clSetKernelArg(kernel, 0, sizeof out, &out));
  said("in", clSetKernelArg(kernel, 1, sizeof in, &in));
  said("table", clSetKernelArg(kernel, 2, sizeof table, &table));
  said("local with a value", clSetKernelArg(kernel, 3, 16, in_data));
  said("local of no size", clSetKernelArg(kernel, 3, 0, nullptr));
  said("local", clSetKernelArg(kernel, 3, 4 * sizeof(int), nullptr));
  cl_ulong local_size = 0;
  said("local size asked", clGetKernelWorkGroupInfo(kernel, all_devices()[0], CL_KERNEL_LOCAL_MEM_SIZE,
                                                    sizeof local_size, &local_size, nullptr));
  say("local memory %llu", static_cast<unsigned long long>(local_size));
  const size_t global = 8, local = 4;
  for (int round = 0; round < 3; round++) {
    if (round == 1) said("null by pointer", clSetKernelArg(kernel, 1, sizeof none, nullptr));
    if (round == 2)
      said("null by value", clSetKernelArg(kernel, 1, sizeof none, &none)),
          said("local again", clSetKernelArg(kernel, 3, 64, nullptr));
    said("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr));
    int result[8] = {};
    said("read", clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, result, 0, nullptr, nullptr));
    say("round %d: %d %d %d %d %d %d %d %d", round, result[0], result[1], result[2], result[3], result[4], result[5],
        result[6], result[7]);
  }
  // The same kernel with other memory, given back in between.
  for (int round = 0; round < 3; round++) {
    int fresh_data[8];
    for (int i = 0; i < 8; i++) fresh_data[i] = 1000 * round + i;
    const auto fresh = new_buffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof fresh_data, fresh_data);
    said("fresh", clSetKernelArg(kernel, 1, sizeof fresh, &fresh));
    said("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr));
    said("release fresh", clReleaseMemObject(fresh));
    int result[8] = {};
    said("read", clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, result, 0, nullptr, nullptr));
    say("fresh %d: %s", round, digest(result, sizeof result).c_str());
  }
  for (const auto one : {out, in, table}) clReleaseMemObject(one);
  clReleaseKernel(kernel);
}

static void pictures(cl_context context, cl_program program, cl_command_queue queue) {
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 4;
  std::vector<float> data(64);
  for (size_t i = 0; i < data.size(); i++) data[i] = static_cast<float>(i);
  cl_int code;
  const auto from = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, data.data(), &code);
  if (said("image", code) != CL_SUCCESS) return;
  const auto to = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &desc, nullptr, &code);
  const auto sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
  said("sampler", code);
  const auto kernel = new_kernel(program, "picture");
  said("image without value", clSetKernelArg(kernel, 0, sizeof from, nullptr));
  said("image of a wrong size", clSetKernelArg(kernel, 0, 4, &from));
  said("from", clSetKernelArg(kernel, 0, sizeof from, &from));
  said("to", clSetKernelArg(kernel, 1, sizeof to, &to));
  said("sampler without value", clSetKernelArg(kernel, 2, sizeof sampler, nullptr));
  said("sampler of a wrong size", clSetKernelArg(kernel, 2, 4, &sampler));
  said("how", clSetKernelArg(kernel, 2, sizeof sampler, &sampler));
  const size_t global[] = {4, 4}, origin[] = {0, 0, 0}, region[] = {4, 4, 1};
  said("launch", clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global, nullptr, 0, nullptr, nullptr));
  std::vector<float> result(64);
  said("read", clEnqueueReadImage(queue, to, CL_TRUE, origin, region, 0, 0, result.data(), 0, nullptr, nullptr));
  say("the picture %s", result == data ? "is the same" : "is another");
  clReleaseKernel(kernel);
  clReleaseSampler(sampler);
  clReleaseMemObject(from);
  clReleaseMemObject(to);
}

int main() {
  const auto devices = all_devices();
  const auto context = new_context(devices);
  const auto program = built_program(context, kSource, "-cl-kernel-arg-info");
  const auto plain = built_program(context, kSource);   // without infos the device still knows sizes
  for (size_t d = 0; d < devices.size(); d++) {
    say("device %zu", d);
    const auto queue = new_queue(context, devices[d]);
    values(context, program, queue);
    memory(context, program, queue);
    if (d == 0) values(context, plain, queue), memory(context, plain, queue);
    cl_bool has_images = CL_FALSE;
    need("images asked", clGetDeviceInfo(devices[d], CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, nullptr));
    if (has_images) pictures(context, program, queue);
    const auto nothing = new_kernel(program, "nothing");
    const size_t one = 1;
    const int value = 1;
    said("argument of a kernel without any", clSetKernelArg(nothing, 0, sizeof value, &value));
    said("launch it", clEnqueueNDRangeKernel(queue, nothing, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
    said("task", clEnqueueTask(queue, nothing, 0, nullptr, nullptr));
    said("finish", clFinish(queue));
    clReleaseKernel(nothing);
    clReleaseCommandQueue(queue);
  }
  clReleaseProgram(program);
  clReleaseProgram(plain);
  clReleaseContext(context);
}
