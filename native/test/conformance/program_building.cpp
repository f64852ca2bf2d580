// Programs from source: making, building, failing to build, building again, and everything that can be asked about
// them.
#include "report.h"

static const char* kSource =
    "kernel void twice(global int* data) { size_t i = get_global_id(0); data[i] *= FACTOR; }\n"
    "kernel void fill(global int* data, int value) { data[get_global_id(0)] = value; }\n";

static std::string text_info(cl_program program, cl_program_info name) {
  size_t size = 0;
  const auto code = clGetProgramInfo(program, name, 0, nullptr, &size);
  if (code != CL_SUCCESS) return code_name(code);
  std::string text(size, '\0');
  const auto again = clGetProgramInfo(program, name, size, text.data(), nullptr);
  return again == CL_SUCCESS ? std::to_string(size) + " " + text.c_str() : code_name(again);
}

template <class T>
static std::string number_info(cl_program program, cl_program_info name) {
  T value{};
  size_t size = 0;
  const auto code = clGetProgramInfo(program, name, sizeof value, &value, &size);
  return code == CL_SUCCESS ? std::to_string(value) + " in " + std::to_string(size) : code_name(code);
}

static void say_build(cl_program program, cl_device_id device, const char* what) {
  cl_build_status status = 99;
  said(std::string(what) + " status asked",
       clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr));
  char options[256] = "?";
  size_t size = 0;
  said(std::string(what) + " options asked",
       clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof options, options, &size));
  cl_program_binary_type type = 99;
  said(std::string(what) + " binary type asked",
       clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, nullptr));
  size_t globals = 99;
  said(std::string(what) + " globals asked",
       clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof globals, &globals,
                             nullptr));
  say("%s: status %d, options '%s' in %zu, binary type %u, globals %zu", what, status, options, size, type, globals);
}

static std::string log_of(cl_program program, cl_device_id device) {
  size_t size = 0;
  const auto code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  if (code != CL_SUCCESS) return code_name(code);
  std::string log(size, '\0');
  need("log", clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr));
  return log;
}

static void say_infos(cl_program program, const char* when) {
  say("%s: kernels %s; names %s", when, number_info<size_t>(program, CL_PROGRAM_NUM_KERNELS).c_str(),
      text_info(program, CL_PROGRAM_KERNEL_NAMES).c_str());
  say("%s: devices %s; references %s", when, number_info<cl_uint>(program, CL_PROGRAM_NUM_DEVICES).c_str(),
      number_info<cl_uint>(program, CL_PROGRAM_REFERENCE_COUNT).c_str());
  say("%s: ctors %s; dtors %s", when, number_info<cl_bool>(program, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT).c_str(),
      number_info<cl_bool>(program, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT).c_str());
  say("%s: il %s; unknown %s", when, text_info(program, CL_PROGRAM_IL).c_str(), text_info(program, 0x7777).c_str());
  say("%s: source %s", when,
      digest(text_info(program, CL_PROGRAM_SOURCE).data(), text_info(program, CL_PROGRAM_SOURCE).size()).c_str());
  size_t sizes[8] = {}, size = 0;
  said(std::string(when) + " binary sizes",
       clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, &size));
  say("%s: %zu bytes of sizes, first %s", when, size, sizes[0] > 0 ? "not empty" : "empty");
}

static void CL_CALLBACK built(cl_program, void* data) { *static_cast<volatile int*>(data) = 1; }

