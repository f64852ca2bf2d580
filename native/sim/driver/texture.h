// Texture and surface objects, by the numbers that kernels have for them.
#pragma once

#include <memory>
#include <vector>

#include "sim/driver/array.h"
#include "sim/driver/memory.h"
#include "sim/exec/texture.h"

namespace flexrack::sim {

/// A resource, and what keeps its memory.
struct Resource {
  std::vector<exec::Texels> levels;
  std::vector<Ref<Array>> arrays;
  std::shared_ptr<Allocation> allocation;
};
/// Throws CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_NOT_SUPPORTED.
Resource resource_of(const CUDA_RESOURCE_DESC& as);

/// A texture in a context's map. Ends with it.
class TextureObject : public Object<TextureObject>, public Owned {
 public:
  TextureObject(Ref<Context> in, const CUDA_RESOURCE_DESC& as, const CUDA_TEXTURE_DESC& texture,
                const CUDA_RESOURCE_VIEW_DESC* view);
  ~TextureObject();
  void context_over() noexcept override { close(); }
  CUtexObject handle() const { return reinterpret_cast<CUtexObject>(this); }

  const Ref<Context> context;
  const CUDA_RESOURCE_DESC resource;
  const CUDA_TEXTURE_DESC description;
  const bool has_view;
  const CUDA_RESOURCE_VIEW_DESC view;

 private:
  Resource kept_;
};

class SurfaceObject : public Object<SurfaceObject>, public Owned {
 public:
  SurfaceObject(Ref<Context> in, const CUDA_RESOURCE_DESC& as);
  ~SurfaceObject();
  void context_over() noexcept override { close(); }
  CUsurfObject handle() const { return reinterpret_cast<CUsurfObject>(this); }

  const Ref<Context> context;
  const CUDA_RESOURCE_DESC resource;

 private:
  Resource kept_;
};

}  // namespace flexrack::sim
