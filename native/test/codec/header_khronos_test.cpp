// The other half of header_ours_test.cpp: the two headers cannot be seen by one translation unit.
#include "test/codec/names.h"

#if __has_include(<CL/cl_icd.h>)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <typeinfo>

names::Facts names::khronos() {
  Facts facts;
#define CONSTANT(name) facts.constants[#name] = static_cast<std::int64_t>(name);
#define FUNCTION(function) facts.functions[#function] = typeid(decltype(function)).name();
#include "gen/opencl/cl_names.inc"
  LAYOUTS;
  return facts;
}

std::map<std::string, std::size_t> names::khronos_table() {
#define ENTRY(name) \
  { #name, offsetof(cl_icd_dispatch, name) }
  return {ENTRY(clGetPlatformIDs),
          ENTRY(clCreateBuffer),
          ENTRY(clBuildProgram),
          ENTRY(clSetKernelArg),
          ENTRY(clEnqueueNDRangeKernel),
          ENTRY(clGetGLContextInfoKHR),
          ENTRY(clSetEventCallback),
          ENTRY(clCreateSubDevicesEXT),
          ENTRY(clCreateSubDevices),
          ENTRY(clCreateFromGLTexture),
          ENTRY(clCreateFromEGLImageKHR),
          ENTRY(clCreateCommandQueueWithProperties),
          ENTRY(clGetKernelSubGroupInfoKHR),
          ENTRY(clCloneKernel),
          ENTRY(clSetProgramSpecializationConstant),
          ENTRY(clSetContextDestructorCallback)};
}

#else

names::Facts names::khronos() { return {}; }
std::map<std::string, std::size_t> names::khronos_table() { return {}; }

#endif
