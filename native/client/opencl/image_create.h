// How large an image is on the wire.
#pragma once

#include "client/opencl/memory_objects.h"
#include "client/opencl/rect.h"

namespace flexrack::client::opencl {

/// Bytes of an element; 0 for a format nobody knows.
std::size_t element_size(const cl_image_format& format);
/// Elements along each axis that an origin and a region have.
Size3 image_extent(const cl_image_desc& desc);
/// All of an image, in elements.
cl::Triple whole_region(cl_mem image);
/// The bytes of all its elements without anything between.
std::size_t packed_size(cl_mem image);
/// Rows of host memory for a region of an image, with pitches that are 0 filled in.
Rows image_rows(cl_mem_object_type type, std::size_t element, const void* first, const std::size_t* region,
                std::size_t row_pitch, std::size_t slice_pitch);
Rows image_rows(cl_mem image, const void* first, const std::size_t* region, std::size_t row_pitch,
                std::size_t slice_pitch);

}  // namespace flexrack::client::opencl
