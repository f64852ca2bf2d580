// The dispatch table of the ICD loader: the first word of every object points to one.
// Generated from native/spec/opencl.* by native/codegen/generate.ts; change those.
#pragma once

#include <string_view>

#include "gen/opencl/cl.h"

namespace flexrack::cl {

/// In the order of cl_khr_icd, for ever. Null where the function is for another system.
struct IcdDispatch {
  cl_int (*clGetPlatformIDs)(cl_uint, cl_platform_id*, cl_uint*);
  cl_int (*clGetPlatformInfo)(cl_platform_id, cl_platform_info, size_t, void*, size_t*);
  cl_int (*clGetDeviceIDs)(cl_platform_id, cl_device_type, cl_uint, cl_device_id*, cl_uint*);
  cl_int (*clGetDeviceInfo)(cl_device_id, cl_device_info, size_t, void*, size_t*);
  cl_context (*clCreateContext)(const cl_context_properties*, cl_uint, const cl_device_id*, cl_context_callback, void*, cl_int*);
  cl_context (*clCreateContextFromType)(const cl_context_properties*, cl_device_type, cl_context_callback, void*, cl_int*);
  cl_int (*clRetainContext)(cl_context);
  cl_int (*clReleaseContext)(cl_context);
  cl_int (*clGetContextInfo)(cl_context, cl_context_info, size_t, void*, size_t*);
  cl_command_queue (*clCreateCommandQueue)(cl_context, cl_device_id, cl_command_queue_properties, cl_int*);
  cl_int (*clRetainCommandQueue)(cl_command_queue);
  cl_int (*clReleaseCommandQueue)(cl_command_queue);
  cl_int (*clGetCommandQueueInfo)(cl_command_queue, cl_command_queue_info, size_t, void*, size_t*);
  cl_int (*clSetCommandQueueProperty)(cl_command_queue, cl_command_queue_properties, cl_bool, cl_command_queue_properties*);
  cl_mem (*clCreateBuffer)(cl_context, cl_mem_flags, size_t, void*, cl_int*);
  cl_mem (*clCreateImage2D)(cl_context, cl_mem_flags, const cl_image_format*, size_t, size_t, size_t, void*, cl_int*);
  cl_mem (*clCreateImage3D)(cl_context, cl_mem_flags, const cl_image_format*, size_t, size_t, size_t, size_t, size_t, void*, cl_int*);
  cl_int (*clRetainMemObject)(cl_mem);
  cl_int (*clReleaseMemObject)(cl_mem);
  cl_int (*clGetSupportedImageFormats)(cl_context, cl_mem_flags, cl_mem_object_type, cl_uint, cl_image_format*, cl_uint*);
  cl_int (*clGetMemObjectInfo)(cl_mem, cl_mem_info, size_t, void*, size_t*);
  cl_int (*clGetImageInfo)(cl_mem, cl_image_info, size_t, void*, size_t*);
  cl_sampler (*clCreateSampler)(cl_context, cl_bool, cl_addressing_mode, cl_filter_mode, cl_int*);
  cl_int (*clRetainSampler)(cl_sampler);
  cl_int (*clReleaseSampler)(cl_sampler);
  cl_int (*clGetSamplerInfo)(cl_sampler, cl_sampler_info, size_t, void*, size_t*);
  cl_program (*clCreateProgramWithSource)(cl_context, cl_uint, const char**, const size_t*, cl_int*);
  cl_program (*clCreateProgramWithBinary)(cl_context, cl_uint, const cl_device_id*, const size_t*, const unsigned char**, cl_int*, cl_int*);
  cl_int (*clRetainProgram)(cl_program);
  cl_int (*clReleaseProgram)(cl_program);
  cl_int (*clBuildProgram)(cl_program, cl_uint, const cl_device_id*, const char*, cl_program_callback, void*);
  cl_int (*clUnloadCompiler)();
  cl_int (*clGetProgramInfo)(cl_program, cl_program_info, size_t, void*, size_t*);
  cl_int (*clGetProgramBuildInfo)(cl_program, cl_device_id, cl_program_build_info, size_t, void*, size_t*);
  cl_kernel (*clCreateKernel)(cl_program, const char*, cl_int*);
  cl_int (*clCreateKernelsInProgram)(cl_program, cl_uint, cl_kernel*, cl_uint*);
  cl_int (*clRetainKernel)(cl_kernel);
  cl_int (*clReleaseKernel)(cl_kernel);
  cl_int (*clSetKernelArg)(cl_kernel, cl_uint, size_t, const void*);
  cl_int (*clGetKernelInfo)(cl_kernel, cl_kernel_info, size_t, void*, size_t*);
  cl_int (*clGetKernelWorkGroupInfo)(cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void*, size_t*);
  cl_int (*clWaitForEvents)(cl_uint, const cl_event*);
  cl_int (*clGetEventInfo)(cl_event, cl_event_info, size_t, void*, size_t*);
  cl_int (*clRetainEvent)(cl_event);
  cl_int (*clReleaseEvent)(cl_event);
  cl_int (*clGetEventProfilingInfo)(cl_event, cl_profiling_info, size_t, void*, size_t*);
  cl_int (*clFlush)(cl_command_queue);
  cl_int (*clFinish)(cl_command_queue);
  cl_int (*clEnqueueReadBuffer)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueWriteBuffer)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueCopyBuffer)(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueReadImage)(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueWriteImage)(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueCopyImage)(cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, const size_t*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueCopyImageToBuffer)(cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, size_t, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueCopyBufferToImage)(cl_command_queue, cl_mem, cl_mem, size_t, const size_t*, const size_t*, cl_uint, const cl_event*, cl_event*);
  void* (*clEnqueueMapBuffer)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event*, cl_event*, cl_int*);
  void* (*clEnqueueMapImage)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, const size_t*, const size_t*, size_t*, size_t*, cl_uint, const cl_event*, cl_event*, cl_int*);
  cl_int (*clEnqueueUnmapMemObject)(cl_command_queue, cl_mem, void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueNDRangeKernel)(cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueTask)(cl_command_queue, cl_kernel, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueNativeKernel)(cl_command_queue, cl_native_kernel_callback, void*, size_t, cl_uint, const cl_mem*, const void**, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueMarker)(cl_command_queue, cl_event*);
  cl_int (*clEnqueueWaitForEvents)(cl_command_queue, cl_uint, const cl_event*);
  cl_int (*clEnqueueBarrier)(cl_command_queue);
  void* (*clGetExtensionFunctionAddress)(const char*);
  cl_mem (*clCreateFromGLBuffer)(cl_context, cl_mem_flags, cl_uint, cl_int*);
  cl_mem (*clCreateFromGLTexture2D)(cl_context, cl_mem_flags, cl_uint, cl_int, cl_uint, cl_int*);
  cl_mem (*clCreateFromGLTexture3D)(cl_context, cl_mem_flags, cl_uint, cl_int, cl_uint, cl_int*);
  cl_mem (*clCreateFromGLRenderbuffer)(cl_context, cl_mem_flags, cl_uint, cl_int*);
  cl_int (*clGetGLObjectInfo)(cl_mem, cl_uint*, cl_uint*);
  cl_int (*clGetGLTextureInfo)(cl_mem, cl_uint, size_t, void*, size_t*);
  cl_int (*clEnqueueAcquireGLObjects)(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueReleaseGLObjects)(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clGetGLContextInfoKHR)(const cl_context_properties*, cl_uint, size_t, void*, size_t*);
  void* clGetDeviceIDsFromD3D10KHR;
  void* clCreateFromD3D10BufferKHR;
  void* clCreateFromD3D10Texture2DKHR;
  void* clCreateFromD3D10Texture3DKHR;
  void* clEnqueueAcquireD3D10ObjectsKHR;
  void* clEnqueueReleaseD3D10ObjectsKHR;
  cl_int (*clSetEventCallback)(cl_event, cl_int, cl_event_callback, void*);
  cl_mem (*clCreateSubBuffer)(cl_mem, cl_mem_flags, cl_buffer_create_type, const void*, cl_int*);
  cl_int (*clSetMemObjectDestructorCallback)(cl_mem, cl_memory_callback, void*);
  cl_event (*clCreateUserEvent)(cl_context, cl_int*);
  cl_int (*clSetUserEventStatus)(cl_event, cl_int);
  cl_int (*clEnqueueReadBufferRect)(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, const size_t*, size_t, size_t, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueWriteBufferRect)(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, const size_t*, size_t, size_t, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueCopyBufferRect)(cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, const size_t*, size_t, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*);
  cl_int (*clCreateSubDevicesEXT)(cl_device_id, const cl_ulong*, cl_uint, cl_device_id*, cl_uint*);
  cl_int (*clRetainDeviceEXT)(cl_device_id);
  cl_int (*clReleaseDeviceEXT)(cl_device_id);
  cl_event (*clCreateEventFromGLsyncKHR)(cl_context, void*, cl_int*);
  cl_int (*clCreateSubDevices)(cl_device_id, const cl_device_partition_property*, cl_uint, cl_device_id*, cl_uint*);
  cl_int (*clRetainDevice)(cl_device_id);
  cl_int (*clReleaseDevice)(cl_device_id);
  cl_mem (*clCreateImage)(cl_context, cl_mem_flags, const cl_image_format*, const cl_image_desc*, void*, cl_int*);
  cl_program (*clCreateProgramWithBuiltInKernels)(cl_context, cl_uint, const cl_device_id*, const char*, cl_int*);
  cl_int (*clCompileProgram)(cl_program, cl_uint, const cl_device_id*, const char*, cl_uint, const cl_program*, const char**, cl_program_callback, void*);
  cl_program (*clLinkProgram)(cl_context, cl_uint, const cl_device_id*, const char*, cl_uint, const cl_program*, cl_program_callback, void*, cl_int*);
  cl_int (*clUnloadPlatformCompiler)(cl_platform_id);
  cl_int (*clGetKernelArgInfo)(cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void*, size_t*);
  cl_int (*clEnqueueFillBuffer)(cl_command_queue, cl_mem, const void*, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueFillImage)(cl_command_queue, cl_mem, const void*, const size_t*, const size_t*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueMigrateMemObjects)(cl_command_queue, cl_uint, const cl_mem*, cl_mem_migration_flags, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueMarkerWithWaitList)(cl_command_queue, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueBarrierWithWaitList)(cl_command_queue, cl_uint, const cl_event*, cl_event*);
  void* (*clGetExtensionFunctionAddressForPlatform)(cl_platform_id, const char*);
  cl_mem (*clCreateFromGLTexture)(cl_context, cl_mem_flags, cl_uint, cl_int, cl_uint, cl_int*);
  void* clGetDeviceIDsFromD3D11KHR;
  void* clCreateFromD3D11BufferKHR;
  void* clCreateFromD3D11Texture2DKHR;
  void* clCreateFromD3D11Texture3DKHR;
  void* clCreateFromDX9MediaSurfaceKHR;
  void* clEnqueueAcquireD3D11ObjectsKHR;
  void* clEnqueueReleaseD3D11ObjectsKHR;
  void* clGetDeviceIDsFromDX9MediaAdapterKHR;
  void* clEnqueueAcquireDX9MediaSurfacesKHR;
  void* clEnqueueReleaseDX9MediaSurfacesKHR;
  cl_mem (*clCreateFromEGLImageKHR)(cl_context, void*, void*, cl_mem_flags, const intptr_t*, cl_int*);
  cl_int (*clEnqueueAcquireEGLObjectsKHR)(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueReleaseEGLObjectsKHR)(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);
  cl_event (*clCreateEventFromEGLSyncKHR)(cl_context, void*, void*, cl_int*);
  cl_command_queue (*clCreateCommandQueueWithProperties)(cl_context, cl_device_id, const cl_queue_properties*, cl_int*);
  cl_mem (*clCreatePipe)(cl_context, cl_mem_flags, cl_uint, cl_uint, const cl_pipe_properties*, cl_int*);
  cl_int (*clGetPipeInfo)(cl_mem, cl_pipe_info, size_t, void*, size_t*);
  void* (*clSVMAlloc)(cl_context, cl_svm_mem_flags, size_t, cl_uint);
  void (*clSVMFree)(cl_context, void*);
  cl_int (*clEnqueueSVMFree)(cl_command_queue, cl_uint, void**, cl_svm_free_callback, void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueSVMMemcpy)(cl_command_queue, cl_bool, void*, const void*, size_t, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueSVMMemFill)(cl_command_queue, void*, const void*, size_t, size_t, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueSVMMap)(cl_command_queue, cl_bool, cl_map_flags, void*, size_t, cl_uint, const cl_event*, cl_event*);
  cl_int (*clEnqueueSVMUnmap)(cl_command_queue, void*, cl_uint, const cl_event*, cl_event*);
  cl_sampler (*clCreateSamplerWithProperties)(cl_context, const cl_sampler_properties*, cl_int*);
  cl_int (*clSetKernelArgSVMPointer)(cl_kernel, cl_uint, const void*);
  cl_int (*clSetKernelExecInfo)(cl_kernel, cl_kernel_exec_info, size_t, const void*);
  cl_int (*clGetKernelSubGroupInfoKHR)(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, const void*, size_t, void*, size_t*);
  cl_kernel (*clCloneKernel)(cl_kernel, cl_int*);
  cl_program (*clCreateProgramWithIL)(cl_context, const void*, size_t, cl_int*);
  cl_int (*clEnqueueSVMMigrateMem)(cl_command_queue, cl_uint, const void**, const size_t*, cl_mem_migration_flags, cl_uint, const cl_event*, cl_event*);
  cl_int (*clGetDeviceAndHostTimer)(cl_device_id, cl_ulong*, cl_ulong*);
  cl_int (*clGetHostTimer)(cl_device_id, cl_ulong*);
  cl_int (*clGetKernelSubGroupInfo)(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, const void*, size_t, void*, size_t*);
  cl_int (*clSetDefaultDeviceCommandQueue)(cl_context, cl_device_id, cl_command_queue);
  cl_int (*clSetProgramReleaseCallback)(cl_program, cl_program_callback, void*);
  cl_int (*clSetProgramSpecializationConstant)(cl_program, cl_uint, size_t, const void*);
  cl_mem (*clCreateBufferWithProperties)(cl_context, const cl_mem_properties*, cl_mem_flags, size_t, void*, cl_int*);
  cl_mem (*clCreateImageWithProperties)(cl_context, const cl_mem_properties*, cl_mem_flags, const cl_image_format*, const cl_image_desc*, void*, cl_int*);
  cl_int (*clSetContextDestructorCallback)(cl_context, cl_context_destructor_callback, void*);
};
inline constexpr std::size_t kIcdEntries = 149;
static_assert(sizeof(IcdDispatch) == kIcdEntries * sizeof(void*));

