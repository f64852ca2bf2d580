// Sizes of images: elements, rows, and all of them packed.
#include "client/opencl/image_create.h"

namespace flexrack::client::opencl {

namespace {

std::size_t channel_size(cl_channel_type type) {
  switch (type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8: return 1;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT: return 2;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT: return 4;
    default: return 0;
  }
}

std::size_t channels(cl_channel_order order) {
  switch (order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
    case CL_Rx: return 1;
    case CL_RG:
    case CL_RA:
    case CL_RGx: return 2;
    case CL_RGB:
    case CL_sRGB: return 3;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
    case CL_RGBx:
    case CL_sRGBx:
    case CL_sRGBA:
    case CL_sBGRA: return 4;
    default: return 0;
  }
}

}  // namespace

std::size_t element_size(const cl_image_format& format) {
  switch (format.image_channel_data_type) {   // all channels in one number
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555: return 2;
    case CL_UNORM_INT_101010:
    case CL_UNORM_INT_101010_2:
    case CL_UNORM_INT24: return 4;
    default: return channel_size(format.image_channel_data_type) * channels(format.image_channel_order);
  }
}

Size3 image_extent(const cl_image_desc& desc) {
  switch (desc.image_type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY: return {desc.image_width, desc.image_array_size, 1};
    case CL_MEM_OBJECT_IMAGE2D: return {desc.image_width, desc.image_height, 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY: return {desc.image_width, desc.image_height, desc.image_array_size};
    case CL_MEM_OBJECT_IMAGE3D: return {desc.image_width, desc.image_height, desc.image_depth};
    default: return {desc.image_width, 1, 1};
  }
}

cl::Triple whole_region(cl_mem image) {
  const auto extent = image_extent(image->image.desc);
  return {extent[0], extent[1], extent[2]};
}

std::size_t packed_size(cl_mem image) {
  const auto extent = image_extent(image->image.desc);
  return extent[0] * extent[1] * extent[2] * image->image.element_size;
}

Rows image_rows(cl_mem_object_type type, std::size_t element, const void* first, const std::size_t* region,
                std::size_t row_pitch, std::size_t slice_pitch) {
  auto rows = one_row(first, region[0] * element);
  rows.height = region[1];
  rows.depth = region[2];
  rows.row_pitch = row_pitch ? row_pitch : rows.width;
  // The second axis of an array of 1D images goes over whole images.
  if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY && slice_pitch) rows.row_pitch = slice_pitch;
  rows.slice_pitch = slice_pitch ? slice_pitch : rows.row_pitch * rows.height;
  return rows;
}

Rows image_rows(cl_mem image, const void* first, const std::size_t* region, std::size_t row_pitch,
                std::size_t slice_pitch) {
  return image_rows(image->type, image->image.element_size, first, region, row_pitch, slice_pitch);
}

}  // namespace flexrack::client::opencl
