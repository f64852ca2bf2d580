// What the API refuses about memory objects before anything is sent. The order of the checks is the specification's
// where it has one, PoCL's elsewhere.
#pragma once

#include <algorithm>
#include <cstring>

#include "client/opencl/memory_objects.h"
#include "client/opencl/rect.h"

namespace flexrack::client::opencl {

inline constexpr cl_mem_flags kAccessFlags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
inline constexpr cl_mem_flags kHostPointerFlags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
inline constexpr cl_mem_flags kHostAccessFlags = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

/// One of a device's infos; `fallback` where the device has no such.
template <class T>
T device_info(cl_device_id device, cl_uint name, T fallback) {
  const auto found = device->infos.find(name);
  if (found == device->infos.end() || found->second.size() < sizeof(T)) return fallback;
  T value;
  std::memcpy(&value, found->second.data(), sizeof value);
  return value;
}

/// Whether any of the context's devices has shared virtual memory.
inline bool has_svm(cl_context context) {
  return std::ranges::any_of(context->devices, [](cl_device_id device) {
    return device_info<cl_bitfield>(device, CL_DEVICE_SVM_CAPABILITIES, 0) != 0;
  });
}

/// The largest CL_DEVICE_MAX_MEM_ALLOC_SIZE of the context's devices.
std::size_t largest_allocation(cl_context context);

/// CL_INVALID_VALUE for flags that exclude each other, CL_INVALID_HOST_PTR where host pointer and flags disagree.
cl_int check_flags(cl_mem_flags flags, const void* host_pointer);
/// CL_INVALID_VALUE for flags a sub-buffer or an image of a buffer cannot have over that buffer.
cl_int check_inherited_flags(cl_mem parent, cl_mem_flags flags);
/// The flags such an object has.
cl_mem_flags inherit_flags(cl_mem parent, cl_mem_flags flags);

/// CL_MISALIGNED_SUB_BUFFER_OFFSET for a sub-buffer whose origin this queue's device cannot take.
cl_int check_alignment(cl_command_queue queue, cl_mem memory);
/// CL_OUT_OF_RESOURCES for an object larger than this queue's device allocates.
cl_int check_fits(cl_command_queue queue, cl_mem memory);
/// CL_INVALID_VALUE where [offset, offset + size) is not in `whole` bytes.
cl_int check_bounds(std::size_t whole, std::size_t offset, std::size_t size);

/// Fills pitches that are 0, then CL_INVALID_VALUE for pitches or a region that do not fit. `whole` bytes, SIZE_MAX for
/// host memory.
cl_int check_rect(std::size_t whole, const std::size_t* origin, const std::size_t* region, std::size_t& row_pitch,
                  std::size_t& slice_pitch);
/// Whether two boxes of one memory object, of the same pitches, have a byte in common.
bool rects_overlap(const std::size_t* a, const std::size_t* b, const std::size_t* region, std::size_t row_pitch,
                   std::size_t slice_pitch);

/// CL_INVALID_VALUE for an origin and region that are not of the image.
cl_int check_image_region(cl_mem image, const std::size_t* origin, const std::size_t* region);
/// CL_INVALID_EVENT_WAIT_LIST where count and list disagree: first of all checks in some functions.
cl_int check_wait_shape(cl_uint count, const cl_event* list);

inline cl::Triple triple(const std::size_t* values) { return {values[0], values[1], values[2]}; }

}  // namespace flexrack::client::opencl