/// The names of the entries, in order.
inline constexpr const char* kIcdNames[kIcdEntries] = {
  "clGetPlatformIDs",
  "clGetPlatformInfo",
  "clGetDeviceIDs",
  "clGetDeviceInfo",
  "clCreateContext",
  "clCreateContextFromType",
  "clRetainContext",
  "clReleaseContext",
  "clGetContextInfo",
  "clCreateCommandQueue",
  "clRetainCommandQueue",
  "clReleaseCommandQueue",
  "clGetCommandQueueInfo",
  "clSetCommandQueueProperty",
  "clCreateBuffer",
  "clCreateImage2D",
  "clCreateImage3D",
  "clRetainMemObject",
  "clReleaseMemObject",
  "clGetSupportedImageFormats",
  "clGetMemObjectInfo",
  "clGetImageInfo",
  "clCreateSampler",
  "clRetainSampler",
  "clReleaseSampler",
  "clGetSamplerInfo",
  "clCreateProgramWithSource",
  "clCreateProgramWithBinary",
  "clRetainProgram",
  "clReleaseProgram",
  "clBuildProgram",
  "clUnloadCompiler",
  "clGetProgramInfo",
  "clGetProgramBuildInfo",
  "clCreateKernel",
  "clCreateKernelsInProgram",
  "clRetainKernel",
  "clReleaseKernel",
  "clSetKernelArg",
  "clGetKernelInfo",
  "clGetKernelWorkGroupInfo",
  "clWaitForEvents",
  "clGetEventInfo",
  "clRetainEvent",
  "clReleaseEvent",
  "clGetEventProfilingInfo",
  "clFlush",
  "clFinish",
  "clEnqueueReadBuffer",
  "clEnqueueWriteBuffer",
  "clEnqueueCopyBuffer",
  "clEnqueueReadImage",
  "clEnqueueWriteImage",
  "clEnqueueCopyImage",
  "clEnqueueCopyImageToBuffer",
  "clEnqueueCopyBufferToImage",
  "clEnqueueMapBuffer",
  "clEnqueueMapImage",
  "clEnqueueUnmapMemObject",
  "clEnqueueNDRangeKernel",
  "clEnqueueTask",
  "clEnqueueNativeKernel",
  "clEnqueueMarker",
  "clEnqueueWaitForEvents",
  "clEnqueueBarrier",
  "clGetExtensionFunctionAddress",
  "clCreateFromGLBuffer",
  "clCreateFromGLTexture2D",
  "clCreateFromGLTexture3D",
  "clCreateFromGLRenderbuffer",
  "clGetGLObjectInfo",
  "clGetGLTextureInfo",
  "clEnqueueAcquireGLObjects",
  "clEnqueueReleaseGLObjects",
  "clGetGLContextInfoKHR",
  "clGetDeviceIDsFromD3D10KHR",
  "clCreateFromD3D10BufferKHR",
  "clCreateFromD3D10Texture2DKHR",
  "clCreateFromD3D10Texture3DKHR",
  "clEnqueueAcquireD3D10ObjectsKHR",
  "clEnqueueReleaseD3D10ObjectsKHR",
  "clSetEventCallback",
  "clCreateSubBuffer",
  "clSetMemObjectDestructorCallback",
  "clCreateUserEvent",
  "clSetUserEventStatus",
  "clEnqueueReadBufferRect",
  "clEnqueueWriteBufferRect",
  "clEnqueueCopyBufferRect",
  "clCreateSubDevicesEXT",
  "clRetainDeviceEXT",
  "clReleaseDeviceEXT",
  "clCreateEventFromGLsyncKHR",
  "clCreateSubDevices",
  "clRetainDevice",
  "clReleaseDevice",
  "clCreateImage",
  "clCreateProgramWithBuiltInKernels",
  "clCompileProgram",
  "clLinkProgram",
  "clUnloadPlatformCompiler",
  "clGetKernelArgInfo",
  "clEnqueueFillBuffer",
  "clEnqueueFillImage",
  "clEnqueueMigrateMemObjects",
  "clEnqueueMarkerWithWaitList",
  "clEnqueueBarrierWithWaitList",
  "clGetExtensionFunctionAddressForPlatform",
  "clCreateFromGLTexture",
  "clGetDeviceIDsFromD3D11KHR",
  "clCreateFromD3D11BufferKHR",
  "clCreateFromD3D11Texture2DKHR",
  "clCreateFromD3D11Texture3DKHR",
  "clCreateFromDX9MediaSurfaceKHR",
  "clEnqueueAcquireD3D11ObjectsKHR",
  "clEnqueueReleaseD3D11ObjectsKHR",
  "clGetDeviceIDsFromDX9MediaAdapterKHR",
  "clEnqueueAcquireDX9MediaSurfacesKHR",
  "clEnqueueReleaseDX9MediaSurfacesKHR",
  "clCreateFromEGLImageKHR",
  "clEnqueueAcquireEGLObjectsKHR",
  "clEnqueueReleaseEGLObjectsKHR",
  "clCreateEventFromEGLSyncKHR",
  "clCreateCommandQueueWithProperties",
  "clCreatePipe",
  "clGetPipeInfo",
  "clSVMAlloc",
  "clSVMFree",
  "clEnqueueSVMFree",
  "clEnqueueSVMMemcpy",
  "clEnqueueSVMMemFill",
  "clEnqueueSVMMap",
  "clEnqueueSVMUnmap",
  "clCreateSamplerWithProperties",
  "clSetKernelArgSVMPointer",
  "clSetKernelExecInfo",
  "clGetKernelSubGroupInfoKHR",
  "clCloneKernel",
  "clCreateProgramWithIL",
  "clEnqueueSVMMigrateMem",
  "clGetDeviceAndHostTimer",
  "clGetHostTimer",
  "clGetKernelSubGroupInfo",
  "clSetDefaultDeviceCommandQueue",
  "clSetProgramReleaseCallback",
  "clSetProgramSpecializationConstant",
  "clCreateBufferWithProperties",
  "clCreateImageWithProperties",
  "clSetContextDestructorCallback",
};

}  // namespace flexrack::cl

namespace flexrack::client::opencl {

using cl::IcdDispatch;

/// Our functions; nothing is thrown through them.
const IcdDispatch& icd_dispatch();

/// What clGetExtensionFunctionAddress answers: null for names we do not have, and for interop that is refused.
void* icd_function(std::string_view name);

}  // namespace flexrack::client::opencl
