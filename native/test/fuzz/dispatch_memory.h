// Memory of the driver that believes what it is told, and the commands on it.
#pragma once

#include "backend/opencl/native_library.h"
#include "test/fuzz/dispatch_objects.h"

namespace flexrack::fuzz {

inline constexpr std::size_t kLargestImage = 256 * 1024;

/// The convention of clGet*Info.
template <class T>
cl_int give(const T& value, size_t size, void* out, size_t* needed) {
  if (needed) *needed = sizeof value;
  if (!out) return CL_SUCCESS;
  if (size < sizeof value) return CL_INVALID_VALUE;
  std::memcpy(out, &value, sizeof value);
  return CL_SUCCESS;
}
inline cl_int give_bytes(const void* bytes, size_t count, size_t size, void* out, size_t* needed) {
  if (needed) *needed = count;
  if (!out) return CL_SUCCESS;
  if (size < count) return CL_INVALID_VALUE;
  if (count) std::memcpy(out, bytes, count);
  return CL_SUCCESS;
}
inline cl_int give_text(const std::string& text, size_t size, void* out, size_t* needed) {
  return give_bytes(text.c_str(), text.size() + 1, size, out, needed);
}

inline cl_mem new_memory(cl_context context, std::size_t size) {
  auto* memory = new _cl_mem;
  memory->context = retain(context);
  memory->own = std::make_unique<std::uint8_t[]>(size);
  memory->data = memory->own.get();
  memory->size = size;
  return memory;
}

inline cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t size, void* content, cl_int* error) {
  Call call;
  auto* memory = new_memory(context, size);
  if (((flags & CL_MEM_COPY_HOST_PTR) != 0) != (content != nullptr)) std::abort();
  if (content) std::memcpy(memory->data, content, size);
  *error = CL_SUCCESS;
  return memory;
}

inline cl_mem create_sub_buffer(cl_mem parent, cl_mem_flags, cl_buffer_create_type, const void* info, cl_int* error) {
  Call call;
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  *error = parent->parent ? CL_INVALID_MEM_OBJECT : region.size == 0 ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
  if (*error != CL_SUCCESS) return nullptr;
  auto* memory = new _cl_mem;
  memory->context = retain(parent->context);
  memory->parent = retain(parent);
  memory->data = parent->data + region.origin;
  memory->size = region.size;
  return memory;
}

inline std::size_t element_size(const cl_image_format& format) {
  if (format.image_channel_order != CL_RGBA && format.image_channel_order != CL_R) return 0;
  const std::size_t channels = format.image_channel_order == CL_R ? 1 : 4;
  if (format.image_channel_data_type == CL_FLOAT) return 4 * channels;
  if (format.image_channel_data_type == CL_UNSIGNED_INT16) return 2 * channels;
  return format.image_channel_data_type == CL_UNORM_INT8 ? channels : 0;
}

/// Reads rows of the content as far apart as the description says, as the standard has it: nobody tells a driver how
/// long the content is.
inline void take_content(_cl_mem& image, const cl_image_desc& desc, const std::uint8_t* content) {
  const auto row = image.extent[0] * image.element;
  const auto row_pitch = desc.image_row_pitch ? desc.image_row_pitch : row;
  const bool is_1d_array = desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const auto slice_pitch =
      desc.image_slice_pitch ? desc.image_slice_pitch : row_pitch * (is_1d_array ? 1 : image.extent[1]);
  for (std::size_t z = 0; z < image.extent[2]; ++z)
    for (std::size_t y = 0; y < image.extent[1]; ++y)
      std::memcpy(image.data + (z * image.extent[1] + y) * row,
                  content + (is_1d_array ? y * slice_pitch : z * slice_pitch + y * row_pitch), row);
}

inline cl_mem create_image(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                           const cl_image_desc* desc, void* content, cl_int* error) {
  Call call;
  if (((flags & CL_MEM_COPY_HOST_PTR) != 0) != (content != nullptr)) std::abort();
  const auto element = element_size(*format);
  std::size_t extent[3] = {desc->image_width, 1, 1};
  *error = element == 0 ? CL_IMAGE_FORMAT_NOT_SUPPORTED : CL_SUCCESS;
  switch (desc->image_type) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER: break;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY: extent[1] = desc->image_array_size; break;
    case CL_MEM_OBJECT_IMAGE2D: extent[1] = desc->image_height; break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY: extent[1] = desc->image_height, extent[2] = desc->image_array_size; break;
    case CL_MEM_OBJECT_IMAGE3D: extent[1] = desc->image_height, extent[2] = desc->image_depth; break;
    default: *error = CL_INVALID_IMAGE_DESCRIPTOR;
  }
  for (const auto one : extent)
    if (one == 0 || one > 8192) *error = CL_INVALID_IMAGE_SIZE;
  const auto row = extent[0] * element;
  const auto pitch = desc->image_row_pitch ? desc->image_row_pitch : row;
  // Pitches without content or buffer to be apart in, and those that rows do not fit into, are for the driver to
  // refuse; too long ones with content are not.
  const bool has_place = content || desc->mem_object;
  if (*error == CL_SUCCESS && ((!has_place && (desc->image_row_pitch || desc->image_slice_pitch)) || pitch < row))
    *error = CL_INVALID_IMAGE_DESCRIPTOR;
  if (*error == CL_SUCCESS && desc->image_slice_pitch && desc->image_slice_pitch < pitch)
    *error = CL_INVALID_IMAGE_DESCRIPTOR;
  if (*error == CL_SUCCESS && extent[0] * extent[1] * extent[2] * element > kLargestImage)
    *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  if (*error == CL_SUCCESS && desc->mem_object &&
      (desc->image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER || row > desc->mem_object->size))
    *error = CL_INVALID_IMAGE_DESCRIPTOR;
  if (*error != CL_SUCCESS) return nullptr;
  auto* image = new_memory(context, desc->mem_object ? 0 : extent[0] * extent[1] * extent[2] * element);
  if (desc->mem_object) {
    image->parent = retain(desc->mem_object);
    image->data = desc->mem_object->data;
    image->size = row;
  }
  image->element = element;
  std::copy_n(extent, 3, image->extent);
  if (content) take_content(*image, *desc, static_cast<const std::uint8_t*>(content));
  return image;
}

