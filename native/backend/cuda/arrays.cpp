// Arrays, and the textures and surfaces that show them or memory.
#include "backend/cuda/call_context.h"
#include "backend/cuda/memory.h"

namespace flexrack::backend::cuda {
namespace {

constexpr std::size_t kMostShown = 1 << 20;   ///< textures and surfaces

/// Bytes of one element of an array (CUarray_format, cuda.h 13.0); 0: a format whose size we do not know.
std::uint64_t element_bytes(std::uint32_t format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
  }
}

}  // namespace

void Memory::on(const cu::CreateArray& m, Respond<cu::CreateArrayReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Width = m.shape.width, shape.Height = m.shape.height, shape.Depth = m.shape.depth;
  shape.Format = static_cast<CUarray_format>(m.shape.format);
  shape.NumChannels = m.shape.channels;
  shape.Flags = m.shape.flags;
  const auto element = element_bytes(m.shape.format) * m.shape.channels;
  std::uint64_t bytes = element;
  for (const auto extent :
       {m.shape.width, std::max<std::uint64_t>(m.shape.height, 1), std::max<std::uint64_t>(m.shape.depth, 1)}) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) call.fail(CUDA_ERROR_INVALID_VALUE);
  }
  if (element == 0) call.fail(CUDA_ERROR_NOT_SUPPORTED);  // what it costs cannot be charged
  if (m.shape.levels > 1) bytes += bytes / 2;             // all smaller levels together are less than that
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  const auto device = core_.device_of(m.context);
  if (!core_.charge(device, bytes)) return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  Record* record = nullptr;
  if (m.shape.levels == 0) {
    CUarray made = nullptr;
    call.run(core_.table.cuArray3DCreate_v2, &made, &shape);
    record = call.keep(m.array, made);
    if (!record && made) core_.table.cuArrayDestroy(made);
  } else {
    CUmipmappedArray made = nullptr;
    call.run(core_.table.cuMipmappedArrayCreate, &made, &shape, m.shape.levels);
    record = call.keep(m.array, made);
    if (!record && made) core_.table.cuMipmappedArrayDestroy(made);
  }
  if (record) {
    record->device = device;
    record->charged = bytes;
  } else {
    core_.refund(device, bytes);
  }
  respond({.status = as_wire(call.status())});
}

CUDA_RESOURCE_DESC Memory::resource(CallContext& call, const cu::Resource& reported) {
  CUDA_RESOURCE_DESC found{};
  found.resType = static_cast<CUresourcetype>(reported.kind);
  found.flags = reported.flags;
  switch (found.resType) {
    case CU_RESOURCE_TYPE_ARRAY: found.res.array.hArray = call.get<CUarray>(reported.object); break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      found.res.mipmap.hMipmappedArray = call.get<CUmipmappedArray>(reported.object);
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      call.address(reported.object, reported.width);
      found.res.linear = {reported.object, static_cast<CUarray_format>(reported.format), reported.channels,
                          static_cast<size_t>(reported.width)};
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      call.rows(reported.object, reported.pitch,
                call.product(reported.width, element_bytes(reported.format) * reported.channels), reported.height, 0,
                1);
      found.res.pitch2D = {reported.object,
                           static_cast<CUarray_format>(reported.format),
                           reported.channels,
                           static_cast<size_t>(reported.width),
                           static_cast<size_t>(reported.height),
                           static_cast<size_t>(reported.pitch)};
      break;
    default: call.fail(CUDA_ERROR_INVALID_VALUE);
  }
  return found;
}

void Memory::on(const cu::CreateTexture& m, Respond<cu::CreateTextureReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  const auto shown = resource(call, m.resource);
  const auto how = call.flat<CUDA_TEXTURE_DESC>(m.texture);
  CUDA_RESOURCE_VIEW_DESC view{};
  if (!m.view.empty()) view = call.flat<CUDA_RESOURCE_VIEW_DESC>(m.view);
  CUtexObject made = 0;
  if (core_.shown.size() >= kMostShown) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (call.run(core_.table.cuTexObjectCreate, &made, &shown, &how, m.view.empty() ? nullptr : &view))
    core_.shown[{false, made}] = m.context;
  respond({.status = as_wire(call.status()), .object = made});
}

void Memory::on(const cu::CreateSurface& m, Respond<cu::CreateSurfaceReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  const auto shown = resource(call, m.resource);
  CUsurfObject made = 0;
  if (core_.shown.size() >= kMostShown) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (call.run(core_.table.cuSurfObjectCreate, &made, &shown)) core_.shown[{true, made}] = m.context;
  respond({.status = as_wire(call.status()), .object = made});
}

}  // namespace flexrack::backend::cuda