static void creation_errors(cl_context context) {
  cl_int code;
  const char* strings[] = {"kernel void a() {}", nullptr};
  clCreateProgramWithSource(nullptr, 1, strings, nullptr, &code), said("no context", code);
  clCreateProgramWithSource(context, 0, strings, nullptr, &code), said("no strings", code);
  clCreateProgramWithSource(context, 2, strings, nullptr, &code), said("a null string", code);
  clCreateProgramWithIL(nullptr, "xxxx", 4, &code), said("IL without context", code);
  clCreateProgramWithIL(context, nullptr, 4, &code), said("IL null", code);
  clCreateProgramWithIL(context, "xxxx", 0, &code), said("IL empty", code);
  clCreateProgramWithIL(context, "xxxx", 4, &code), said("IL of nothing known", code);
  const auto device = all_devices()[0];
  clCreateProgramWithBuiltInKernels(nullptr, 1, &device, "nothing", &code), said("built-in without context", code);
  clCreateProgramWithBuiltInKernels(context, 0, &device, "nothing", &code), said("built-in without devices", code);
  clCreateProgramWithBuiltInKernels(context, 1, nullptr, "nothing", &code), said("built-in without list", code);
  clCreateProgramWithBuiltInKernels(context, 1, &device, nullptr, &code), said("built-in without names", code);
  clCreateProgramWithBuiltInKernels(context, 1, &device, "no.such.kernel", &code), said("built-in unknown", code);
  said("build nothing", clBuildProgram(nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  said("release nothing", clReleaseProgram(nullptr));
  said("retain nothing", clRetainProgram(nullptr));
  said("info of nothing", clGetProgramInfo(nullptr, CL_PROGRAM_CONTEXT, 0, nullptr, nullptr));
  said("build info of nothing", clGetProgramBuildInfo(nullptr, device, CL_PROGRAM_BUILD_STATUS, 0, nullptr, nullptr));
}

int main() {
  const auto devices = all_devices();
  const auto context = new_context(devices);
  creation_errors(context);

  // Two pieces, the second with its length given and something behind it.
  cl_int code;
  const std::string behind = std::string(kSource) + "this is not code";
  const char* parts[] = {"#ifndef FACTOR\n#define FACTOR 2\n#endif\n", behind.c_str()};
  const size_t lengths[] = {0, std::string(kSource).size()};
  const auto program = clCreateProgramWithSource(context, 2, parts, lengths, &code);
  need("clCreateProgramWithSource", code);
  say_infos(program, "unbuilt");
  say_build(program, devices[0], "unbuilt");
  say("unbuilt log: %s", log_of(program, devices[0]).c_str());
  clCreateKernel(program, "fill", &code), said("kernel of an unbuilt program", code);
  cl_uint count = 99;
  said("kernels of an unbuilt program", clCreateKernelsInProgram(program, 0, nullptr, &count));

  said("build: count without list", clBuildProgram(program, 1, nullptr, nullptr, nullptr, nullptr));
  said("build: list without count", clBuildProgram(program, 0, devices.data(), nullptr, nullptr, nullptr));
  said("build: data without callback", clBuildProgram(program, 0, nullptr, nullptr, nullptr, &code));
  said("build: unknown option", clBuildProgram(program, 0, nullptr, "-no-such-option", nullptr, nullptr));
  say_build(program, devices[0], "unknown option");
  said("build", clBuildProgram(program, 0, nullptr, "-DFACTOR=3 -cl-mad-enable", nullptr, nullptr));
  say_infos(program, "built");
  say_build(program, devices[0], "built");
  said("status of no device", clGetProgramBuildInfo(program, nullptr, CL_PROGRAM_BUILD_STATUS, 0, nullptr, nullptr));
  said("unknown build info", clGetProgramBuildInfo(program, devices[0], 0x7777, 0, nullptr, nullptr));
  char small[2];
  said("too small", clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof small, small, nullptr));
  said("options too small",
       clGetProgramBuildInfo(program, devices[0], CL_PROGRAM_BUILD_OPTIONS, sizeof small, small, nullptr));
  said("names too small", clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof small, small, nullptr));
  cl_context of = nullptr;
  said("context asked", clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof of, &of, nullptr));
  std::vector<cl_device_id> in(devices.size());
  said("devices asked",
       clGetProgramInfo(program, CL_PROGRAM_DEVICES, in.size() * sizeof(cl_device_id), in.data(), nullptr));
  say("its context and devices: %s %s", of == context ? "ours" : "not ours", in == devices ? "ours" : "not ours");

  // A kernel is there: no building again. Then again, otherwise, with a callback.
  const auto kernel = new_kernel(program, "twice");
  said("build with a kernel there", clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr));
  said("release kernel", clReleaseKernel(kernel));
  volatile int is_called = 0;
  said("build with a callback",
       clBuildProgram(program, 1, devices.data(), "-DFACTOR=5", built, const_cast<int*>(&is_called)));
  while (!is_called) {}
  say_build(program, devices[0], "built again");
  said("retain", clRetainProgram(program));
  say("references %s", number_info<cl_uint>(program, CL_PROGRAM_REFERENCE_COUNT).c_str());
  said("release", clReleaseProgram(program));
  said("last release", clReleaseProgram(program));

  // A source that does not build.
  const char* broken = "kernel void broken(global int* data) { data[0] = undeclared; }";
  const auto failing = clCreateProgramWithSource(context, 1, &broken, nullptr, &code);
  said("build of a broken source", clBuildProgram(failing, 0, nullptr, "", nullptr, nullptr));
  say_build(failing, devices[0], "broken");
  const auto log = log_of(failing, devices[0]);
  say("its log %s the name it does not know", log.find("undeclared") != log.npos ? "tells" : "does not tell");
  clCreateKernel(failing, "broken", &code), said("kernel of a broken program", code);
  said("kernels of a broken program", clCreateKernelsInProgram(failing, 0, nullptr, &count));
  said("binary sizes of a broken program", clGetProgramInfo(failing, CL_PROGRAM_BINARY_SIZES, 0, nullptr, nullptr));
  said("names of a broken program", clGetProgramInfo(failing, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, nullptr));
  said("release broken", clReleaseProgram(failing));

  const cl_uint value = 1;
  const auto plain = built_program(context, "kernel void a() {}", nullptr);
  said("specialize a source program", clSetProgramSpecializationConstant(plain, 1, sizeof value, &value));
  said("release callback", clSetProgramReleaseCallback(plain, built, const_cast<int*>(&is_called)));
  said("unload", clUnloadPlatformCompiler(first_platform()));
  said("unload the old way", clUnloadCompiler());
  said("release plain", clReleaseProgram(plain));
  said("release context", clReleaseContext(context));
}