inline cl_int get_image_info(cl_mem image, cl_image_info param, size_t size, void* out, size_t* needed) {
  Call call;
  if (image->element == 0) std::abort();
  if (param == CL_IMAGE_ELEMENT_SIZE) return give(image->element, size, out, needed);
  return param == CL_IMAGE_WIDTH ? give(image->extent[0], size, out, needed) : CL_INVALID_VALUE;
}

inline cl_int get_memory_info(cl_mem memory, cl_mem_info param, size_t size, void* out, size_t* needed) {
  Call call;
  return param == CL_MEM_SIZE ? give(memory->size, size, out, needed) : CL_INVALID_VALUE;
}

// ---- commands: origins and regions of images are checked, as the standard wants it; offsets in buffers are not

struct Box {
  size_t at[3], of[3];
  Box(const size_t* origin, const size_t* region) {
    std::copy_n(origin, 3, at);
    std::copy_n(region, 3, of);
  }
  bool is_within(const _cl_mem& image) const {
    for (int i = 0; i < 3; ++i)
      if (of[i] == 0 || at[i] > image.extent[i] || of[i] > image.extent[i] - at[i]) return false;
    return true;
  }
};

/// Calls `each(place in the image, bytes before it in a packed box, bytes)` for every row.
template <class Each>
void each_row(const _cl_mem& image, const Box& box, Each&& each) {
  const auto row = box.of[0] * image.element;
  for (size_t z = 0; z < box.of[2]; ++z)
    for (size_t y = 0; y < box.of[1]; ++y)
      each(image.data +
               (((box.at[2] + z) * image.extent[1] + box.at[1] + y) * image.extent[0] + box.at[0]) * image.element,
           (z * box.of[1] + y) * row, row);
}

/// Rows of a buffer, by pitches that are 0 where nothing lies between.
template <class Each>
void each_buffer_row(const Box& box, size_t row_pitch, size_t slice_pitch, Each&& each) {
  const auto row = row_pitch ? row_pitch : box.of[0];
  const auto slice = slice_pitch ? slice_pitch : row * box.of[1];
  for (size_t z = 0; z < box.of[2]; ++z)
    for (size_t y = 0; y < box.of[1]; ++y) each((box.at[2] + z) * slice + (box.at[1] + y) * row + box.at[0], box.of[0]);
}

inline bool has_pitches(const Box& box, size_t row_pitch, size_t slice_pitch) {
  const auto row = row_pitch ? row_pitch : box.of[0];
  return (row_pitch == 0 || row_pitch >= box.of[0]) &&
         (slice_pitch == 0 || (slice_pitch >= row * box.of[1] && slice_pitch % row == 0));
}

inline void fill_in_memory(backend::opencl::Native& cl) {
  cl.clCreateBuffer = create_buffer;
  cl.clCreateSubBuffer = create_sub_buffer;
  cl.clCreateImage = create_image;
  cl.clGetImageInfo = get_image_info;
  cl.clGetMemObjectInfo = get_memory_info;
  cl.clCreatePipe = [](cl_context context, cl_mem_flags, cl_uint packet, cl_uint count, const cl_pipe_properties*,
                       cl_int* error) -> cl_mem {
    Call call;
    *error =
        packet == 0 || count == 0 || std::uint64_t{packet} * count > kLargestImage ? CL_INVALID_PIPE_SIZE : CL_SUCCESS;
    return *error == CL_SUCCESS ? new_memory(context, std::size_t{packet} * count) : nullptr;
  };
  cl.clCreateSampler = [](cl_context context, cl_bool, cl_addressing_mode, cl_filter_mode,
                          cl_int* error) -> cl_sampler {
    Call call;
    auto* sampler = new _cl_sampler;
    sampler->context = retain(context);
    *error = CL_SUCCESS;
    return sampler;
  };
  cl.clGetSamplerInfo = [](cl_sampler sampler, cl_sampler_info, size_t size, void* out, size_t* needed) -> cl_int {
    return give(cl_uint(sampler->references > 0), size, out, needed);
  };
  cl.clGetSupportedImageFormats = [](cl_context context, cl_mem_flags, cl_mem_object_type, cl_uint room,
                                     cl_image_format* out, cl_uint* count) -> cl_int {
    if (context->references <= 0) std::abort();
    if (count) *count = 1;
    if (room > 0 && out) *out = {CL_RGBA, CL_FLOAT};
    return CL_SUCCESS;
  };
  cl.clSetMemObjectDestructorCallback = [](cl_mem memory, cl_memory_callback tell, void* data) -> cl_int {
    Call call;
    memory->destructors.emplace_back(tell, data);
    return CL_SUCCESS;
  };
  cl.clSVMAlloc = [](cl_context context, cl_svm_mem_flags, size_t size, cl_uint) -> void* {
    return context->references > 0 && size <= kLargestImage ? std::calloc(1, size) : nullptr;
  };
  cl.clSVMFree = [](cl_context context, void* memory) {
    if (context->references > 0) std::free(memory);
  };
}

}  // namespace flexrack::fuzz
