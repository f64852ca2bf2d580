// Compiling and linking apart, headers, libraries, and programs from binaries.
#include "report.h"

static cl_program from(cl_context context, const char* source) {
  cl_int code;
  const auto program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  need("clCreateProgramWithSource", code);
  return program;
}

static void say_type(cl_program program, cl_device_id device, const char* what) {
  cl_program_binary_type type = 99;
  cl_build_status status = 99;
  said(std::string(what) + " type asked",
       clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, nullptr));
  said(std::string(what) + " status asked",
       clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr));
  say("%s: binary type %u, status %d", what, type, status);
}

/// Runs its kernel `answer` on each device.
static void run(cl_context context, cl_program program, const std::vector<cl_device_id>& devices, const char* what) {
  cl_int code;
  const auto kernel = clCreateKernel(program, "answer", &code);
  if (said(std::string(what) + ": kernel", code) != CL_SUCCESS) return;
  for (size_t d = 0; d < devices.size(); d++) {
    const auto queue = new_queue(context, devices[d]);
    const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code);
    need("clCreateBuffer", code);
    int result = 0;
    const size_t one = 1;
    said("arg", clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    said("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
    said("read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof result, &result, 0, nullptr, nullptr));
    say("%s on device %zu: %d", what, d, result);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
  }
  clReleaseKernel(kernel);
}

static void binaries(cl_context context, cl_program program, const std::vector<cl_device_id>& devices) {
  std::vector<size_t> sizes(devices.size());
  size_t size = 0;
  said("sizes", clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(size_t), sizes.data(), &size));
  say("%zu sizes", size / sizeof(size_t));
  std::vector<std::vector<unsigned char>> data;
  std::vector<unsigned char*> pointers;
  for (const auto one : sizes) data.emplace_back(one);
  for (auto& one : data) pointers.push_back(one.data());
  said("binaries into too little",
       clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(void*) - 1, pointers.data(), nullptr));
  said("binaries",
       clGetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof(void*), pointers.data(), &size));
  for (const auto& one : data) say("a binary that begins with %s", std::string(one.begin(), one.begin() + 7).c_str());

  std::vector<const unsigned char*> views(pointers.begin(), pointers.end());
  std::vector<cl_int> status(devices.size(), 7);
  cl_int code;
  const auto count = static_cast<cl_uint>(devices.size());
  clCreateProgramWithBinary(nullptr, count, devices.data(), sizes.data(), views.data(), status.data(), &code),
      said("binary without context", code);
  clCreateProgramWithBinary(context, 0, devices.data(), sizes.data(), views.data(), status.data(), &code),
      said("binary without devices", code);
  clCreateProgramWithBinary(context, count, nullptr, sizes.data(), views.data(), status.data(), &code),
      said("binary without list", code);
  clCreateProgramWithBinary(context, count, devices.data(), nullptr, views.data(), status.data(), &code),
      said("binary without lengths", code);
  const std::vector<cl_device_id> twice = {devices[0], devices[0]};
  std::vector<const unsigned char*> same = {views[0], views[0]};
  const std::vector<size_t> same_sizes = {sizes[0], sizes[0]};
  clCreateProgramWithBinary(context, 2, twice.data(), same_sizes.data(), same.data(), nullptr, &code),
      said("binary for one device twice", code);
  const std::vector<size_t> nothing(devices.size());
  clCreateProgramWithBinary(context, count, devices.data(), nothing.data(), views.data(), nullptr, &code),
      said("binary of no length", code);
  const unsigned char rubbish[] = "rubbish that is no binary of anything";
  const size_t length = sizeof rubbish;
  const unsigned char* pointer = rubbish;
  cl_int one_status = 7;
  clCreateProgramWithBinary(context, 1, devices.data(), &length, &pointer, &one_status, &code),
      said("binary of rubbish", code);
  said("its status", one_status);

  const auto again =
      clCreateProgramWithBinary(context, count, devices.data(), sizes.data(), views.data(), status.data(), &code);
  if (said("program from binaries", code) != CL_SUCCESS) return;
  for (const auto one : status) said("binary status", one);
  char source[16] = "?";
  said("its source", clGetProgramInfo(again, CL_PROGRAM_SOURCE, sizeof source, source, &size));
  say("'%s' in %zu", source, size);
  clCreateKernel(again, "answer", &code), said("its kernel before building", code);
  said("build from binaries", clBuildProgram(again, 0, nullptr, nullptr, nullptr, nullptr));
  say_type(again, devices[0], "from binaries");
  run(context, again, devices, "from binaries");
  said("release", clReleaseProgram(again));
}

