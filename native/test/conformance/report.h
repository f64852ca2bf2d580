// What the conformance programs print with: a stable text of results and error codes, without pointers, times or thread
// order, so that the same program's native and remote outputs can be compared byte for byte.
#pragma once

#include <CL/cl.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

/// The name of an error code; the number where it has none.
inline std::string code_name(cl_int code) {
  switch (code) {
    // clang-format off
#define FLEXRACK_CODE(name) \
  case name: return #name;
    FLEXRACK_CODE(CL_SUCCESS) FLEXRACK_CODE(CL_DEVICE_NOT_FOUND) FLEXRACK_CODE(CL_DEVICE_NOT_AVAILABLE) FLEXRACK_CODE(CL_COMPILER_NOT_AVAILABLE)
    FLEXRACK_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE) FLEXRACK_CODE(CL_OUT_OF_RESOURCES) FLEXRACK_CODE(CL_OUT_OF_HOST_MEMORY)
    FLEXRACK_CODE(CL_PROFILING_INFO_NOT_AVAILABLE) FLEXRACK_CODE(CL_MEM_COPY_OVERLAP) FLEXRACK_CODE(CL_IMAGE_FORMAT_MISMATCH)
    FLEXRACK_CODE(CL_IMAGE_FORMAT_NOT_SUPPORTED) FLEXRACK_CODE(CL_BUILD_PROGRAM_FAILURE) FLEXRACK_CODE(CL_MAP_FAILURE)
    FLEXRACK_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET) FLEXRACK_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) FLEXRACK_CODE(CL_COMPILE_PROGRAM_FAILURE)
    FLEXRACK_CODE(CL_LINKER_NOT_AVAILABLE) FLEXRACK_CODE(CL_LINK_PROGRAM_FAILURE) FLEXRACK_CODE(CL_DEVICE_PARTITION_FAILED)
    FLEXRACK_CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE) FLEXRACK_CODE(CL_INVALID_VALUE) FLEXRACK_CODE(CL_INVALID_DEVICE_TYPE)
    FLEXRACK_CODE(CL_INVALID_PLATFORM) FLEXRACK_CODE(CL_INVALID_DEVICE) FLEXRACK_CODE(CL_INVALID_CONTEXT) FLEXRACK_CODE(CL_INVALID_QUEUE_PROPERTIES)
    FLEXRACK_CODE(CL_INVALID_COMMAND_QUEUE) FLEXRACK_CODE(CL_INVALID_HOST_PTR) FLEXRACK_CODE(CL_INVALID_MEM_OBJECT)
    FLEXRACK_CODE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR) FLEXRACK_CODE(CL_INVALID_IMAGE_SIZE) FLEXRACK_CODE(CL_INVALID_SAMPLER)
    FLEXRACK_CODE(CL_INVALID_BINARY) FLEXRACK_CODE(CL_INVALID_BUILD_OPTIONS) FLEXRACK_CODE(CL_INVALID_PROGRAM)
    FLEXRACK_CODE(CL_INVALID_PROGRAM_EXECUTABLE) FLEXRACK_CODE(CL_INVALID_KERNEL_NAME) FLEXRACK_CODE(CL_INVALID_KERNEL_DEFINITION)
    FLEXRACK_CODE(CL_INVALID_KERNEL) FLEXRACK_CODE(CL_INVALID_ARG_INDEX) FLEXRACK_CODE(CL_INVALID_ARG_VALUE) FLEXRACK_CODE(CL_INVALID_ARG_SIZE)
    FLEXRACK_CODE(CL_INVALID_KERNEL_ARGS) FLEXRACK_CODE(CL_INVALID_WORK_DIMENSION) FLEXRACK_CODE(CL_INVALID_WORK_GROUP_SIZE)
    FLEXRACK_CODE(CL_INVALID_WORK_ITEM_SIZE) FLEXRACK_CODE(CL_INVALID_GLOBAL_OFFSET) FLEXRACK_CODE(CL_INVALID_EVENT_WAIT_LIST)
    FLEXRACK_CODE(CL_INVALID_EVENT) FLEXRACK_CODE(CL_INVALID_OPERATION) FLEXRACK_CODE(CL_INVALID_GL_OBJECT) FLEXRACK_CODE(CL_INVALID_BUFFER_SIZE)
    FLEXRACK_CODE(CL_INVALID_MIP_LEVEL) FLEXRACK_CODE(CL_INVALID_GLOBAL_WORK_SIZE) FLEXRACK_CODE(CL_INVALID_PROPERTY)
    FLEXRACK_CODE(CL_INVALID_IMAGE_DESCRIPTOR) FLEXRACK_CODE(CL_INVALID_COMPILER_OPTIONS) FLEXRACK_CODE(CL_INVALID_LINKER_OPTIONS)
    FLEXRACK_CODE(CL_INVALID_DEVICE_PARTITION_COUNT) FLEXRACK_CODE(CL_INVALID_PIPE_SIZE) FLEXRACK_CODE(CL_INVALID_DEVICE_QUEUE)
    FLEXRACK_CODE(CL_INVALID_SPEC_ID) FLEXRACK_CODE(CL_MAX_SIZE_RESTRICTION_EXCEEDED)
