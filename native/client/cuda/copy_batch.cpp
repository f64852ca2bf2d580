// Batches of copies: in no order among each other (cuda.h 13.0), so each is put on the stream like any other.
#include <optional>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

constexpr std::size_t kNoneFailed = SIZE_MAX;

bool is_order(CUmemcpySrcAccessOrder order) {
  return order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ||
         order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/// The default stream of all threads takes no batches.
CUresult batch_stream(CUstream which) {
  Call call;
  const auto stream = call.stream(which);
  call.check(!call.is_good() || (which != nullptr && !stream->is_default));
  return call.settle() ? CUDA_SUCCESS : call.error();
}

/// What has to be read before the call comes back and would be read later: pinned memory.
bool is_read_later(CUdeviceptr source, CUmemcpySrcAccessOrder order) {
  const auto known = order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? find_allocation(source) : std::nullopt;
  return known && !known->server;
}

CUresult linear_batch(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                      const CUmemcpyAttributes* attributes, const size_t* indices, size_t attribute_count,
                      size_t& failed, CUstream stream) {
  failed = kNoneFailed;
  if (!process()) return not_open();
  if (const auto status = batch_stream(stream); status != CUDA_SUCCESS) return status;
  if (!to || !from || !sizes || count == 0 || !attributes || !indices || attribute_count == 0 ||
      attribute_count > count || indices[0] != 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < attribute_count; ++i) {
    if (indices[i] >= count || (i > 0 && indices[i] <= indices[i - 1]) || !is_order(attributes[i].srcAccessOrder))
      return CUDA_ERROR_INVALID_VALUE;
  }
  // All or none, as far as it can be told before.
  for (size_t i = 0; i < count; ++i) {
    if (sizes[i] == 0 || to[i] == 0 || from[i] == 0) return failed = i, CUDA_ERROR_INVALID_VALUE;
    for (const auto address : {to[i], from[i]})
      if (covered(address, sizes[i]) == Covered::some) return failed = i, CUDA_ERROR_INVALID_VALUE;
  }
  bool waits = false;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at + 1 < attribute_count && indices[at + 1] == i) ++at;
    waits |= is_read_later(from[i], attributes[at].srcAccessOrder);
    if (const auto status = cuda::cuMemcpyAsync(to[i], from[i], sizes[i], stream); status != CUDA_SUCCESS)
      return failed = i, status;
  }
  return waits ? cuda::cuStreamSynchronize(stream) : CUDA_SUCCESS;
}

/// Bytes of what a pointer's row lengths count: an element of the array on the other side, else a byte. 0: no such
/// array.
std::size_t element_of(const CUDA_MEMCPY3D_BATCH_OP& operation) {
  for (const auto* one : {&operation.src, &operation.dst}) {
    if (one->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) continue;
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    if (cuda::cuArray3DGetDescriptor_v2(&shape, one->op.array.array) != CUDA_SUCCESS) return 0;
    switch (shape.Format) {
      case CU_AD_FORMAT_UNSIGNED_INT8:
      case CU_AD_FORMAT_SIGNED_INT8: return shape.NumChannels;
      case CU_AD_FORMAT_UNSIGNED_INT16:
      case CU_AD_FORMAT_SIGNED_INT16:
      case CU_AD_FORMAT_HALF: return 2 * std::size_t{shape.NumChannels};
      case CU_AD_FORMAT_UNSIGNED_INT32:
      case CU_AD_FORMAT_SIGNED_INT32:
      case CU_AD_FORMAT_FLOAT: return 4 * std::size_t{shape.NumChannels};
      default: return 0;
    }
  }
  return 1;
}

bool as_box(const CUDA_MEMCPY3D_BATCH_OP& operation, CUDA_MEMCPY3D& box) {
  const auto bytes = element_of(operation);
  const auto& extent = operation.extent;
  if (bytes == 0 || extent.width == 0 || extent.height == 0 || extent.depth == 0 || extent.width > SIZE_MAX / bytes ||
      !is_order(operation.srcAccessOrder))
    return false;
  box.WidthInBytes = extent.width * bytes;
  box.Height = extent.height;
  box.Depth = extent.depth;
  const auto fill = [&](const CUmemcpy3DOperand& side, CUmemorytype& type, CUdeviceptr& pointer, CUarray& array,
                        size_t& x, size_t& y, size_t& z, size_t& pitch, size_t& height) {
    if (side.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
      type = CU_MEMORYTYPE_ARRAY;
      array = side.op.array.array;
      x = side.op.array.offset.x * bytes;
      y = side.op.array.offset.y;
      z = side.op.array.offset.z;
      return true;
    }
    type = CU_MEMORYTYPE_UNIFIED;
    pointer = side.op.ptr.ptr;
    pitch = side.op.ptr.rowLength * bytes;
    height = side.op.ptr.layerHeight;
    return side.type == CU_MEMCPY_OPERAND_TYPE_POINTER && pointer != 0;
  };
  return fill(operation.src, box.srcMemoryType, box.srcDevice, box.srcArray, box.srcXInBytes, box.srcY, box.srcZ,
              box.srcPitch, box.srcHeight) &&
         fill(operation.dst, box.dstMemoryType, box.dstDevice, box.dstArray, box.dstXInBytes, box.dstY, box.dstZ,
              box.dstPitch, box.dstHeight);
}

CUresult box_batch(size_t count, const CUDA_MEMCPY3D_BATCH_OP* operations, size_t& failed, unsigned long long flags,
                   CUstream stream) {
  failed = kNoneFailed;
  if (!process()) return not_open();
  if (const auto status = batch_stream(stream); status != CUDA_SUCCESS) return status;
  if (count == 0 || !operations || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUDA_MEMCPY3D> boxes(count);
  for (size_t i = 0; i < count; ++i)
    if (!as_box(operations[i], boxes[i])) return failed = i, CUDA_ERROR_INVALID_VALUE;
  // A copy of rows has read its source when it comes back, whatever the order that is asked for.
  for (size_t i = 0; i < count; ++i) {
    if (const auto status = cuda::cuMemcpy3DAsync_v2(&boxes[i], stream); status != CUDA_SUCCESS)
      return failed = i, status;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, size_t* failIdx,
                            CUstream hStream) {
  size_t failed = 0;
  const auto status = linear_batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failed, hStream);
  if (failIdx && status != CUDA_SUCCESS) *failIdx = failed;
  return status;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, CUstream hStream) {
  size_t failed = 0;
  return linear_batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failed, hStream);
}

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, size_t* failIdx, unsigned long long flags,
                              CUstream hStream) {
  size_t failed = 0;
  const auto status = box_batch(numOps, opList, failed, flags, hStream);
  if (failIdx && status != CUDA_SUCCESS) *failIdx = failed;
  return status;
}

CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, unsigned long long flags,
                                 CUstream hStream) {
  size_t failed = 0;
  return box_batch(numOps, opList, failed, flags, hStream);
}

}  // namespace flexrack::client::cuda
