// Texture and surface objects: numbers of the server's driver, which kernels are handed; what they show is known here.
#include "client/cuda/call.h"
#include "client/cuda/replicated_link.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

struct Shown {
  CUcontext context = nullptr;
  std::uint64_t context_handle = 0;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC view{};
  bool has_view = false;
};

/// By the object's number, in its context: those of two servers may be the same. Never destroyed.
struct Objects {
  std::mutex lock;
  std::map<std::pair<CUcontext, std::uint64_t>, Shown> textures, surfaces;
};

Objects& objects() {
  static auto& the_objects = *new Objects;
  return the_objects;
}
using Table = std::map<std::pair<CUcontext, std::uint64_t>, Shown>;

cu::Resource resource_of(Call& call, const CUDA_RESOURCE_DESC& wish) {
  cu::Resource reported{.kind = static_cast<std::uint32_t>(wish.resType), .flags = wish.flags};
  const auto& of = wish.res;
  switch (wish.resType) {
    case CU_RESOURCE_TYPE_ARRAY: reported.object = call.handle(of.array.hArray); break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: reported.object = call.handle(of.mipmap.hMipmappedArray); break;
    case CU_RESOURCE_TYPE_LINEAR:
      reported.object = call.address(of.linear.devPtr);
      reported.format = static_cast<std::uint32_t>(of.linear.format), reported.channels = of.linear.numChannels,
      reported.width = of.linear.sizeInBytes;
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      reported.object = call.address(of.pitch2D.devPtr);
      reported.format = static_cast<std::uint32_t>(of.pitch2D.format), reported.channels = of.pitch2D.numChannels;
      reported.width = of.pitch2D.width, reported.height = of.pitch2D.height, reported.pitch = of.pitch2D.pitchInBytes;
      break;
    default: call.check(false);
  }
  return reported;
}

void keep(Table& table, std::uint64_t object, Shown shown) {
  const std::lock_guard guard(objects().lock);
  table[{shown.context, object}] = std::move(shown);
}

/// What an object of the current context shows.
CUresult find(Call& call, const Table& table, std::uint64_t object, Shown& shown) {
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(objects().lock);
  const auto found = table.find({now, object});
  if (found == table.end() || found->second.context_handle != now->handle) return CUDA_ERROR_INVALID_VALUE;
  shown = found->second;
  return CUDA_SUCCESS;
}

void forget(Table& table, std::uint64_t object) {
  const std::lock_guard guard(objects().lock);
  table.erase({thread_state.current, object});
}

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC* pTexDesc, const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) {
  Call call;
  call.check(pTexObject && pResDesc && pTexDesc);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  if (now->server->is_mirrored()) return refuse_mirrored("textures and surfaces, whose numbers each driver chooses");
  const cu::CreateTexture message{.context = now->handle,
                                  .resource = resource_of(call, *pResDesc),
                                  .texture = wire::bytes_of(*pTexDesc),
                                  .view = pResViewDesc ? wire::bytes_of(*pResViewDesc) : wire::View{}};
  const auto status = call.ask(message, [&](const auto& reply) { *pTexObject = reply.object; });
  if (status != CUDA_SUCCESS) return status;
  keep(objects().textures, *pTexObject,
       {now, now->handle, *pResDesc, *pTexDesc, pResViewDesc ? *pResViewDesc : CUDA_RESOURCE_VIEW_DESC{},
        pResViewDesc != nullptr});
  return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject texObject) {
  forget(objects().textures, texObject);
  return plain::cuTexObjectDestroy(texObject);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
  Call call;
  Shown shown;
  call.needs(pResDesc);
  const auto status = find(call, objects().textures, texObject, shown);
  if (status == CUDA_SUCCESS) *pResDesc = shown.resource;
  return status;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) {
  Call call;
  Shown shown;
  call.needs(pTexDesc);
  const auto status = find(call, objects().textures, texObject, shown);
  if (status == CUDA_SUCCESS) *pTexDesc = shown.texture;
  return status;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc, CUtexObject texObject) {
  Call call;
  Shown shown;
  call.needs(pResViewDesc);
  const auto status = find(call, objects().textures, texObject, shown);
  if (status != CUDA_SUCCESS) return status;
  if (!shown.has_view) return CUDA_ERROR_INVALID_VALUE;
  *pResViewDesc = shown.view;
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc) {
  Call call;
  call.check(pSurfObject && pResDesc);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  if (now->server->is_mirrored()) return refuse_mirrored("textures and surfaces, whose numbers each driver chooses");
  const auto status = call.ask(cu::CreateSurface{.context = now->handle, .resource = resource_of(call, *pResDesc)},
                               [&](const auto& reply) { *pSurfObject = reply.object; });
  if (status == CUDA_SUCCESS)
    keep(objects().surfaces, *pSurfObject, {.context = now, .context_handle = now->handle, .resource = *pResDesc});
  return status;
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
  forget(objects().surfaces, surfObject);
  return plain::cuSurfObjectDestroy(surfObject);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject) {
  Call call;
  Shown shown;
  call.needs(pResDesc);
  const auto status = find(call, objects().surfaces, surfObject, shown);
  if (status == CUDA_SUCCESS) *pResDesc = shown.resource;
  return status;
}

}  // namespace flexrack::client::cuda
