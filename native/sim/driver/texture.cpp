// Texture and surface objects, cuTexObject*, cuSurfObject*.
#include "sim/driver/texture.h"

#include <algorithm>
#include <cstring>

#include "sim/driver/failure.h"

namespace flexrack::sim {
namespace {

constexpr unsigned kTextureFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                                   CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;

exec::Texels texels_of(std::uint64_t data, CUarray_format format, unsigned channels, std::uint64_t width,
                       std::uint64_t height, std::uint64_t pitch) {
  exec::Texels texels;
  require(channel_of(format, texels.channel), CUDA_ERROR_NOT_SUPPORTED,
          "textures have channels of 8, 16 or 32 bits: integers, halves or floats");
  require((channels == 1 || channels == 2 || channels == 4) && width <= 0xffffffffu && height <= 65536);
  texels.data = data;
  texels.channels = static_cast<std::uint8_t>(channels);
  texels.width = static_cast<std::uint32_t>(width);
  texels.height = static_cast<std::uint32_t>(height);
  texels.row_pitch = pitch;
  texels.slice_pitch = pitch * height;
  return texels;
}

/// As CUresourceViewFormat counts: 8, 16, 32 bits unsigned and signed, then halves and floats, each with 1, 2 and 4
/// channels.
void apply_format(CUresourceViewFormat format, exec::Texels& texels) {
  if (format == CU_RES_VIEW_FORMAT_NONE) return;
  require(format <= CU_RES_VIEW_FORMAT_FLOAT_4X32, CUDA_ERROR_NOT_SUPPORTED, "no block-compressed textures");
  constexpr exec::Channel kChannels[] = {exec::Channel::u8,  exec::Channel::s8,  exec::Channel::u16,
                                         exec::Channel::s16, exec::Channel::u32, exec::Channel::s32,
                                         exec::Channel::f16, exec::Channel::f32};
  const auto number = static_cast<unsigned>(format) - 1;
  auto other = texels;
  other.channel = kChannels[number / 3];
  other.channels = static_cast<std::uint8_t>(1u << number % 3);
  require(other.texel_bytes() == texels.texel_bytes(), CUDA_ERROR_INVALID_VALUE, "a view with texels of another size");
  texels = other;
}

void apply_view(const CUDA_RESOURCE_VIEW_DESC& view, std::vector<exec::Texels>& levels) {
  const auto last = std::min<std::size_t>(view.lastMipmapLevel, levels.size() - 1);
  require(view.firstMipmapLevel <= last);
  levels = std::vector<exec::Texels>(levels.begin() + view.firstMipmapLevel,
                                     levels.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  for (auto& texels : levels) {
    apply_format(view.format, texels);
    if (texels.layers == 0) continue;
    require(view.firstLayer <= view.lastLayer && view.lastLayer < texels.layers);
    texels.data += view.firstLayer * texels.slice_pitch;
    texels.layers = view.lastLayer - view.firstLayer + 1;
  }
}

exec::AddressMode mode_of(CUaddress_mode mode) {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP: return exec::AddressMode::wrap;
    case CU_TR_ADDRESS_MODE_CLAMP: return exec::AddressMode::clamp;
    case CU_TR_ADDRESS_MODE_MIRROR: return exec::AddressMode::mirror;
    case CU_TR_ADDRESS_MODE_BORDER: return exec::AddressMode::border;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

exec::Filter filter_of(CUfilter_mode mode) {
  require(mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR);
  return mode == CU_TR_FILTER_MODE_LINEAR ? exec::Filter::linear : exec::Filter::point;
}

exec::Texture texture_of(const CUDA_TEXTURE_DESC& as, std::vector<exec::Texels> levels) {
  require((as.flags & ~kTextureFlags) == 0);
  exec::Texture texture;
  auto& sampler = texture.sampler;
  sampler.is_normalized = as.flags & CU_TRSF_NORMALIZED_COORDINATES;
  for (std::size_t i = 0; i < 3; ++i) {
    sampler.address[i] = mode_of(as.addressMode[i]);
    // cuda.h 13.0, cuTexObjectCreate: wrapping and mirroring are for normalised coordinates; else it is clamped.
    if (!sampler.is_normalized &&
        (sampler.address[i] == exec::AddressMode::wrap || sampler.address[i] == exec::AddressMode::mirror))
      sampler.address[i] = exec::AddressMode::clamp;
  }
  sampler.filter = filter_of(as.filterMode);
  sampler.level_filter = filter_of(as.mipmapFilterMode);
  std::copy(std::begin(as.borderColor), std::end(as.borderColor), sampler.border.begin());
  sampler.level_bias = as.mipmapLevelBias;
  sampler.least_level = as.minMipmapLevelClamp;
  sampler.greatest_level = as.maxMipmapLevelClamp;
  const auto channel = levels[0].channel;
  // Integers of 32 bits are never read as floats.
  texture.reads_integers =
      (as.flags & CU_TRSF_READ_AS_INTEGER) || channel == exec::Channel::u32 || channel == exec::Channel::s32;
  texture.is_srgb = as.flags & CU_TRSF_SRGB;
  texture.levels = std::move(levels);
  return texture;
}

}  // namespace

Resource resource_of(const CUDA_RESOURCE_DESC& as) {
  require(as.flags == 0);
  Resource made;
  switch (as.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      made.arrays = {array_of(as.res.array.hArray)};
      made.levels = {made.arrays[0]->texels()};
      return made;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      made.arrays = mipmapped_of(as.res.mipmap.hMipmappedArray)->levels;
      for (const auto& level : made.arrays) made.levels.push_back(level->texels());
      return made;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = as.res.linear;
      require(linear.devPtr % 512 == 0, CUDA_ERROR_INVALID_VALUE, "a texture's memory is aligned to 512 bytes");
      made.allocation = allocation_of(linear.devPtr, linear.sizeInBytes);
      auto texels = texels_of(linear.devPtr, linear.format, linear.numChannels, 0, 0, 0);
      const auto count = linear.sizeInBytes / texels.texel_bytes();
      require(count > 0 && count <= 268435456);
      texels.width = static_cast<std::uint32_t>(count);
      texels.row_pitch = linear.sizeInBytes;
      made.levels = {texels};
      return made;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& plane = as.res.pitch2D;
      const auto texels =
          texels_of(plane.devPtr, plane.format, plane.numChannels, plane.width, plane.height, plane.pitchInBytes);
      require(plane.devPtr % 512 == 0 && plane.pitchInBytes % 32 == 0, CUDA_ERROR_INVALID_VALUE,
              "a texture's memory is aligned to 512 bytes, its rows to 32");
      require(plane.width > 0 && plane.height > 0 && plane.width <= 131072 && plane.height <= 65000 &&
              plane.pitchInBytes <= 2097120);
      require(plane.width * texels.texel_bytes() <= plane.pitchInBytes);
      made.allocation =
          allocation_of(plane.devPtr, plane.pitchInBytes * (plane.height - 1) + plane.width * texels.texel_bytes());
      made.levels = {texels};
      return made;
    }
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

TextureObject::TextureObject(Ref<Context> in, const CUDA_RESOURCE_DESC& as, const CUDA_TEXTURE_DESC& texture,
                             const CUDA_RESOURCE_VIEW_DESC* with_view)
    : context(std::move(in)),
      resource(as),
      description(texture),
      has_view(with_view),
      view(with_view ? *with_view : CUDA_RESOURCE_VIEW_DESC{}),
      kept_(resource_of(as)) {
  auto levels = kept_.levels;
  if (has_view) {
    require(as.resType == CU_RESOURCE_TYPE_ARRAY || as.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    apply_view(view, levels);
  }
  context->map.add_texture(handle(), texture_of(texture, std::move(levels)));
}

TextureObject::~TextureObject() { context->map.remove_texture(handle()); }

SurfaceObject::SurfaceObject(Ref<Context> in, const CUDA_RESOURCE_DESC& as) : context(std::move(in)), resource(as) {
  require(as.resType == CU_RESOURCE_TYPE_ARRAY, CUDA_ERROR_INVALID_VALUE, "surfaces are arrays");
  kept_ = resource_of(as);
  const auto& array = *kept_.arrays[0];
  require(array.is_level || (array.descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST), CUDA_ERROR_INVALID_VALUE,
          "the array was not made for surfaces");
  context->map.add_surface(handle(), {kept_.levels[0]});
}

SurfaceObject::~SurfaceObject() { context->map.remove_surface(handle()); }

namespace {

Ref<TextureObject> texture_of(CUtexObject handle) {
  auto found = TextureObject::find(reinterpret_cast<const void*>(handle));
  require(static_cast<bool>(found));
  return found;
}

Ref<SurfaceObject> surface_of(CUsurfObject handle) {
  auto found = SurfaceObject::find(reinterpret_cast<const void*>(handle));
  require(static_cast<bool>(found));
  return found;
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuTexObjectCreate(CUtexObject* made, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* description,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return call([&] {
    require(made && resource && description);
    const auto context = current();
    const auto texture = TextureObject::make(context, *resource, *description, view);
    texture->open();
    context->keep(*texture);
    *made = texture->handle();
  });
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  return call([&] {
    const auto texture = texture_of(handle);
    if (texture->context->forget(*texture)) texture->close();
  });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject handle) {
  return call([&] {
    require(resource);
    *resource = texture_of(handle)->resource;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* description, CUtexObject handle) {
  return call([&] {
    require(description);
    *description = texture_of(handle)->description;
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject handle) {
  return call([&] {
    require(view);
    const auto texture = texture_of(handle);
    require(texture->has_view, CUDA_ERROR_INVALID_VALUE, "the texture was made without a view");
    *view = texture->view;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* made, const CUDA_RESOURCE_DESC* resource) {
  return call([&] {
    require(made && resource);
    const auto context = current();
    const auto surface = SurfaceObject::make(context, *resource);
    surface->open();
    context->keep(*surface);
    *made = surface->handle();
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return call([&] {
    const auto surface = surface_of(handle);
    if (surface->context->forget(*surface)) surface->close();
  });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject handle) {
  return call([&] {
    require(resource);
    *resource = surface_of(handle)->resource;
  });
}

}  // extern "C"
