// What can be asked about kernels, with and without the infos of arguments.
#include "report.h"

static const char* kSource = R"(
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global int* out) { local int scratch[32]; scratch[get_local_id(0)] = 1; out[0] = scratch[0]; }
kernel __attribute__((vec_type_hint(float4))) void hinted(global const float4* restrict in, local float* scratch, constant int* table, const int count, global volatile uint* flags) {
  scratch[0] = in[0].x + table[0] + count + flags[0];
}
kernel void plain(read_only image2d_t from, write_only image2d_t to, sampler_t how, unsigned char c, long4 v) { }
)";

static void number(cl_kernel kernel, cl_kernel_info name, const char* what) {
  cl_uint value = 99;
  size_t size = 0;
  const auto code = clGetKernelInfo(kernel, name, sizeof value, &value, &size);
  say("%s: %s %u in %zu", what, code_name(code).c_str(), value, size);
}

static void text(cl_kernel kernel, cl_kernel_info name, const char* what) {
  char value[256] = "?";
  size_t size = 0;
  const auto code = clGetKernelInfo(kernel, name, sizeof value, value, &size);
  say("%s: %s '%s' in %zu", what, code_name(code).c_str(), value, size);
}

static void arguments(cl_kernel kernel) {
  for (cl_uint i = 0; i < 6; i++) {
    cl_kernel_arg_address_qualifier address = 9;
    cl_kernel_arg_access_qualifier access = 9;
    cl_kernel_arg_type_qualifier qualifier = 99;
    char type[64] = "?", name[64] = "?";
    size_t size = 0;
    const auto a = clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, &size);
    const auto b = clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, nullptr);
    const auto c = clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, nullptr);
    const auto d = clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, nullptr);
    const auto e = clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof name, name, &size);
    say("argument %u: %s %#x, %s %#x, %s %llu, %s %s, %s %s in %zu", i, code_name(a).c_str(), address,
        code_name(b).c_str(), access, code_name(c).c_str(), static_cast<unsigned long long>(qualifier),
        code_name(d).c_str(), type, code_name(e).c_str(), name, size);
    said("argument info unknown", clGetKernelArgInfo(kernel, i, 0x7777, sizeof name, name, nullptr));
    said("argument info too small", clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, 1, name, nullptr));
  }
}

static void groups(cl_kernel kernel, cl_device_id device) {
  size_t group = 0, multiple = 0, required[3] = {9, 9, 9}, size = 0;
  cl_ulong local = 0, own = 0;
  said("group size", clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, &size));
  say("%zu in %zu", group, size);
  said("multiple", clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                            sizeof multiple, &multiple, &size));
  say("%zu in %zu", multiple, size);
  said("compiled for",
       clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, &size));
  say("%zu %zu %zu in %zu", required[0], required[1], required[2], size);
  said("local memory", clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, &size));
  say("%llu in %zu", static_cast<unsigned long long>(local), size);
  said("private memory", clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof own, &own, &size));
  say("%llu in %zu", static_cast<unsigned long long>(own), size);
  said("global work size",
       clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_GLOBAL_WORK_SIZE, sizeof required, required, &size));
  said("group info unknown", clGetKernelWorkGroupInfo(kernel, device, 0x7777, sizeof required, required, &size));
  said("group info too small", clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, 2, &group, nullptr));
  const size_t input[] = {4, 1, 1};
  size_t value = 0;
  said("sub-groups", clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof input, input,
                                             sizeof value, &value, nullptr));
}

int main() {
  const auto devices = all_devices();
  const auto context = new_context(devices);
  for (const char* options : {"-cl-kernel-arg-info", "", static_cast<const char*>(nullptr)}) {
    const auto program = built_program(context, kSource, options);
    say("options %s", options ? options : "none");
    cl_uint count = 0;
    cl_kernel kernels[5] = {};
    said("count kernels", clCreateKernelsInProgram(program, 0, nullptr, &count));
    say("%u kernels", count);
    said("too few places", clCreateKernelsInProgram(program, 1, kernels, nullptr));
    said("places without number", clCreateKernelsInProgram(program, 0, kernels, nullptr));
    said("number without places", clCreateKernelsInProgram(program, 3, nullptr, nullptr));
    said("all kernels", clCreateKernelsInProgram(program, 5, kernels, &count));
    for (cl_uint i = 0; i < count; i++) {
      text(kernels[i], CL_KERNEL_FUNCTION_NAME, "name");
      text(kernels[i], CL_KERNEL_ATTRIBUTES, "attributes");
      number(kernels[i], CL_KERNEL_NUM_ARGS, "arguments");
      number(kernels[i], CL_KERNEL_REFERENCE_COUNT, "references");
      number(kernels[i], 0x7777, "unknown");
      arguments(kernels[i]);
      for (const auto device : devices) groups(kernels[i], device);
      said("group info of no device",
           clGetKernelWorkGroupInfo(kernels[i], nullptr, CL_KERNEL_WORK_GROUP_SIZE, 0, nullptr, nullptr));
      cl_context of = nullptr;
      cl_program from = nullptr;
      said("context", clGetKernelInfo(kernels[i], CL_KERNEL_CONTEXT, sizeof of, &of, nullptr));
      said("program", clGetKernelInfo(kernels[i], CL_KERNEL_PROGRAM, sizeof from, &from, nullptr));
      say("%s %s", of == context ? "its context" : "another context",
          from == program ? "its program" : "another program");
      said("name too small", clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, 1, &of, nullptr));
      said("retain", clRetainKernel(kernels[i]));
      number(kernels[i], CL_KERNEL_REFERENCE_COUNT, "references");
      said("release", clReleaseKernel(kernels[i]));
      said("last release", clReleaseKernel(kernels[i]));
    }
    clReleaseProgram(program);
  }
  cl_int code;
  const auto program = built_program(context, kSource);
  clCreateKernel(program, nullptr, &code), said("kernel of no name", code);
  clCreateKernel(nullptr, "plain", &code), said("kernel of no program", code);
  clCreateKernel(program, "absent", &code), said("kernel that is not there", code);
  said("kernels of no program", clCreateKernelsInProgram(nullptr, 0, nullptr, nullptr));
  said("release nothing", clReleaseKernel(nullptr));
  said("retain nothing", clRetainKernel(nullptr));
  said("info of nothing", clGetKernelInfo(nullptr, CL_KERNEL_NUM_ARGS, 0, nullptr, nullptr));
  said("group info of nothing",
       clGetKernelWorkGroupInfo(nullptr, devices[0], CL_KERNEL_WORK_GROUP_SIZE, 0, nullptr, nullptr));
  said("argument info of nothing", clGetKernelArgInfo(nullptr, 0, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr));
  said("sub-group info of nothing", clGetKernelSubGroupInfo(nullptr, devices[0], CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
                                                            0, nullptr, 0, nullptr, nullptr));
  clReleaseProgram(program);
  clReleaseContext(context);
}