int main() {
  const auto devices = all_devices();
  const auto context = new_context(devices);
  cl_int code;

  const auto header = from(context, "int number(void);\n#define EXTRA 2\n");
  const auto main_part =
      from(context, "#include \"number.h\"\nkernel void answer(global int* out) { out[0] = number() + EXTRA; }");
  const auto other_part = from(context, "int number(void) { return 40; }");
  const char* names[] = {"number.h"};
  said("compile nothing", clCompileProgram(nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  said("compile with bad list",
       clCompileProgram(main_part, 1, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  said("compile with data but no callback",
       clCompileProgram(main_part, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, &code));
  said("compile with a link option",
       clCompileProgram(main_part, 0, nullptr, "-create-library", 1, &header, names, nullptr, nullptr));
  said("compile without its header",
       clCompileProgram(main_part, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  say_type(main_part, devices[0], "without its header");
  said("compile", clCompileProgram(main_part, 0, nullptr, nullptr, 1, &header, names, nullptr, nullptr));
  say_type(main_part, devices[0], "compiled");
  clCreateKernel(main_part, "answer", &code), said("kernel of a compiled program", code);
  said("compile other", clCompileProgram(other_part, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr));

  const cl_program both[] = {main_part, other_part};
  clLinkProgram(nullptr, 0, nullptr, nullptr, 2, both, nullptr, nullptr, &code), said("link without context", code);
  clLinkProgram(context, 0, nullptr, nullptr, 0, both, nullptr, nullptr, &code), said("link of nothing", code);
  clLinkProgram(context, 0, nullptr, nullptr, 2, nullptr, nullptr, nullptr, &code), said("link without list", code);
  clLinkProgram(context, 1, nullptr, nullptr, 2, both, nullptr, nullptr, &code), said("link with bad devices", code);
  const cl_program wrong[] = {header};
  clLinkProgram(context, 0, nullptr, nullptr, 1, wrong, nullptr, nullptr, &code),
      said("link of what is not compiled", code);
  clLinkProgram(context, 0, nullptr, "-no-such-option", 2, both, nullptr, nullptr, &code),
      said("link with an unknown option", code);

  const auto linked = clLinkProgram(context, 0, nullptr, nullptr, 2, both, nullptr, nullptr, &code);
  said("link", code);
  if (linked) {
    say_type(linked, devices[0], "linked");
    run(context, linked, devices, "linked");
    binaries(context, linked, devices);
    said("release linked", clReleaseProgram(linked));
  }
  const auto library = clLinkProgram(context, 0, nullptr, "-create-library", 1, &other_part, nullptr, nullptr, &code);
  said("link a library", code);
  if (library) {
    say_type(library, devices[0], "library");
    const cl_program with_library[] = {main_part, library};
    const auto program = clLinkProgram(context, 0, nullptr, "", 2, with_library, nullptr, nullptr, &code);
    said("link with a library", code);
    if (program) run(context, program, devices, "with a library");
    if (program) said("release", clReleaseProgram(program));
    said("release library", clReleaseProgram(library));
  }
  for (const auto program : {header, main_part, other_part}) said("release part", clReleaseProgram(program));
  said("release context", clReleaseContext(context));
}
