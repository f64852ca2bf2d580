// Arrays, mipmapped arrays and cuArray*, cuMipmappedArray*.
#include "sim/driver/array.h"

#include <algorithm>
#include <bit>

namespace flexrack::sim {
namespace {

constexpr unsigned kArrayFlags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                                 CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_DEPTH_TEXTURE |
                                 CUDA_ARRAY3D_COLOR_ATTACHMENT;
constexpr unsigned kRefusedFlags =
    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

void check(const CUDA_ARRAY3D_DESCRIPTOR& as) {
  require(!(as.Flags & kRefusedFlags), CUDA_ERROR_NOT_SUPPORTED,
          "arrays are neither sparse nor mapped later nor for video");
  require((as.Flags & ~kArrayFlags) == 0 && as.Width > 0 &&
          (as.NumChannels == 1 || as.NumChannels == 2 || as.NumChannels == 4));
  const bool is_layered = as.Flags & CUDA_ARRAY3D_LAYERED, is_cube = as.Flags & CUDA_ARRAY3D_CUBEMAP;
  if (is_cube) {
    require(as.Width == as.Height && (is_layered ? as.Depth > 0 && as.Depth % 6 == 0 : as.Depth == 6));
  } else if (is_layered) {
    require(as.Depth > 0);
  } else {
    require(as.Height > 0 || as.Depth == 0);
  }
  const auto most = [&](std::uint64_t width, std::uint64_t height, std::uint64_t depth) {
    return as.Width <= width && as.Height <= height && as.Depth <= depth;
  };
  const bool is_3d = as.Depth > 0 && !is_layered && !is_cube;
  require(is_3d ? most(16384, 16384, 16384) || most(8192, 8192, 32768) : most(131072, 65536, 2048 * 6));
}

}  // namespace

bool channel_of(CUarray_format format, exec::Channel& channel) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: channel = exec::Channel::u8; return true;
    case CU_AD_FORMAT_UNSIGNED_INT16: channel = exec::Channel::u16; return true;
    case CU_AD_FORMAT_UNSIGNED_INT32: channel = exec::Channel::u32; return true;
    case CU_AD_FORMAT_SIGNED_INT8: channel = exec::Channel::s8; return true;
    case CU_AD_FORMAT_SIGNED_INT16: channel = exec::Channel::s16; return true;
    case CU_AD_FORMAT_SIGNED_INT32: channel = exec::Channel::s32; return true;
    case CU_AD_FORMAT_HALF: channel = exec::Channel::f16; return true;
    case CU_AD_FORMAT_FLOAT: channel = exec::Channel::f32; return true;
    default: return false;
  }
}

Array::Array(Ref<Context> in, const CUDA_ARRAY3D_DESCRIPTOR& as, std::shared_ptr<Allocation> shared,
             std::uint64_t offset)
    : context(std::move(in)), descriptor(as), memory(std::move(shared)), is_level(memory != nullptr) {
  check(as);
  require(channel_of(as.Format, channel), CUDA_ERROR_NOT_SUPPORTED,
          "arrays have channels of 8, 16 or 32 bits: integers, halves or floats");
  element = exec::bytes_of(channel) * as.NumChannels;
  rows = std::max<std::uint64_t>(1, as.Height);
  slices = std::max<std::uint64_t>(1, as.Depth);
  row_pitch = (as.Width * element + 31) / 32 * 32;
  slice_pitch = row_pitch * rows;
  if (!memory) memory = allocate_device(context, bytes());
  data = memory->address + offset;
}

exec::Texels Array::texels() const {
  exec::Texels texels;
  const bool is_cube = descriptor.Flags & CUDA_ARRAY3D_CUBEMAP,
             is_layered = is_cube || (descriptor.Flags & CUDA_ARRAY3D_LAYERED);
  texels.data = data;
  texels.width = static_cast<std::uint32_t>(descriptor.Width);
  texels.height = static_cast<std::uint32_t>(descriptor.Height);
  texels.depth = is_layered ? 0 : static_cast<std::uint32_t>(descriptor.Depth);
  texels.layers = is_layered ? static_cast<std::uint32_t>(descriptor.Depth) : 0;
  texels.row_pitch = row_pitch;
  texels.slice_pitch = slice_pitch;
  texels.channel = channel;
  texels.channels = static_cast<std::uint8_t>(descriptor.NumChannels);
  texels.is_cube = is_cube;
  return texels;
}