// clang-format on
#undef FLEXRACK_CODE
                                                                                        default
        : return std::to_string(code);
  }
}

/// One line of the report.
__attribute__((format(printf, 1, 2))) inline void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::putchar('\n');
  std::fflush(stdout);
}

/// Prints what a call gave; returns it.
inline cl_int said(const std::string& what, cl_int code) {
  say("%s: %s", what.c_str(), code_name(code).c_str());
  return code;
}

/// For calls that the rest of the program needs.
inline void need(const std::string& what, cl_int code) {
  if (code == CL_SUCCESS) return;
  say("%s failed: %s", what.c_str(), code_name(code).c_str());
  std::exit(3);
}

/// FNV-1a: data in a report.
inline std::string digest(const void* data, size_t size) {
  std::uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}
inline std::string digest(const std::vector<unsigned char>& data) { return digest(data.data(), data.size()); }

inline std::string hex(const void* data, size_t size) {
  std::string text;
  char digits[3];
  for (size_t i = 0; i < size; i++) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<const unsigned char*>(data)[i]);
    text += digits;
  }
  return text;
}

inline cl_platform_id first_platform() {
  cl_platform_id platform = nullptr;
  cl_uint count = 0;
  need("clGetPlatformIDs", clGetPlatformIDs(1, &platform, &count));
  return platform;
}

inline std::vector<cl_device_id> all_devices() {
  cl_uint count = 0;
  need("clGetDeviceIDs", clGetDeviceIDs(first_platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count));
  std::vector<cl_device_id> devices(count);
  need("clGetDeviceIDs", clGetDeviceIDs(first_platform(), CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr));
  return devices;
}

inline cl_context new_context(const std::vector<cl_device_id>& devices) {
  cl_int code;
  auto context =
      clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &code);
  need("clCreateContext", code);
  return context;
}

inline cl_command_queue new_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties = 0) {
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
  cl_int code;
  auto queue = clCreateCommandQueueWithProperties(context, device, list, &code);
  need("clCreateCommandQueueWithProperties", code);
  return queue;
}

inline cl_program built_program(cl_context context, const char* source, const char* options = "") {
  cl_int code;
  auto program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  need("clCreateProgramWithSource", code);
  need("clBuildProgram", clBuildProgram(program, 0, nullptr, options, nullptr, nullptr));
  return program;
}

inline cl_kernel new_kernel(cl_program program, const char* name) {
  cl_int code;
  auto kernel = clCreateKernel(program, name, &code);
  need("clCreateKernel", code);
  return kernel;
}
