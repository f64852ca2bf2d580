// Arrays: made at the server; what they are is known here.
#include "client/cuda/call.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

cu::Shape shape_of(const CUDA_ARRAY3D_DESCRIPTOR& wish, unsigned levels) {
  return {.width = wish.Width,
          .height = wish.Height,
          .depth = wish.Depth,
          .format = static_cast<std::uint32_t>(wish.Format),
          .channels = wish.NumChannels,
          .flags = wish.Flags,
          .levels = levels};
}

template <class Array>
CUresult create(Array* array, const CUDA_ARRAY3D_DESCRIPTOR* wish, unsigned levels) {
  Call call;
  call.needs(array);
  call.needs(wish);
  const auto context = call.current_context();
  call.check(!call.is_good() ||
             (wish->Width > 0 && (wish->NumChannels == 1 || wish->NumChannels == 2 || wish->NumChannels == 4)));
  if (!call.settle()) return call.error();
  auto made = call.make<Array>();
  const auto status =
      call.ask(cu::CreateArray{.context = context, .array = made.handle(), .shape = shape_of(*wish, levels)},
               [](const auto&) {});
  if (status != CUDA_SUCCESS) return status;
  made.get()->shape = *wish;
  if constexpr (std::is_same_v<Array, CUmipmappedArray>) made.get()->levels = levels;
  *array = made.keep();
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) {
  if (!pAllocateArray) return process() ? CUDA_ERROR_INVALID_VALUE : not_open();
  const CUDA_ARRAY3D_DESCRIPTOR wish{pAllocateArray->Width,  pAllocateArray->Height,      0,
                                     pAllocateArray->Format, pAllocateArray->NumChannels, 0};
  return create(pHandle, &wish, 0);
}

CUresult cuArray3DCreate_v2(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) {
  return create(pHandle, pAllocateArray, 0);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) {
  return numMipmapLevels == 0 ? CUDA_ERROR_INVALID_VALUE : create(pHandle, pMipmappedArrayDesc, numMipmapLevels);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  Call call;
  call.needs(pArrayDescriptor);
  if (!call.use(hArray)) return call.error();
  *pArrayDescriptor = {hArray->shape.Width, hArray->shape.Height, hArray->shape.Format, hArray->shape.NumChannels};
  return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  Call call;
  call.needs(pArrayDescriptor);
  if (!call.use(hArray)) return call.error();
  *pArrayDescriptor = hArray->shape;
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level) {
  Call call;
  call.use(hMipmappedArray);
  call.check(!call.is_good() || level < hMipmappedArray->levels);
  if (!call.is_good()) return call.error();
  const auto status = plain::cuMipmappedArrayGetLevel(pLevelArray, hMipmappedArray, level);
  if (status != CUDA_SUCCESS) return status;
  auto& made = **pLevelArray;
  made.shape = hMipmappedArray->shape;
  for (auto* extent : {&made.shape.Width, &made.shape.Height, &made.shape.Depth})
    *extent = *extent == 0 ? 0 : std::max<size_t>(1, *extent >> level);
  hMipmappedArray->made.push_back(*pLevelArray);
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray hArray) {
  Call call;
  const auto handle = call.handle(hArray);
  if (!call.settle()) return call.error();
  const auto status = call.send(cu::Release{.object = handle});
  discard(hArray);
  return status;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
  Call call;
  const auto handle = call.handle(hMipmappedArray);
  if (!call.settle()) return call.error();
  const auto status = call.send(cu::Release{.object = handle});
  for (auto* level : hMipmappedArray->made) discard(level);
  discard(hMipmappedArray);
  return status;
}

}  // namespace flexrack::client::cuda
