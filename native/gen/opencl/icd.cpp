// The dispatch table, the guard around every function, and what answers where the client has no function.
// Generated from native/spec/opencl.* by native/codegen/generate.ts; change those.
#include "gen/opencl/icd.h"

#include <algorithm>
#include <new>
#include <utility>

namespace flexrack::client::opencl {

namespace {

/// Out of memory, or a failure of ours, becomes the API's own error: the caller is C, or anything else.
template <class Body, class Fail>
auto guard(Body&& body, Fail&& fail) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(CL_OUT_OF_HOST_MEMORY);
  } catch (...) {
    return fail(CL_OUT_OF_RESOURCES);
  }
}

cl_int guarded_clGetPlatformIDs(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  return guard([&] { return clGetPlatformIDs(num_entries, platforms, num_platforms); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetPlatformInfo(platform, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries, cl_device_id* devices, cl_uint* num_devices) {
  return guard([&] { return clGetDeviceIDs(platform, device_type, num_entries, devices, num_devices); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetDeviceInfo(cl_device_id device, cl_device_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetDeviceInfo(device, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_context guarded_clCreateContext(const cl_context_properties* properties, cl_uint num_devices, const cl_device_id* devices, cl_context_callback pfn_notify, void* user_data, cl_int* errcode_ret) {
  return guard([&] { return clCreateContext(properties, num_devices, devices, pfn_notify, user_data, errcode_ret); }, [&](cl_int code) -> cl_context { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_context guarded_clCreateContextFromType(const cl_context_properties* properties, cl_device_type device_type, cl_context_callback pfn_notify, void* user_data, cl_int* errcode_ret) {
  return guard([&] { return clCreateContextFromType(properties, device_type, pfn_notify, user_data, errcode_ret); }, [&](cl_int code) -> cl_context { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clRetainContext(cl_context context) {
  return guard([&] { return clRetainContext(context); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseContext(cl_context context) {
  return guard([&] { return clReleaseContext(context); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetContextInfo(cl_context context, cl_context_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetContextInfo(context, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_command_queue guarded_clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int* errcode_ret) {
  return guard([&] { return clCreateCommandQueue(context, device, properties, errcode_ret); }, [&](cl_int code) -> cl_command_queue { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clRetainCommandQueue(cl_command_queue command_queue) {
  return guard([&] { return clRetainCommandQueue(command_queue); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseCommandQueue(cl_command_queue command_queue) {
  return guard([&] { return clReleaseCommandQueue(command_queue); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetCommandQueueInfo(cl_command_queue command_queue, cl_command_queue_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetCommandQueueInfo(command_queue, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clSetCommandQueueProperty(cl_command_queue command_queue, cl_command_queue_properties properties, cl_bool enable, cl_command_queue_properties* old_properties) {
  return guard([&] { return clSetCommandQueueProperty(command_queue, properties, enable, old_properties); }, [](cl_int code) { return code; });
}
cl_mem guarded_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host_ptr, cl_int* errcode_ret) {
  return guard([&] { return clCreateBuffer(context, flags, size, host_ptr, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_mem guarded_clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* image_format, size_t image_width, size_t image_height, size_t image_row_pitch, void* host_ptr, cl_int* errcode_ret) {
  return guard([&] { return clCreateImage2D(context, flags, image_format, image_width, image_height, image_row_pitch, host_ptr, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_mem guarded_clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* image_format, size_t image_width, size_t image_height, size_t image_depth, size_t image_row_pitch, size_t image_slice_pitch, void* host_ptr, cl_int* errcode_ret) {
  return guard([&] { return clCreateImage3D(context, flags, image_format, image_width, image_height, image_depth, image_row_pitch, image_slice_pitch, host_ptr, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clRetainMemObject(cl_mem memobj) {
  return guard([&] { return clRetainMemObject(memobj); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseMemObject(cl_mem memobj) {
  return guard([&] { return clReleaseMemObject(memobj); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type image_type, cl_uint num_entries, cl_image_format* image_formats, cl_uint* num_image_formats) {
  return guard([&] { return clGetSupportedImageFormats(context, flags, image_type, num_entries, image_formats, num_image_formats); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetMemObjectInfo(memobj, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetImageInfo(cl_mem image, cl_image_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetImageInfo(image, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_sampler guarded_clCreateSampler(cl_context context, cl_bool normalized_coords, cl_addressing_mode addressing_mode, cl_filter_mode filter_mode, cl_int* errcode_ret) {
  return guard([&] { return clCreateSampler(context, normalized_coords, addressing_mode, filter_mode, errcode_ret); }, [&](cl_int code) -> cl_sampler { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clRetainSampler(cl_sampler sampler) {
  return guard([&] { return clRetainSampler(sampler); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseSampler(cl_sampler sampler) {
  return guard([&] { return clReleaseSampler(sampler); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetSamplerInfo(sampler, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_program guarded_clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings, const size_t* lengths, cl_int* errcode_ret) {
  return guard([&] { return clCreateProgramWithSource(context, count, strings, lengths, errcode_ret); }, [&](cl_int code) -> cl_program { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_program guarded_clCreateProgramWithBinary(cl_context context, cl_uint num_devices, const cl_device_id* device_list, const size_t* lengths, const unsigned char** binaries, cl_int* binary_status, cl_int* errcode_ret) {
  return guard([&] { return clCreateProgramWithBinary(context, num_devices, device_list, lengths, binaries, binary_status, errcode_ret); }, [&](cl_int code) -> cl_program { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clRetainProgram(cl_program program) {
  return guard([&] { return clRetainProgram(program); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseProgram(cl_program program) {
  return guard([&] { return clReleaseProgram(program); }, [](cl_int code) { return code; });
}
cl_int guarded_clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list, const char* options, cl_program_callback pfn_notify, void* user_data) {
  return guard([&] { return clBuildProgram(program, num_devices, device_list, options, pfn_notify, user_data); }, [](cl_int code) { return code; });
}
cl_int guarded_clUnloadCompiler() {
  return guard([&] { return clUnloadCompiler(); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetProgramInfo(cl_program program, cl_program_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetProgramInfo(program, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetProgramBuildInfo(program, device, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_kernel guarded_clCreateKernel(cl_program program, const char* kernel_name, cl_int* errcode_ret) {
  return guard([&] { return clCreateKernel(program, kernel_name, errcode_ret); }, [&](cl_int code) -> cl_kernel { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel* kernels, cl_uint* num_kernels_ret) {
  return guard([&] { return clCreateKernelsInProgram(program, num_kernels, kernels, num_kernels_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clRetainKernel(cl_kernel kernel) {
  return guard([&] { return clRetainKernel(kernel); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseKernel(cl_kernel kernel) {
  return guard([&] { return clReleaseKernel(kernel); }, [](cl_int code) { return code; });
}
cl_int guarded_clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void* arg_value) {
  return guard([&] { return clSetKernelArg(kernel, arg_index, arg_size, arg_value); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetKernelInfo(kernel, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetKernelWorkGroupInfo(kernel, device, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clWaitForEvents(cl_uint num_events, const cl_event* event_list) {
  return guard([&] { return clWaitForEvents(num_events, event_list); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetEventInfo(cl_event event, cl_event_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetEventInfo(event, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clRetainEvent(cl_event event) {
  return guard([&] { return clRetainEvent(event); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseEvent(cl_event event) {
  return guard([&] { return clReleaseEvent(event); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetEventProfilingInfo(event, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clFlush(cl_command_queue command_queue) {
  return guard([&] { return clFlush(command_queue); }, [](cl_int code) { return code; });
}
cl_int guarded_clFinish(cl_command_queue command_queue) {
  return guard([&] { return clFinish(command_queue); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read, size_t offset, size_t size, void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueReadBuffer(command_queue, buffer, blocking_read, offset, size, ptr, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write, size_t offset, size_t size, const void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueWriteBuffer(command_queue, buffer, blocking_write, offset, size, ptr, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer, size_t src_offset, size_t dst_offset, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueCopyBuffer(command_queue, src_buffer, dst_buffer, src_offset, dst_offset, size, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read, const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch, void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueReadImage(command_queue, image, blocking_read, origin, region, row_pitch, slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_write, const size_t* origin, const size_t* region, size_t input_row_pitch, size_t input_slice_pitch, const void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueWriteImage(command_queue, image, blocking_write, origin, region, input_row_pitch, input_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image, const size_t* src_origin, const size_t* dst_origin, const size_t* region, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueCopyImage(command_queue, src_image, dst_image, src_origin, dst_origin, region, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_buffer, const size_t* src_origin, const size_t* region, size_t dst_offset, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueCopyImageToBuffer(command_queue, src_image, dst_buffer, src_origin, region, dst_offset, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_image, size_t src_offset, const size_t* dst_origin, const size_t* region, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueCopyBufferToImage(command_queue, src_buffer, dst_image, src_offset, dst_origin, region, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
void* guarded_clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map, cl_map_flags map_flags, size_t offset, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event, cl_int* errcode_ret) {
  return guard([&] { return clEnqueueMapBuffer(command_queue, buffer, blocking_map, map_flags, offset, size, num_events_in_wait_list, event_wait_list, event, errcode_ret); }, [&](cl_int code) -> void* { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
void* guarded_clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map, cl_map_flags map_flags, const size_t* origin, const size_t* region, size_t* image_row_pitch, size_t* image_slice_pitch, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event, cl_int* errcode_ret) {
  return guard([&] { return clEnqueueMapImage(command_queue, image, blocking_map, map_flags, origin, region, image_row_pitch, image_slice_pitch, num_events_in_wait_list, event_wait_list, event, errcode_ret); }, [&](cl_int code) -> void* { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void* mapped_ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueUnmapMemObject(command_queue, memobj, mapped_ptr, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim, const size_t* global_work_offset, const size_t* global_work_size, const size_t* local_work_size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueNDRangeKernel(command_queue, kernel, work_dim, global_work_offset, global_work_size, local_work_size, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueTask(command_queue, kernel, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueNativeKernel(cl_command_queue command_queue, cl_native_kernel_callback user_func, void* args, size_t cb_args, cl_uint num_mem_objects, const cl_mem* mem_list, const void** args_mem_loc, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueNativeKernel(command_queue, user_func, args, cb_args, num_mem_objects, mem_list, args_mem_loc, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueMarker(cl_command_queue command_queue, cl_event* event) {
  return guard([&] { return clEnqueueMarker(command_queue, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueWaitForEvents(cl_command_queue command_queue, cl_uint num_events, const cl_event* event_list) {
  return guard([&] { return clEnqueueWaitForEvents(command_queue, num_events, event_list); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueBarrier(cl_command_queue command_queue) {
  return guard([&] { return clEnqueueBarrier(command_queue); }, [](cl_int code) { return code; });
}
void* guarded_clGetExtensionFunctionAddress(const char* func_name) {
  return guard([&] { return clGetExtensionFunctionAddress(func_name); }, [](cl_int) -> void* { return nullptr; });
}
cl_mem guarded_clCreateFromGLBuffer(cl_context context, cl_mem_flags flags, cl_uint bufobj, cl_int* errcode_ret) {
  return guard([&] { return clCreateFromGLBuffer(context, flags, bufobj, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_mem guarded_clCreateFromGLTexture2D(cl_context context, cl_mem_flags flags, cl_uint target, cl_int miplevel, cl_uint texture, cl_int* errcode_ret) {
  return guard([&] { return clCreateFromGLTexture2D(context, flags, target, miplevel, texture, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_mem guarded_clCreateFromGLTexture3D(cl_context context, cl_mem_flags flags, cl_uint target, cl_int miplevel, cl_uint texture, cl_int* errcode_ret) {
  return guard([&] { return clCreateFromGLTexture3D(context, flags, target, miplevel, texture, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_mem guarded_clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags flags, cl_uint renderbuffer, cl_int* errcode_ret) {
  return guard([&] { return clCreateFromGLRenderbuffer(context, flags, renderbuffer, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clGetGLObjectInfo(cl_mem memobj, cl_uint* gl_object_type, cl_uint* gl_object_name) {
  return guard([&] { return clGetGLObjectInfo(memobj, gl_object_type, gl_object_name); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetGLTextureInfo(cl_mem memobj, cl_uint param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetGLTextureInfo(memobj, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueAcquireGLObjects(cl_command_queue command_queue, cl_uint num_objects, const cl_mem* mem_objects, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueAcquireGLObjects(command_queue, num_objects, mem_objects, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueReleaseGLObjects(cl_command_queue command_queue, cl_uint num_objects, const cl_mem* mem_objects, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueReleaseGLObjects(command_queue, num_objects, mem_objects, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetGLContextInfoKHR(const cl_context_properties* properties, cl_uint param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetGLContextInfoKHR(properties, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clSetEventCallback(cl_event event, cl_int command_exec_callback_type, cl_event_callback pfn_notify, void* user_data) {
  return guard([&] { return clSetEventCallback(event, command_exec_callback_type, pfn_notify, user_data); }, [](cl_int code) { return code; });
}
cl_mem guarded_clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type buffer_create_type, const void* buffer_create_info, cl_int* errcode_ret) {
  return guard([&] { return clCreateSubBuffer(buffer, flags, buffer_create_type, buffer_create_info, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clSetMemObjectDestructorCallback(cl_mem memobj, cl_memory_callback pfn_notify, void* user_data) {
  return guard([&] { return clSetMemObjectDestructorCallback(memobj, pfn_notify, user_data); }, [](cl_int code) { return code; });
}
cl_event guarded_clCreateUserEvent(cl_context context, cl_int* errcode_ret) {
  return guard([&] { return clCreateUserEvent(context, errcode_ret); }, [&](cl_int code) -> cl_event { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clSetUserEventStatus(cl_event event, cl_int execution_status) {
  return guard([&] { return clSetUserEventStatus(event, execution_status); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read, const size_t* buffer_origin, const size_t* host_origin, const size_t* region, size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueReadBufferRect(command_queue, buffer, blocking_read, buffer_origin, host_origin, region, buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write, const size_t* buffer_origin, const size_t* host_origin, const size_t* region, size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, const void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueWriteBufferRect(command_queue, buffer, blocking_write, buffer_origin, host_origin, region, buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueCopyBufferRect(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer, const size_t* src_origin, const size_t* dst_origin, const size_t* region, size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueCopyBufferRect(command_queue, src_buffer, dst_buffer, src_origin, dst_origin, region, src_row_pitch, src_slice_pitch, dst_row_pitch, dst_slice_pitch, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clCreateSubDevicesEXT(cl_device_id in_device, const cl_ulong* properties, cl_uint num_entries, cl_device_id* out_devices, cl_uint* num_devices) {
  return guard([&] { return clCreateSubDevicesEXT(in_device, properties, num_entries, out_devices, num_devices); }, [](cl_int code) { return code; });
}
cl_int guarded_clRetainDeviceEXT(cl_device_id device) {
  return guard([&] { return clRetainDeviceEXT(device); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseDeviceEXT(cl_device_id device) {
  return guard([&] { return clReleaseDeviceEXT(device); }, [](cl_int code) { return code; });
}
cl_event guarded_clCreateEventFromGLsyncKHR(cl_context context, void* sync, cl_int* errcode_ret) {
  return guard([&] { return clCreateEventFromGLsyncKHR(context, sync, errcode_ret); }, [&](cl_int code) -> cl_event { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clCreateSubDevices(cl_device_id in_device, const cl_device_partition_property* properties, cl_uint num_devices, cl_device_id* out_devices, cl_uint* num_devices_ret) {
  return guard([&] { return clCreateSubDevices(in_device, properties, num_devices, out_devices, num_devices_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clRetainDevice(cl_device_id device) {
  return guard([&] { return clRetainDevice(device); }, [](cl_int code) { return code; });
}
cl_int guarded_clReleaseDevice(cl_device_id device) {
  return guard([&] { return clReleaseDevice(device); }, [](cl_int code) { return code; });
}
cl_mem guarded_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* image_format, const cl_image_desc* image_desc, void* host_ptr, cl_int* errcode_ret) {
  return guard([&] { return clCreateImage(context, flags, image_format, image_desc, host_ptr, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_program guarded_clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices, const cl_device_id* device_list, const char* kernel_names, cl_int* errcode_ret) {
  return guard([&] { return clCreateProgramWithBuiltInKernels(context, num_devices, device_list, kernel_names, errcode_ret); }, [&](cl_int code) -> cl_program { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list, const char* options, cl_uint num_input_headers, const cl_program* input_headers, const char** header_include_names, cl_program_callback pfn_notify, void* user_data) {
  return guard([&] { return clCompileProgram(program, num_devices, device_list, options, num_input_headers, input_headers, header_include_names, pfn_notify, user_data); }, [](cl_int code) { return code; });
}
cl_program guarded_clLinkProgram(cl_context context, cl_uint num_devices, const cl_device_id* device_list, const char* options, cl_uint num_input_programs, const cl_program* input_programs, cl_program_callback pfn_notify, void* user_data, cl_int* errcode_ret) {
  return guard([&] { return clLinkProgram(context, num_devices, device_list, options, num_input_programs, input_programs, pfn_notify, user_data, errcode_ret); }, [&](cl_int code) -> cl_program { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clUnloadPlatformCompiler(cl_platform_id platform) {
  return guard([&] { return clUnloadPlatformCompiler(platform); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_indx, cl_kernel_arg_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetKernelArgInfo(kernel, arg_indx, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void* pattern, size_t pattern_size, size_t offset, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueFillBuffer(command_queue, buffer, pattern, pattern_size, offset, size, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void* fill_color, const size_t* origin, const size_t* region, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueFillImage(command_queue, image, fill_color, origin, region, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects, const cl_mem* mem_objects, cl_mem_migration_flags flags, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueMigrateMemObjects(command_queue, num_mem_objects, mem_objects, flags, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueMarkerWithWaitList(cl_command_queue command_queue, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueMarkerWithWaitList(command_queue, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueBarrierWithWaitList(cl_command_queue command_queue, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueBarrierWithWaitList(command_queue, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
void* guarded_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* func_name) {
  return guard([&] { return clGetExtensionFunctionAddressForPlatform(platform, func_name); }, [](cl_int) -> void* { return nullptr; });
}
cl_mem guarded_clCreateFromGLTexture(cl_context context, cl_mem_flags flags, cl_uint target, cl_int miplevel, cl_uint texture, cl_int* errcode_ret) {
  return guard([&] { return clCreateFromGLTexture(context, flags, target, miplevel, texture, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_mem guarded_clCreateFromEGLImageKHR(cl_context context, void* egldisplay, void* eglimage, cl_mem_flags flags, const intptr_t* properties, cl_int* errcode_ret) {
  return guard([&] { return clCreateFromEGLImageKHR(context, egldisplay, eglimage, flags, properties, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clEnqueueAcquireEGLObjectsKHR(cl_command_queue command_queue, cl_uint num_objects, const cl_mem* mem_objects, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueAcquireEGLObjectsKHR(command_queue, num_objects, mem_objects, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueReleaseEGLObjectsKHR(cl_command_queue command_queue, cl_uint num_objects, const cl_mem* mem_objects, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueReleaseEGLObjectsKHR(command_queue, num_objects, mem_objects, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_event guarded_clCreateEventFromEGLSyncKHR(cl_context context, void* sync, void* display, cl_int* errcode_ret) {
  return guard([&] { return clCreateEventFromEGLSyncKHR(context, sync, display, errcode_ret); }, [&](cl_int code) -> cl_event { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_command_queue guarded_clCreateCommandQueueWithProperties(cl_context context, cl_device_id device, const cl_queue_properties* properties, cl_int* errcode_ret) {
  return guard([&] { return clCreateCommandQueueWithProperties(context, device, properties, errcode_ret); }, [&](cl_int code) -> cl_command_queue { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_mem guarded_clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint pipe_packet_size, cl_uint pipe_max_packets, const cl_pipe_properties* properties, cl_int* errcode_ret) {
  return guard([&] { return clCreatePipe(context, flags, pipe_packet_size, pipe_max_packets, properties, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clGetPipeInfo(cl_mem pipe, cl_pipe_info param_name, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetPipeInfo(pipe, param_name, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
void* guarded_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  return guard([&] { return clSVMAlloc(context, flags, size, alignment); }, [](cl_int) -> void* { return nullptr; });
}
void guarded_clSVMFree(cl_context context, void* svm_pointer) {
  return guard([&] { return clSVMFree(context, svm_pointer); }, [](cl_int) {  });
}
cl_int guarded_clEnqueueSVMFree(cl_command_queue command_queue, cl_uint num_svm_pointers, void** svm_pointers, cl_svm_free_callback pfn_free_func, void* user_data, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueSVMFree(command_queue, num_svm_pointers, svm_pointers, pfn_free_func, user_data, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool blocking_copy, void* dst_ptr, const void* src_ptr, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueSVMMemcpy(command_queue, blocking_copy, dst_ptr, src_ptr, size, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueSVMMemFill(cl_command_queue command_queue, void* svm_ptr, const void* pattern, size_t pattern_size, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueSVMMemFill(command_queue, svm_ptr, pattern, pattern_size, size, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueSVMMap(cl_command_queue command_queue, cl_bool blocking_map, cl_map_flags flags, void* svm_ptr, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueSVMMap(command_queue, blocking_map, flags, svm_ptr, size, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueSVMUnmap(cl_command_queue command_queue, void* svm_ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueSVMUnmap(command_queue, svm_ptr, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_sampler guarded_clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties* sampler_properties, cl_int* errcode_ret) {
  return guard([&] { return clCreateSamplerWithProperties(context, sampler_properties, errcode_ret); }, [&](cl_int code) -> cl_sampler { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index, const void* arg_value) {
  return guard([&] { return clSetKernelArgSVMPointer(kernel, arg_index, arg_value); }, [](cl_int code) { return code; });
}
cl_int guarded_clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name, size_t param_value_size, const void* param_value) {
  return guard([&] { return clSetKernelExecInfo(kernel, param_name, param_value_size, param_value); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetKernelSubGroupInfoKHR(cl_kernel in_kernel, cl_device_id in_device, cl_kernel_sub_group_info param_name, size_t input_value_size, const void* input_value, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetKernelSubGroupInfoKHR(in_kernel, in_device, param_name, input_value_size, input_value, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_kernel guarded_clCloneKernel(cl_kernel source_kernel, cl_int* errcode_ret) {
  return guard([&] { return clCloneKernel(source_kernel, errcode_ret); }, [&](cl_int code) -> cl_kernel { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_program guarded_clCreateProgramWithIL(cl_context context, const void* il, size_t length, cl_int* errcode_ret) {
  return guard([&] { return clCreateProgramWithIL(context, il, length, errcode_ret); }, [&](cl_int code) -> cl_program { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clEnqueueSVMMigrateMem(cl_command_queue command_queue, cl_uint num_svm_pointers, const void** svm_pointers, const size_t* sizes, cl_mem_migration_flags flags, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueSVMMigrateMem(command_queue, num_svm_pointers, svm_pointers, sizes, flags, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetDeviceAndHostTimer(cl_device_id device, cl_ulong* device_timestamp, cl_ulong* host_timestamp) {
  return guard([&] { return clGetDeviceAndHostTimer(device, device_timestamp, host_timestamp); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetHostTimer(cl_device_id device, cl_ulong* host_timestamp) {
  return guard([&] { return clGetHostTimer(device, host_timestamp); }, [](cl_int code) { return code; });
}
cl_int guarded_clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info param_name, size_t input_value_size, const void* input_value, size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return guard([&] { return clGetKernelSubGroupInfo(kernel, device, param_name, input_value_size, input_value, param_value_size, param_value, param_value_size_ret); }, [](cl_int code) { return code; });
}
cl_int guarded_clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device, cl_command_queue command_queue) {
  return guard([&] { return clSetDefaultDeviceCommandQueue(context, device, command_queue); }, [](cl_int code) { return code; });
}
cl_int guarded_clSetProgramReleaseCallback(cl_program program, cl_program_callback pfn_notify, void* user_data) {
  return guard([&] { return clSetProgramReleaseCallback(program, pfn_notify, user_data); }, [](cl_int code) { return code; });
}
cl_int guarded_clSetProgramSpecializationConstant(cl_program program, cl_uint spec_id, size_t spec_size, const void* spec_value) {
  return guard([&] { return clSetProgramSpecializationConstant(program, spec_id, spec_size, spec_value); }, [](cl_int code) { return code; });
}
cl_mem guarded_clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags, size_t size, void* host_ptr, cl_int* errcode_ret) {
  return guard([&] { return clCreateBufferWithProperties(context, properties, flags, size, host_ptr, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_mem guarded_clCreateImageWithProperties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags, const cl_image_format* image_format, const cl_image_desc* image_desc, void* host_ptr, cl_int* errcode_ret) {
  return guard([&] { return clCreateImageWithProperties(context, properties, flags, image_format, image_desc, host_ptr, errcode_ret); }, [&](cl_int code) -> cl_mem { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clSetContextDestructorCallback(cl_context context, cl_context_destructor_callback pfn_notify, void* user_data) {
  return guard([&] { return clSetContextDestructorCallback(context, pfn_notify, user_data); }, [](cl_int code) { return code; });
}
cl_command_queue guarded_clCreateCommandQueueWithPropertiesKHR(cl_context context, cl_device_id device, const cl_queue_properties* properties, cl_int* errcode_ret) {
  return guard([&] { return clCreateCommandQueueWithPropertiesKHR(context, device, properties, errcode_ret); }, [&](cl_int code) -> cl_command_queue { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_program guarded_clCreateProgramWithILKHR(cl_context context, const void* il, size_t length, cl_int* errcode_ret) {
  return guard([&] { return clCreateProgramWithILKHR(context, il, length, errcode_ret); }, [&](cl_int code) -> cl_program { if (errcode_ret) *errcode_ret = code; return nullptr; });
}
cl_int guarded_clGetKernelSuggestedLocalWorkSizeKHR(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim, const size_t* global_work_offset, const size_t* global_work_size, size_t* suggested_local_work_size) {
  return guard([&] { return clGetKernelSuggestedLocalWorkSizeKHR(command_queue, kernel, work_dim, global_work_offset, global_work_size, suggested_local_work_size); }, [](cl_int code) { return code; });
}
cl_int guarded_clEnqueueMigrateMemObjectEXT(cl_command_queue command_queue, cl_uint num_mem_objects, const cl_mem* mem_objects, cl_mem_migration_flags flags, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return guard([&] { return clEnqueueMigrateMemObjectEXT(command_queue, num_mem_objects, mem_objects, flags, num_events_in_wait_list, event_wait_list, event); }, [](cl_int code) { return code; });
}
cl_int guarded_clSetMemObjectDestructorAPPLE(cl_mem memobj, cl_memory_callback pfn_notify, void* user_data) {
  return guard([&] { return clSetMemObjectDestructorAPPLE(memobj, pfn_notify, user_data); }, [](cl_int code) { return code; });
}

}  // namespace

[[gnu::weak]] cl_int clGetPlatformIDs(cl_uint, cl_platform_id*, cl_uint*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetPlatformInfo(cl_platform_id, cl_platform_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint, cl_device_id*, cl_uint*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetDeviceInfo(cl_device_id, cl_device_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_context clCreateContext(const cl_context_properties*, cl_uint, const cl_device_id*, cl_context_callback, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_context clCreateContextFromType(const cl_context_properties*, cl_device_type, cl_context_callback, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clRetainContext(cl_context) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseContext(cl_context) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetContextInfo(cl_context, cl_context_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_command_queue_properties, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clRetainCommandQueue(cl_command_queue) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseCommandQueue(cl_command_queue) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetCommandQueueInfo(cl_command_queue, cl_command_queue_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clSetCommandQueueProperty(cl_command_queue, cl_command_queue_properties, cl_bool, cl_command_queue_properties*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_mem clCreateBuffer(cl_context, cl_mem_flags, size_t, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_mem clCreateImage2D(cl_context, cl_mem_flags, const cl_image_format*, size_t, size_t, size_t, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_mem clCreateImage3D(cl_context, cl_mem_flags, const cl_image_format*, size_t, size_t, size_t, size_t, size_t, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clRetainMemObject(cl_mem) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseMemObject(cl_mem) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetSupportedImageFormats(cl_context, cl_mem_flags, cl_mem_object_type, cl_uint, cl_image_format*, cl_uint*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetMemObjectInfo(cl_mem, cl_mem_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetImageInfo(cl_mem, cl_image_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_sampler clCreateSampler(cl_context, cl_bool, cl_addressing_mode, cl_filter_mode, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clRetainSampler(cl_sampler) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseSampler(cl_sampler) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetSamplerInfo(cl_sampler, cl_sampler_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_program clCreateProgramWithSource(cl_context, cl_uint, const char**, const size_t*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_program clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id*, const size_t*, const unsigned char**, cl_int*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clRetainProgram(cl_program) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseProgram(cl_program) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clBuildProgram(cl_program, cl_uint, const cl_device_id*, const char*, cl_program_callback, void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clUnloadCompiler() { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetProgramInfo(cl_program, cl_program_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_kernel clCreateKernel(cl_program, const char*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clCreateKernelsInProgram(cl_program, cl_uint, cl_kernel*, cl_uint*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clRetainKernel(cl_kernel) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseKernel(cl_kernel) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clSetKernelArg(cl_kernel, cl_uint, size_t, const void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetKernelInfo(cl_kernel, cl_kernel_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clWaitForEvents(cl_uint, const cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetEventInfo(cl_event, cl_event_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clRetainEvent(cl_event) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseEvent(cl_event) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetEventProfilingInfo(cl_event, cl_profiling_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clFlush(cl_command_queue) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clFinish(cl_command_queue) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueReadImage(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueWriteImage(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueCopyImage(cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, const size_t*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueCopyImageToBuffer(cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, size_t, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueCopyBufferToImage(cl_command_queue, cl_mem, cl_mem, size_t, const size_t*, const size_t*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] void* clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event*, cl_event*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] void* clEnqueueMapImage(cl_command_queue, cl_mem, cl_bool, cl_map_flags, const size_t*, const size_t*, size_t*, size_t*, cl_uint, const cl_event*, cl_event*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueTask(cl_command_queue, cl_kernel, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueNativeKernel(cl_command_queue, cl_native_kernel_callback, void*, size_t, cl_uint, const cl_mem*, const void**, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueMarker(cl_command_queue, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueWaitForEvents(cl_command_queue, cl_uint, const cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueBarrier(cl_command_queue) { return CL_INVALID_OPERATION; }
[[gnu::weak]] void* clGetExtensionFunctionAddress(const char*) { return nullptr; }
[[gnu::weak]] cl_mem clCreateFromGLBuffer(cl_context, cl_mem_flags, cl_uint, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_mem clCreateFromGLTexture2D(cl_context, cl_mem_flags, cl_uint, cl_int, cl_uint, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_mem clCreateFromGLTexture3D(cl_context, cl_mem_flags, cl_uint, cl_int, cl_uint, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_mem clCreateFromGLRenderbuffer(cl_context, cl_mem_flags, cl_uint, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clGetGLObjectInfo(cl_mem, cl_uint*, cl_uint*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetGLTextureInfo(cl_mem, cl_uint, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueAcquireGLObjects(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueReleaseGLObjects(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetGLContextInfoKHR(const cl_context_properties*, cl_uint, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clSetEventCallback(cl_event, cl_int, cl_event_callback, void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_mem clCreateSubBuffer(cl_mem, cl_mem_flags, cl_buffer_create_type, const void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clSetMemObjectDestructorCallback(cl_mem, cl_memory_callback, void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_event clCreateUserEvent(cl_context, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clSetUserEventStatus(cl_event, cl_int) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueReadBufferRect(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, const size_t*, size_t, size_t, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueWriteBufferRect(cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, const size_t*, size_t, size_t, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueCopyBufferRect(cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, const size_t*, size_t, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clCreateSubDevicesEXT(cl_device_id, const cl_ulong*, cl_uint, cl_device_id*, cl_uint*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clRetainDeviceEXT(cl_device_id) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseDeviceEXT(cl_device_id) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_event clCreateEventFromGLsyncKHR(cl_context, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clCreateSubDevices(cl_device_id, const cl_device_partition_property*, cl_uint, cl_device_id*, cl_uint*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clRetainDevice(cl_device_id) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clReleaseDevice(cl_device_id) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_mem clCreateImage(cl_context, cl_mem_flags, const cl_image_format*, const cl_image_desc*, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_program clCreateProgramWithBuiltInKernels(cl_context, cl_uint, const cl_device_id*, const char*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clCompileProgram(cl_program, cl_uint, const cl_device_id*, const char*, cl_uint, const cl_program*, const char**, cl_program_callback, void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_program clLinkProgram(cl_context, cl_uint, const cl_device_id*, const char*, cl_uint, const cl_program*, cl_program_callback, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clUnloadPlatformCompiler(cl_platform_id) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetKernelArgInfo(cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueFillBuffer(cl_command_queue, cl_mem, const void*, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueFillImage(cl_command_queue, cl_mem, const void*, const size_t*, const size_t*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueMigrateMemObjects(cl_command_queue, cl_uint, const cl_mem*, cl_mem_migration_flags, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueMarkerWithWaitList(cl_command_queue, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueBarrierWithWaitList(cl_command_queue, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] void* clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char*) { return nullptr; }
[[gnu::weak]] cl_mem clCreateFromGLTexture(cl_context, cl_mem_flags, cl_uint, cl_int, cl_uint, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_mem clCreateFromEGLImageKHR(cl_context, void*, void*, cl_mem_flags, const intptr_t*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clEnqueueAcquireEGLObjectsKHR(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueReleaseEGLObjectsKHR(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_event clCreateEventFromEGLSyncKHR(cl_context, void*, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_command_queue clCreateCommandQueueWithProperties(cl_context, cl_device_id, const cl_queue_properties*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_mem clCreatePipe(cl_context, cl_mem_flags, cl_uint, cl_uint, const cl_pipe_properties*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clGetPipeInfo(cl_mem, cl_pipe_info, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] void* clSVMAlloc(cl_context, cl_svm_mem_flags, size_t, cl_uint) { return nullptr; }
[[gnu::weak]] void clSVMFree(cl_context, void*) {  }
[[gnu::weak]] cl_int clEnqueueSVMFree(cl_command_queue, cl_uint, void**, cl_svm_free_callback, void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueSVMMemcpy(cl_command_queue, cl_bool, void*, const void*, size_t, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueSVMMemFill(cl_command_queue, void*, const void*, size_t, size_t, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueSVMMap(cl_command_queue, cl_bool, cl_map_flags, void*, size_t, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueSVMUnmap(cl_command_queue, void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_sampler clCreateSamplerWithProperties(cl_context, const cl_sampler_properties*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clSetKernelArgSVMPointer(cl_kernel, cl_uint, const void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clSetKernelExecInfo(cl_kernel, cl_kernel_exec_info, size_t, const void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetKernelSubGroupInfoKHR(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, const void*, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_kernel clCloneKernel(cl_kernel, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_program clCreateProgramWithIL(cl_context, const void*, size_t, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clEnqueueSVMMigrateMem(cl_command_queue, cl_uint, const void**, const size_t*, cl_mem_migration_flags, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetDeviceAndHostTimer(cl_device_id, cl_ulong*, cl_ulong*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetHostTimer(cl_device_id, cl_ulong*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetKernelSubGroupInfo(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, const void*, size_t, void*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clSetDefaultDeviceCommandQueue(cl_context, cl_device_id, cl_command_queue) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clSetProgramReleaseCallback(cl_program, cl_program_callback, void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clSetProgramSpecializationConstant(cl_program, cl_uint, size_t, const void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_mem clCreateBufferWithProperties(cl_context, const cl_mem_properties*, cl_mem_flags, size_t, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_mem clCreateImageWithProperties(cl_context, const cl_mem_properties*, cl_mem_flags, const cl_image_format*, const cl_image_desc*, void*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clSetContextDestructorCallback(cl_context, cl_context_destructor_callback, void*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_command_queue clCreateCommandQueueWithPropertiesKHR(cl_context, cl_device_id, const cl_queue_properties*, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_program clCreateProgramWithILKHR(cl_context, const void*, size_t, cl_int* errcode_ret) { if (errcode_ret) *errcode_ret = CL_INVALID_OPERATION; return nullptr; }
[[gnu::weak]] cl_int clTerminateContextKHR(cl_context) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clGetKernelSuggestedLocalWorkSizeKHR(cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, size_t*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clEnqueueMigrateMemObjectEXT(cl_command_queue, cl_uint, const cl_mem*, cl_mem_migration_flags, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
[[gnu::weak]] cl_int clSetMemObjectDestructorAPPLE(cl_mem, cl_memory_callback, void*) { return CL_INVALID_OPERATION; }

const IcdDispatch& icd_dispatch() {
  static constexpr IcdDispatch kTable = {
    guarded_clGetPlatformIDs,
    guarded_clGetPlatformInfo,
    guarded_clGetDeviceIDs,
    guarded_clGetDeviceInfo,
    guarded_clCreateContext,
    guarded_clCreateContextFromType,
    guarded_clRetainContext,
    guarded_clReleaseContext,
    guarded_clGetContextInfo,
    guarded_clCreateCommandQueue,
    guarded_clRetainCommandQueue,
    guarded_clReleaseCommandQueue,
    guarded_clGetCommandQueueInfo,
    guarded_clSetCommandQueueProperty,
    guarded_clCreateBuffer,
    guarded_clCreateImage2D,
    guarded_clCreateImage3D,
    guarded_clRetainMemObject,
    guarded_clReleaseMemObject,
    guarded_clGetSupportedImageFormats,
    guarded_clGetMemObjectInfo,
    guarded_clGetImageInfo,
    guarded_clCreateSampler,
    guarded_clRetainSampler,
    guarded_clReleaseSampler,
    guarded_clGetSamplerInfo,
    guarded_clCreateProgramWithSource,
    guarded_clCreateProgramWithBinary,
    guarded_clRetainProgram,
    guarded_clReleaseProgram,
    guarded_clBuildProgram,
    guarded_clUnloadCompiler,
    guarded_clGetProgramInfo,
    guarded_clGetProgramBuildInfo,
    guarded_clCreateKernel,
    guarded_clCreateKernelsInProgram,
    guarded_clRetainKernel,
    guarded_clReleaseKernel,
    guarded_clSetKernelArg,
    guarded_clGetKernelInfo,
    guarded_clGetKernelWorkGroupInfo,
    guarded_clWaitForEvents,
    guarded_clGetEventInfo,
    guarded_clRetainEvent,
    guarded_clReleaseEvent,
    guarded_clGetEventProfilingInfo,
    guarded_clFlush,
    guarded_clFinish,
    guarded_clEnqueueReadBuffer,
    guarded_clEnqueueWriteBuffer,
    guarded_clEnqueueCopyBuffer,
    guarded_clEnqueueReadImage,
    guarded_clEnqueueWriteImage,
    guarded_clEnqueueCopyImage,
    guarded_clEnqueueCopyImageToBuffer,
    guarded_clEnqueueCopyBufferToImage,
    guarded_clEnqueueMapBuffer,
    guarded_clEnqueueMapImage,
    guarded_clEnqueueUnmapMemObject,
    guarded_clEnqueueNDRangeKernel,
    guarded_clEnqueueTask,
    guarded_clEnqueueNativeKernel,
    guarded_clEnqueueMarker,
    guarded_clEnqueueWaitForEvents,
    guarded_clEnqueueBarrier,
    guarded_clGetExtensionFunctionAddress,
    guarded_clCreateFromGLBuffer,
    guarded_clCreateFromGLTexture2D,
    guarded_clCreateFromGLTexture3D,
    guarded_clCreateFromGLRenderbuffer,
    guarded_clGetGLObjectInfo,
    guarded_clGetGLTextureInfo,
    guarded_clEnqueueAcquireGLObjects,
    guarded_clEnqueueReleaseGLObjects,
    guarded_clGetGLContextInfoKHR,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    guarded_clSetEventCallback,
    guarded_clCreateSubBuffer,
    guarded_clSetMemObjectDestructorCallback,
    guarded_clCreateUserEvent,
    guarded_clSetUserEventStatus,
    guarded_clEnqueueReadBufferRect,
    guarded_clEnqueueWriteBufferRect,
    guarded_clEnqueueCopyBufferRect,
    guarded_clCreateSubDevicesEXT,
    guarded_clRetainDeviceEXT,
    guarded_clReleaseDeviceEXT,
    guarded_clCreateEventFromGLsyncKHR,
    guarded_clCreateSubDevices,
    guarded_clRetainDevice,
    guarded_clReleaseDevice,
    guarded_clCreateImage,
    guarded_clCreateProgramWithBuiltInKernels,
    guarded_clCompileProgram,
    guarded_clLinkProgram,
    guarded_clUnloadPlatformCompiler,
    guarded_clGetKernelArgInfo,
    guarded_clEnqueueFillBuffer,
    guarded_clEnqueueFillImage,
    guarded_clEnqueueMigrateMemObjects,
    guarded_clEnqueueMarkerWithWaitList,
    guarded_clEnqueueBarrierWithWaitList,
    guarded_clGetExtensionFunctionAddressForPlatform,
    guarded_clCreateFromGLTexture,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    guarded_clCreateFromEGLImageKHR,
    guarded_clEnqueueAcquireEGLObjectsKHR,
    guarded_clEnqueueReleaseEGLObjectsKHR,
    guarded_clCreateEventFromEGLSyncKHR,
    guarded_clCreateCommandQueueWithProperties,
    guarded_clCreatePipe,
    guarded_clGetPipeInfo,
    guarded_clSVMAlloc,
    guarded_clSVMFree,
    guarded_clEnqueueSVMFree,
    guarded_clEnqueueSVMMemcpy,
    guarded_clEnqueueSVMMemFill,
    guarded_clEnqueueSVMMap,
    guarded_clEnqueueSVMUnmap,
    guarded_clCreateSamplerWithProperties,
    guarded_clSetKernelArgSVMPointer,
    guarded_clSetKernelExecInfo,
    guarded_clGetKernelSubGroupInfoKHR,
    guarded_clCloneKernel,
    guarded_clCreateProgramWithIL,
    guarded_clEnqueueSVMMigrateMem,
    guarded_clGetDeviceAndHostTimer,
    guarded_clGetHostTimer,
    guarded_clGetKernelSubGroupInfo,
    guarded_clSetDefaultDeviceCommandQueue,
    guarded_clSetProgramReleaseCallback,
    guarded_clSetProgramSpecializationConstant,
    guarded_clCreateBufferWithProperties,
    guarded_clCreateImageWithProperties,
    guarded_clSetContextDestructorCallback,
  };
  return kTable;
}

void* icd_function(std::string_view name) {
  static const std::pair<std::string_view, void*> kFunctions[] = {
    {"clBuildProgram", reinterpret_cast<void*>(&guarded_clBuildProgram)},
    {"clCloneKernel", reinterpret_cast<void*>(&guarded_clCloneKernel)},
    {"clCompileProgram", reinterpret_cast<void*>(&guarded_clCompileProgram)},
    {"clCreateBuffer", reinterpret_cast<void*>(&guarded_clCreateBuffer)},
    {"clCreateBufferWithProperties", reinterpret_cast<void*>(&guarded_clCreateBufferWithProperties)},
    {"clCreateCommandQueue", reinterpret_cast<void*>(&guarded_clCreateCommandQueue)},
    {"clCreateCommandQueueWithProperties", reinterpret_cast<void*>(&guarded_clCreateCommandQueueWithProperties)},
    {"clCreateCommandQueueWithPropertiesKHR", reinterpret_cast<void*>(&guarded_clCreateCommandQueueWithPropertiesKHR)},
    {"clCreateContext", reinterpret_cast<void*>(&guarded_clCreateContext)},
    {"clCreateContextFromType", reinterpret_cast<void*>(&guarded_clCreateContextFromType)},
    {"clCreateImage", reinterpret_cast<void*>(&guarded_clCreateImage)},
    {"clCreateImage2D", reinterpret_cast<void*>(&guarded_clCreateImage2D)},
    {"clCreateImage3D", reinterpret_cast<void*>(&guarded_clCreateImage3D)},
    {"clCreateImageWithProperties", reinterpret_cast<void*>(&guarded_clCreateImageWithProperties)},
    {"clCreateKernel", reinterpret_cast<void*>(&guarded_clCreateKernel)},
    {"clCreateKernelsInProgram", reinterpret_cast<void*>(&guarded_clCreateKernelsInProgram)},
    {"clCreatePipe", reinterpret_cast<void*>(&guarded_clCreatePipe)},
    {"clCreateProgramWithBinary", reinterpret_cast<void*>(&guarded_clCreateProgramWithBinary)},
    {"clCreateProgramWithBuiltInKernels", reinterpret_cast<void*>(&guarded_clCreateProgramWithBuiltInKernels)},
    {"clCreateProgramWithIL", reinterpret_cast<void*>(&guarded_clCreateProgramWithIL)},
    {"clCreateProgramWithILKHR", reinterpret_cast<void*>(&guarded_clCreateProgramWithILKHR)},
    {"clCreateProgramWithSource", reinterpret_cast<void*>(&guarded_clCreateProgramWithSource)},
    {"clCreateSampler", reinterpret_cast<void*>(&guarded_clCreateSampler)},
    {"clCreateSamplerWithProperties", reinterpret_cast<void*>(&guarded_clCreateSamplerWithProperties)},
    {"clCreateSubBuffer", reinterpret_cast<void*>(&guarded_clCreateSubBuffer)},
    {"clCreateSubDevices", reinterpret_cast<void*>(&guarded_clCreateSubDevices)},
    {"clCreateUserEvent", reinterpret_cast<void*>(&guarded_clCreateUserEvent)},
    {"clEnqueueBarrier", reinterpret_cast<void*>(&guarded_clEnqueueBarrier)},
    {"clEnqueueBarrierWithWaitList", reinterpret_cast<void*>(&guarded_clEnqueueBarrierWithWaitList)},
    {"clEnqueueCopyBuffer", reinterpret_cast<void*>(&guarded_clEnqueueCopyBuffer)},
    {"clEnqueueCopyBufferRect", reinterpret_cast<void*>(&guarded_clEnqueueCopyBufferRect)},
    {"clEnqueueCopyBufferToImage", reinterpret_cast<void*>(&guarded_clEnqueueCopyBufferToImage)},
    {"clEnqueueCopyImage", reinterpret_cast<void*>(&guarded_clEnqueueCopyImage)},
    {"clEnqueueCopyImageToBuffer", reinterpret_cast<void*>(&guarded_clEnqueueCopyImageToBuffer)},
    {"clEnqueueFillBuffer", reinterpret_cast<void*>(&guarded_clEnqueueFillBuffer)},
    {"clEnqueueFillImage", reinterpret_cast<void*>(&guarded_clEnqueueFillImage)},
    {"clEnqueueMapBuffer", reinterpret_cast<void*>(&guarded_clEnqueueMapBuffer)},
    {"clEnqueueMapImage", reinterpret_cast<void*>(&guarded_clEnqueueMapImage)},
    {"clEnqueueMarker", reinterpret_cast<void*>(&guarded_clEnqueueMarker)},
    {"clEnqueueMarkerWithWaitList", reinterpret_cast<void*>(&guarded_clEnqueueMarkerWithWaitList)},
    {"clEnqueueMigrateMemObjectEXT", reinterpret_cast<void*>(&guarded_clEnqueueMigrateMemObjectEXT)},
    {"clEnqueueMigrateMemObjects", reinterpret_cast<void*>(&guarded_clEnqueueMigrateMemObjects)},
    {"clEnqueueNDRangeKernel", reinterpret_cast<void*>(&guarded_clEnqueueNDRangeKernel)},
    {"clEnqueueNativeKernel", reinterpret_cast<void*>(&guarded_clEnqueueNativeKernel)},
    {"clEnqueueReadBuffer", reinterpret_cast<void*>(&guarded_clEnqueueReadBuffer)},
    {"clEnqueueReadBufferRect", reinterpret_cast<void*>(&guarded_clEnqueueReadBufferRect)},
    {"clEnqueueReadImage", reinterpret_cast<void*>(&guarded_clEnqueueReadImage)},
    {"clEnqueueSVMFree", reinterpret_cast<void*>(&guarded_clEnqueueSVMFree)},
    {"clEnqueueSVMMap", reinterpret_cast<void*>(&guarded_clEnqueueSVMMap)},
    {"clEnqueueSVMMemFill", reinterpret_cast<void*>(&guarded_clEnqueueSVMMemFill)},
    {"clEnqueueSVMMemcpy", reinterpret_cast<void*>(&guarded_clEnqueueSVMMemcpy)},
    {"clEnqueueSVMMigrateMem", reinterpret_cast<void*>(&guarded_clEnqueueSVMMigrateMem)},
    {"clEnqueueSVMUnmap", reinterpret_cast<void*>(&guarded_clEnqueueSVMUnmap)},
    {"clEnqueueTask", reinterpret_cast<void*>(&guarded_clEnqueueTask)},
    {"clEnqueueUnmapMemObject", reinterpret_cast<void*>(&guarded_clEnqueueUnmapMemObject)},
    {"clEnqueueWaitForEvents", reinterpret_cast<void*>(&guarded_clEnqueueWaitForEvents)},
    {"clEnqueueWriteBuffer", reinterpret_cast<void*>(&guarded_clEnqueueWriteBuffer)},
    {"clEnqueueWriteBufferRect", reinterpret_cast<void*>(&guarded_clEnqueueWriteBufferRect)},
    {"clEnqueueWriteImage", reinterpret_cast<void*>(&guarded_clEnqueueWriteImage)},
    {"clFinish", reinterpret_cast<void*>(&guarded_clFinish)},
    {"clFlush", reinterpret_cast<void*>(&guarded_clFlush)},
    {"clGetCommandQueueInfo", reinterpret_cast<void*>(&guarded_clGetCommandQueueInfo)},
    {"clGetContextInfo", reinterpret_cast<void*>(&guarded_clGetContextInfo)},
    {"clGetDeviceAndHostTimer", reinterpret_cast<void*>(&guarded_clGetDeviceAndHostTimer)},
    {"clGetDeviceIDs", reinterpret_cast<void*>(&guarded_clGetDeviceIDs)},
    {"clGetDeviceInfo", reinterpret_cast<void*>(&guarded_clGetDeviceInfo)},
    {"clGetEventInfo", reinterpret_cast<void*>(&guarded_clGetEventInfo)},
    {"clGetEventProfilingInfo", reinterpret_cast<void*>(&guarded_clGetEventProfilingInfo)},
    {"clGetExtensionFunctionAddress", reinterpret_cast<void*>(&guarded_clGetExtensionFunctionAddress)},
    {"clGetExtensionFunctionAddressForPlatform", reinterpret_cast<void*>(&guarded_clGetExtensionFunctionAddressForPlatform)},
    {"clGetHostTimer", reinterpret_cast<void*>(&guarded_clGetHostTimer)},
    {"clGetImageInfo", reinterpret_cast<void*>(&guarded_clGetImageInfo)},
    {"clGetKernelArgInfo", reinterpret_cast<void*>(&guarded_clGetKernelArgInfo)},
    {"clGetKernelInfo", reinterpret_cast<void*>(&guarded_clGetKernelInfo)},
    {"clGetKernelSubGroupInfo", reinterpret_cast<void*>(&guarded_clGetKernelSubGroupInfo)},
    {"clGetKernelSubGroupInfoKHR", reinterpret_cast<void*>(&guarded_clGetKernelSubGroupInfoKHR)},
    {"clGetKernelSuggestedLocalWorkSizeKHR", reinterpret_cast<void*>(&guarded_clGetKernelSuggestedLocalWorkSizeKHR)},
    {"clGetKernelWorkGroupInfo", reinterpret_cast<void*>(&guarded_clGetKernelWorkGroupInfo)},
    {"clGetMemObjectInfo", reinterpret_cast<void*>(&guarded_clGetMemObjectInfo)},
    {"clGetPipeInfo", reinterpret_cast<void*>(&guarded_clGetPipeInfo)},
    {"clGetPlatformIDs", reinterpret_cast<void*>(&guarded_clGetPlatformIDs)},
    {"clGetPlatformInfo", reinterpret_cast<void*>(&guarded_clGetPlatformInfo)},
    {"clGetProgramBuildInfo", reinterpret_cast<void*>(&guarded_clGetProgramBuildInfo)},
    {"clGetProgramInfo", reinterpret_cast<void*>(&guarded_clGetProgramInfo)},
    {"clGetSamplerInfo", reinterpret_cast<void*>(&guarded_clGetSamplerInfo)},
    {"clGetSupportedImageFormats", reinterpret_cast<void*>(&guarded_clGetSupportedImageFormats)},
    {"clLinkProgram", reinterpret_cast<void*>(&guarded_clLinkProgram)},
    {"clReleaseCommandQueue", reinterpret_cast<void*>(&guarded_clReleaseCommandQueue)},
    {"clReleaseContext", reinterpret_cast<void*>(&guarded_clReleaseContext)},
    {"clReleaseDevice", reinterpret_cast<void*>(&guarded_clReleaseDevice)},
    {"clReleaseEvent", reinterpret_cast<void*>(&guarded_clReleaseEvent)},
    {"clReleaseKernel", reinterpret_cast<void*>(&guarded_clReleaseKernel)},
    {"clReleaseMemObject", reinterpret_cast<void*>(&guarded_clReleaseMemObject)},
    {"clReleaseProgram", reinterpret_cast<void*>(&guarded_clReleaseProgram)},
    {"clReleaseSampler", reinterpret_cast<void*>(&guarded_clReleaseSampler)},
    {"clRetainCommandQueue", reinterpret_cast<void*>(&guarded_clRetainCommandQueue)},
    {"clRetainContext", reinterpret_cast<void*>(&guarded_clRetainContext)},
    {"clRetainDevice", reinterpret_cast<void*>(&guarded_clRetainDevice)},
    {"clRetainEvent", reinterpret_cast<void*>(&guarded_clRetainEvent)},
    {"clRetainKernel", reinterpret_cast<void*>(&guarded_clRetainKernel)},
    {"clRetainMemObject", reinterpret_cast<void*>(&guarded_clRetainMemObject)},
    {"clRetainProgram", reinterpret_cast<void*>(&guarded_clRetainProgram)},
    {"clRetainSampler", reinterpret_cast<void*>(&guarded_clRetainSampler)},
    {"clSVMAlloc", reinterpret_cast<void*>(&guarded_clSVMAlloc)},
    {"clSVMFree", reinterpret_cast<void*>(&guarded_clSVMFree)},
    {"clSetCommandQueueProperty", reinterpret_cast<void*>(&guarded_clSetCommandQueueProperty)},
    {"clSetContextDestructorCallback", reinterpret_cast<void*>(&guarded_clSetContextDestructorCallback)},
    {"clSetDefaultDeviceCommandQueue", reinterpret_cast<void*>(&guarded_clSetDefaultDeviceCommandQueue)},
    {"clSetEventCallback", reinterpret_cast<void*>(&guarded_clSetEventCallback)},
    {"clSetKernelArg", reinterpret_cast<void*>(&guarded_clSetKernelArg)},
    {"clSetKernelArgSVMPointer", reinterpret_cast<void*>(&guarded_clSetKernelArgSVMPointer)},
    {"clSetKernelExecInfo", reinterpret_cast<void*>(&guarded_clSetKernelExecInfo)},
    {"clSetMemObjectDestructorAPPLE", reinterpret_cast<void*>(&guarded_clSetMemObjectDestructorAPPLE)},
    {"clSetMemObjectDestructorCallback", reinterpret_cast<void*>(&guarded_clSetMemObjectDestructorCallback)},
    {"clSetProgramReleaseCallback", reinterpret_cast<void*>(&guarded_clSetProgramReleaseCallback)},
    {"clSetProgramSpecializationConstant", reinterpret_cast<void*>(&guarded_clSetProgramSpecializationConstant)},
    {"clSetUserEventStatus", reinterpret_cast<void*>(&guarded_clSetUserEventStatus)},
    {"clUnloadCompiler", reinterpret_cast<void*>(&guarded_clUnloadCompiler)},
    {"clUnloadPlatformCompiler", reinterpret_cast<void*>(&guarded_clUnloadPlatformCompiler)},
    {"clWaitForEvents", reinterpret_cast<void*>(&guarded_clWaitForEvents)},
  };
  const auto* found = std::ranges::lower_bound(kFunctions, name, {}, &std::pair<std::string_view, void*>::first);
  return found != std::end(kFunctions) && found->first == name ? found->second : nullptr;
}

}  // namespace flexrack::client::opencl
