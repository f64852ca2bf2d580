// Texture and surface references: variables of a module that are bound to memory by name, as CUDA had it before
// objects. cuTexRef*, cuSurfRef*.
#include <algorithm>
#include <cstring>

#include "sim/driver/module.h"
#include "sim/driver/texture.h"

namespace flexrack::sim {
namespace {

class TextureReference : public Object<TextureReference>, public Owned {
 public:
  TextureReference(Ref<Module> of, std::string called) : module(std::move(of)), name(std::move(called)) {
    description.maxAnisotropy = 1;
    for (auto& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  }
  void context_over() noexcept override {
    texture = nullptr;
    close();
  }
  CUtexref handle() { return reinterpret_cast<CUtexref>(this); }

  /// What is set so far becomes a texture that the module's variable has, once there is memory.
  void bind() {
    if (!has_resource) return;
    auto made = TextureObject::make(module->context, resource, description, nullptr);
    if (module->image()) module->image()->bind(name, made->handle());
    texture = std::move(made);
  }
  template <class Change>
  void change(Change&& how) {
    const std::lock_guard guard(lock);
    how();
    bind();
  }

  const Ref<Module> module;
  const std::string name;
  std::mutex lock;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC description{};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  unsigned channels = 1;
  bool has_resource = false;
  Ref<TextureObject> texture;
};

class SurfaceReference : public Object<SurfaceReference>, public Owned {
 public:
  SurfaceReference(Ref<Module> of, std::string called) : module(std::move(of)), name(std::move(called)) {}
  void context_over() noexcept override {
    surface = nullptr;
    close();
  }
  CUsurfref handle() { return reinterpret_cast<CUsurfref>(this); }
  const Ref<Module> module;
  const std::string name;
  Ref<SurfaceObject> surface;
};

/// References by module and name: the same one each time it is asked for.
template <class T>
Ref<T> reference(const Ref<Module>& module, const char* name, ptx::Type type) {
  const auto* variable = module->image() ? module->program->module()->variable(name) : nullptr;
  require(variable && variable->type == type, CUDA_ERROR_NOT_FOUND);
  static auto* lock = new std::mutex;
  static auto* handles = new std::map<std::pair<const Module*, std::string>, const void*>;
  const std::lock_guard guard(*lock);
  const std::pair key{static_cast<const Module*>(module.get()), std::string(name)};
  if (auto found = T::find((*handles)[key]); found && found->module == module) return found;
  auto made = T::make(module, name);
  made->open();
  module->context->keep(*made);
  (*handles)[key] = made.get();
  return made;
}

Ref<TextureReference> texture_reference(CUtexref handle) {
  auto found = TextureReference::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

Ref<SurfaceReference> surface_reference(CUsurfref handle) {
  auto found = SurfaceReference::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

/// Sets something of a reference.
template <class Change>
CUresult set(CUtexref handle, Change&& how) {
  return call([&] {
    const auto reference = texture_reference(handle);
    reference->change([&] { how(*reference); });
  });
}

template <class T, class Read>
CUresult get(CUtexref handle, T* out, Read&& read) {
  return call([&] {
    require(out);
    const auto reference = texture_reference(handle);
    const std::lock_guard guard(reference->lock);
    *out = read(*reference);
  });
}

CUresult set_address_2d(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* as, CUdeviceptr address, size_t pitch) {
  if (!as) return CUDA_ERROR_INVALID_VALUE;
  return set(handle, [&](TextureReference& of) {
    of.resource = {};
    of.resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    of.resource.res.pitch2D = {address, as->Format, as->NumChannels, as->Width, as->Height, pitch};
    of.has_resource = true;
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuModuleGetTexRef(CUtexref* found, CUmodule module, const char* name) {
  return call([&] {
    require(found && name);
    current();
    *found = reference<TextureReference>(module_of(module), name, ptx::Type::texref)->handle();
  });
}

CUresult cuModuleGetSurfRef(CUsurfref* found, CUmodule module, const char* name) {
  return call([&] {
    require(found && name);
    current();
    *found = reference<SurfaceReference>(module_of(module), name, ptx::Type::surfref)->handle();
  });
}

CUresult cuTexRefSetArray(CUtexref handle, CUarray array, unsigned int) {
  return set(handle, [&](TextureReference& of) {
    const auto& as = array_of(array)->descriptor;
    of.resource = {};
    of.resource.resType = CU_RESOURCE_TYPE_ARRAY;
    of.resource.res.array.hArray = array;
    of.format = as.Format;
    of.channels = as.NumChannels;
    of.has_resource = true;
  });
}

CUresult cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray array, unsigned int) {
  return set(handle, [&](TextureReference& of) {
    mipmapped_of(array);
    of.resource = {};
    of.resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    of.resource.res.mipmap.hMipmappedArray = array;
    of.has_resource = true;
  });
}

CUresult cuTexRefSetAddress_v2(size_t* offset, CUtexref handle, CUdeviceptr address, size_t bytes) {
  if (offset) *offset = 0;
  return set(handle, [&](TextureReference& of) {
    of.resource = {};
    of.resource.resType = CU_RESOURCE_TYPE_LINEAR;
    of.resource.res.linear = {address, of.format, of.channels, bytes};
    of.has_resource = true;
  });
}

CUresult cuTexRefSetAddress2D_v2(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* as, CUdeviceptr address, size_t pitch) {
  return set_address_2d(handle, as, address, pitch);
}
CUresult cuTexRefSetAddress2D_v3(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* as, CUdeviceptr address, size_t pitch) {
  return set_address_2d(handle, as, address, pitch);
}

CUresult cuTexRefSetFormat(CUtexref handle, CUarray_format format, int channels) {
  return set(handle, [&](TextureReference& of) {
    of.format = format;
    of.channels = static_cast<unsigned>(channels);
    if (of.resource.resType != CU_RESOURCE_TYPE_LINEAR) return;
    of.resource.res.linear.format = format;
    of.resource.res.linear.numChannels = of.channels;
  });
}

CUresult cuTexRefSetAddressMode(CUtexref handle, int dimension, CUaddress_mode mode) {
  return set(handle, [&](TextureReference& of) {
    require(dimension >= 0 && dimension < 3 && mode <= CU_TR_ADDRESS_MODE_BORDER);
    of.description.addressMode[dimension] = mode;
  });
}
CUresult cuTexRefSetFilterMode(CUtexref handle, CUfilter_mode mode) {
  return set(handle, [&](TextureReference& of) { of.description.filterMode = mode; });
}
CUresult cuTexRefSetMipmapFilterMode(CUtexref handle, CUfilter_mode mode) {
  return set(handle, [&](TextureReference& of) { of.description.mipmapFilterMode = mode; });
}
CUresult cuTexRefSetMipmapLevelBias(CUtexref handle, float bias) {
  return set(handle, [&](TextureReference& of) { of.description.mipmapLevelBias = bias; });
}
CUresult cuTexRefSetMipmapLevelClamp(CUtexref handle, float least, float greatest) {
  return set(handle, [&](TextureReference& of) {
    of.description.minMipmapLevelClamp = least;
    of.description.maxMipmapLevelClamp = greatest;
  });
}
CUresult cuTexRefSetMaxAnisotropy(CUtexref handle, unsigned int most) {
  return set(handle, [&](TextureReference& of) { of.description.maxAnisotropy = most; });
}
CUresult cuTexRefSetBorderColor(CUtexref handle, float* colour) {
  if (!colour) return CUDA_ERROR_INVALID_VALUE;
  return set(handle, [&](TextureReference& of) { std::copy(colour, colour + 4, of.description.borderColor); });
}
CUresult cuTexRefSetFlags(CUtexref handle, unsigned int flags) {
  return set(handle, [&](TextureReference& of) { of.description.flags = flags; });
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr* address, CUtexref handle) {
  return get(handle, address, [](const TextureReference& of) {
    require(of.has_resource &&
            (of.resource.resType == CU_RESOURCE_TYPE_LINEAR || of.resource.resType == CU_RESOURCE_TYPE_PITCH2D));
    return of.resource.resType == CU_RESOURCE_TYPE_LINEAR ? of.resource.res.linear.devPtr
                                                          : of.resource.res.pitch2D.devPtr;
  });
}
CUresult cuTexRefGetArray(CUarray* array, CUtexref handle) {
  return get(handle, array, [](const TextureReference& of) {
    require(of.has_resource && of.resource.resType == CU_RESOURCE_TYPE_ARRAY);
    return of.resource.res.array.hArray;
  });
}
CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* array, CUtexref handle) {
  return get(handle, array, [](const TextureReference& of) {
    require(of.has_resource && of.resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    return of.resource.res.mipmap.hMipmappedArray;
  });
}
CUresult cuTexRefGetAddressMode(CUaddress_mode* mode, CUtexref handle, int dimension) {
  if (dimension < 0 || dimension > 2) return CUDA_ERROR_INVALID_VALUE;
  return get(handle, mode, [&](const TextureReference& of) { return of.description.addressMode[dimension]; });
}
CUresult cuTexRefGetFilterMode(CUfilter_mode* mode, CUtexref handle) {
  return get(handle, mode, [](const TextureReference& of) { return of.description.filterMode; });
}
CUresult cuTexRefGetFormat(CUarray_format* format, int* channels, CUtexref handle) {
  if (channels) {
    const auto result = get(handle, channels, [](const TextureReference& of) { return static_cast<int>(of.channels); });
    if (result != CUDA_SUCCESS) return result;
  }
  return get(handle, format, [](const TextureReference& of) { return of.format; });
}
CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* mode, CUtexref handle) {
  return get(handle, mode, [](const TextureReference& of) { return of.description.mipmapFilterMode; });
}
CUresult cuTexRefGetMipmapLevelBias(float* bias, CUtexref handle) {
  return get(handle, bias, [](const TextureReference& of) { return of.description.mipmapLevelBias; });
}
CUresult cuTexRefGetMipmapLevelClamp(float* least, float* greatest, CUtexref handle) {
  const auto result = get(handle, least, [](const TextureReference& of) { return of.description.minMipmapLevelClamp; });
  return result != CUDA_SUCCESS
             ? result
             : get(handle, greatest, [](const TextureReference& of) { return of.description.maxMipmapLevelClamp; });
}
CUresult cuTexRefGetMaxAnisotropy(int* most, CUtexref handle) {
  return get(handle, most, [](const TextureReference& of) { return static_cast<int>(of.description.maxAnisotropy); });
}
CUresult cuTexRefGetBorderColor(float* colour, CUtexref handle) {
  return call([&] {
    require(colour);
    const auto reference = texture_reference(handle);
    const std::lock_guard guard(reference->lock);
    std::copy(std::begin(reference->description.borderColor), std::end(reference->description.borderColor), colour);
  });
}
CUresult cuTexRefGetFlags(unsigned int* flags, CUtexref handle) {
  return get(handle, flags, [](const TextureReference& of) { return of.description.flags; });
}

CUresult cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned int flags) {
  return call([&] {
    require(flags == 0);
    const auto reference = surface_reference(handle);
    CUDA_RESOURCE_DESC as{};
    as.resType = CU_RESOURCE_TYPE_ARRAY;
    as.res.array.hArray = array;
    auto made = SurfaceObject::make(reference->module->context, as);
    if (auto* image = reference->module->image()) image->bind(reference->name, made->handle());
    reference->surface = std::move(made);
  });
}

CUresult cuSurfRefGetArray(CUarray* array, CUsurfref handle) {
  return call([&] {
    require(array);
    const auto reference = surface_reference(handle);
    require(static_cast<bool>(reference->surface));
    *array = reference->surface->resource.res.array.hArray;
  });
}

}  // extern "C"