MipmappedArray::MipmappedArray(Ref<Context> in, const CUDA_ARRAY3D_DESCRIPTOR& as, unsigned count)
    : context(std::move(in)), descriptor(as) {
  check(as);
  exec::Channel channel{};
  require(channel_of(as.Format, channel), CUDA_ERROR_NOT_SUPPORTED);
  const bool is_layered = as.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
  const auto longest = std::max({as.Width, as.Height, is_layered ? 1 : as.Depth});
  count = std::clamp(count, 1u, static_cast<unsigned>(std::bit_width(longest)));
  const auto level_of = [&](unsigned level) {
    auto of = as;
    of.Width = std::max<std::size_t>(1, as.Width >> level);
    if (as.Height) of.Height = std::max<std::size_t>(1, as.Height >> level);
    if (as.Depth && !is_layered) of.Depth = std::max<std::size_t>(1, as.Depth >> level);
    return of;
  };
  std::vector<std::uint64_t> offsets;
  std::uint64_t total = 0;
  for (unsigned level = 0; level < count; ++level) {
    const auto of = level_of(level);
    offsets.push_back(total);
    const auto pitch = (of.Width * exec::bytes_of(channel) * of.NumChannels + 31) / 32 * 32;
    total += (pitch * std::max<std::size_t>(1, of.Height) * std::max<std::size_t>(1, of.Depth) + 511) / 512 * 512;
  }
  const auto memory = allocate_device(context, total);
  for (unsigned level = 0; level < count; ++level) {
    levels.push_back(Array::make(context, level_of(level), memory, offsets[level]));
    levels.back()->open();
  }
}

void MipmappedArray::context_over() noexcept {
  for (const auto& level : levels) level->close();
  close();
}

Ref<Array> array_of(CUarray handle) {
  auto found = Array::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

Ref<MipmappedArray> mipmapped_of(CUmipmappedArray handle) {
  auto found = MipmappedArray::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

namespace {

CUresult create(CUarray* made, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return call([&] {
    require(made && descriptor);
    const auto context = current();
    const auto array = Array::make(context, *descriptor);
    array->open();
    context->keep(*array);
    *made = array->handle();
  });
}

CUresult memory_requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements, std::uint64_t bytes) {
  *requirements = {};
  requirements->size = bytes;
  requirements->alignment = DeviceHeap::kGranularity;
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuArrayCreate_v2(CUarray* made, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR as{descriptor->Width,  descriptor->Height,      0,
                                   descriptor->Format, descriptor->NumChannels, 0};
  return create(made, &as);
}

CUresult cuArray3DCreate_v2(CUarray* made, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return create(made, descriptor);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray handle) {
  return call([&] {
    require(descriptor);
    const auto& of = array_of(handle)->descriptor;
    *descriptor = {of.Width, of.Height, of.Format, of.NumChannels};
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle) {
  return call([&] {
    require(descriptor);
    *descriptor = array_of(handle)->descriptor;
  });
}

CUresult cuArrayDestroy(CUarray handle) {
  return call([&] {
    const auto array = array_of(handle);
    require(!array->is_level, CUDA_ERROR_INVALID_HANDLE);
    array->context->settle();
    if (array->context->forget(*array)) array->close();
    require_working(*array->context);
  });
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements, CUarray handle, CUdevice ordinal) {
  return call([&] {
    require(requirements);
    device(ordinal);
    return memory_requirements(requirements, array_of(handle)->bytes());
  });
}

CUresult cuArrayGetPlane(CUarray* plane, CUarray handle, unsigned int) {
  return call([&] {
    require(plane);
    array_of(handle);
    fail(CUDA_ERROR_INVALID_VALUE, "an array of one plane");
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* made, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                unsigned int levels) {
  return call([&] {
    require(made && descriptor);
    const auto context = current();
    const auto array = MipmappedArray::make(context, *descriptor, levels);
    array->open();
    context->keep(*array);
    *made = array->handle();
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* level_array, CUmipmappedArray handle, unsigned int level) {
  return call([&] {
    require(level_array);
    const auto array = mipmapped_of(handle);
    require(level < array->levels.size());
    *level_array = array->levels[level]->handle();
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return call([&] {
    const auto array = mipmapped_of(handle);
    array->context->settle();
    if (array->context->forget(*array)) array->context_over();
    require_working(*array->context);
  });
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements, CUmipmappedArray handle,
                                               CUdevice ordinal) {
  return call([&] {
    require(requirements);
    device(ordinal);
    return memory_requirements(requirements, mipmapped_of(handle)->levels[0]->memory->size);
  });
}

// No array here is sparse.
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* properties, CUarray handle) {
  return call([&] {
    require(properties);
    array_of(handle);
    fail(CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* properties, CUmipmappedArray handle) {
  return call([&] {
    require(properties);
    mipmapped_of(handle);
    fail(CUDA_ERROR_INVALID_VALUE);
  });
}

}  // extern "C"
