#include "client/opencl/memory_check.h"

#include <algorithm>
#include <cstring>

namespace flexrack::client::opencl {

namespace {

bool has_several(cl_mem_flags flags) { return (flags & (flags - 1)) != 0; }

}  // namespace

std::size_t largest_allocation(cl_context context) {
  cl_ulong largest = 0;
  for (auto* device : context->devices)
    largest = std::max(largest, device_info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0));
  return largest;
}

cl_int check_flags(cl_mem_flags flags, const void* host_pointer) {
  constexpr cl_mem_flags kKnown =
      kAccessFlags | kHostPointerFlags | kHostAccessFlags | (1 << 6) | CL_MEM_KERNEL_READ_AND_WRITE;
  if ((flags & ~kKnown) != 0) return CL_INVALID_VALUE;
  if (has_several(flags & kAccessFlags)) return CL_INVALID_VALUE;
  if ((flags & CL_MEM_USE_HOST_PTR) && (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
    return CL_INVALID_VALUE;
  if (has_several(flags & kHostAccessFlags)) return CL_INVALID_VALUE;
  const bool wants_pointer = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  return wants_pointer == (host_pointer != nullptr) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

cl_int check_inherited_flags(cl_mem parent, cl_mem_flags flags) {
  const auto has = [&](cl_mem_flags of_parent, cl_mem_flags wanted) {
    return (parent->flags & of_parent) && (flags & wanted);
  };
  if (has(CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) return CL_INVALID_VALUE;
  if (has(CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) return CL_INVALID_VALUE;
  if (flags & kHostPointerFlags) return CL_INVALID_VALUE;
  if (has(CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY)) return CL_INVALID_VALUE;
  if (has(CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY)) return CL_INVALID_VALUE;
  if (has(CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) return CL_INVALID_VALUE;
  return CL_SUCCESS;
}

cl_mem_flags inherit_flags(cl_mem parent, cl_mem_flags flags) {
  const auto own_or_parents = [&](cl_mem_flags mask) {
    return (flags & mask) ? (flags & mask) : (parent->flags & mask);
  };
  return own_or_parents(kAccessFlags) | own_or_parents(kHostAccessFlags) | (parent->flags & kHostPointerFlags);
}

cl_int check_alignment(cl_command_queue queue, cl_mem memory) {
  if (!memory->parent || memory->origin == 0) return CL_SUCCESS;
  const auto bits = device_info<cl_uint>(queue->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 8);
  return memory->origin % std::max<std::size_t>(bits / 8, 1) == 0 ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

cl_int check_fits(cl_command_queue queue, cl_mem memory) {
  if (queue->context->devices.size() == 1) return CL_SUCCESS;   // its creation was checked against this very device
  return memory->root()->size <= device_info<cl_ulong>(queue->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0)
             ? CL_SUCCESS
             : CL_OUT_OF_RESOURCES;
}

cl_int check_bounds(std::size_t whole, std::size_t offset, std::size_t size) {
  return offset <= whole && size <= whole - offset ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int check_rect(std::size_t whole, const std::size_t* origin, const std::size_t* region, std::size_t& row_pitch,
                  std::size_t& slice_pitch) {
  std::size_t row = row_pitch ? row_pitch : region[0];
  if (row < region[0]) return CL_INVALID_VALUE;
  std::size_t smallest;
  if (__builtin_mul_overflow(region[1], row, &smallest)) return CL_INVALID_VALUE;
  std::size_t slice = slice_pitch ? slice_pitch : smallest;
  if (slice < smallest || slice % row != 0) return CL_INVALID_VALUE;
  const auto add = [](std::size_t& sum, std::size_t factor, std::size_t first, std::size_t count) {
    std::size_t last, bytes;
    return !__builtin_add_overflow(first, count - 1, &last) && !__builtin_mul_overflow(last, factor, &bytes) &&
           !__builtin_add_overflow(sum, bytes, &sum);
  };
  std::size_t end = 0;
  for (const auto& [factor, axis] : {std::pair<std::size_t, int>{1, 0}, {row, 1}, {slice, 2}}) {
    if (!add(end, factor, origin[axis], region[axis])) return CL_INVALID_VALUE;
  }
  if (end >= whole) return CL_INVALID_VALUE;
  row_pitch = row;
  slice_pitch = slice;
  return CL_SUCCESS;
}

bool rects_overlap(const std::size_t* a, const std::size_t* b, const std::size_t* region, std::size_t row_pitch,
                   std::size_t slice_pitch) {
  bool boxes_meet = true;
  for (int axis = 0; axis < 3; ++axis)
    boxes_meet = boxes_meet && a[axis] < b[axis] + region[axis] && b[axis] < a[axis] + region[axis];
  if (boxes_meet) return true;
  // A box that runs over the end of a row or slice comes round into the next: there the linear ranges decide.
  const auto wraps = [&](const std::size_t* box, const std::size_t* other) {
    const auto x = box[0] + region[0], y = box[1] + region[1], rows = row_pitch ? slice_pitch / row_pitch : 0;
    return (x > row_pitch && x - row_pitch > other[0]) || (rows && y > rows && y - rows > other[1]);
  };
  if (!wraps(a, b) && !wraps(b, a)) return false;
  const auto start = [&](const std::size_t* box) { return box[2] * slice_pitch + box[1] * row_pitch + box[0]; };
  const auto length = region[2] * slice_pitch + region[1] * row_pitch + region[0];
  return start(a) < start(b) + length && start(b) < start(a) + length;
}

cl_int check_image_region(cl_mem image, const std::size_t* origin, const std::size_t* region) {
  if (!origin || !region) return CL_INVALID_VALUE;
  const auto& desc = image->image.desc;
  std::size_t extent[3] = {desc.image_width, 1, 1};
  switch (image->type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY: extent[1] = desc.image_array_size; break;
    case CL_MEM_OBJECT_IMAGE2D: extent[1] = desc.image_height; break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY: extent[1] = desc.image_height, extent[2] = desc.image_array_size; break;
    case CL_MEM_OBJECT_IMAGE3D: extent[1] = desc.image_height, extent[2] = desc.image_depth; break;
    default: break;
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (region[axis] == 0 || check_bounds(extent[axis], origin[axis], region[axis]) != CL_SUCCESS)
      return CL_INVALID_VALUE;
  }
  return CL_SUCCESS;
}

cl_int check_wait_shape(cl_uint count, const cl_event* list) {
  return (count == 0) == (list == nullptr) ? CL_SUCCESS : CL_INVALID_EVENT_WAIT_LIST;
}

}  // namespace flexrack::client::opencl
