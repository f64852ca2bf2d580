// cuMemcpyBatchAsync, cuMemcpy3DBatchAsync: many copies in no order among each other.
#include "sim/driver/copy_work.h"

namespace flexrack::sim {
namespace {

Ref<Stream> batch_stream(CUstream handle) {
  auto stream = stream_of(handle);
  require(handle && stream->kind != Stream::Kind::legacy, CUDA_ERROR_INVALID_VALUE,
          "a batch of copies is not for the default stream");
  require_not_captured(*stream);
  return stream;
}

/// All or none: what is wrong with one is found before the first begins. `at` is the one that is wrong.
void submit(Stream& stream, const std::vector<std::shared_ptr<CopyWork>>& copies) {
  for (const auto& copy : copies) enqueue_copy(stream, copy);
}

void check_order(CUmemcpySrcAccessOrder order) {
  require(order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ||
          order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
}

void linear_batch(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count, CUmemcpyAttributes* attributes,
                  size_t* indices, size_t attribute_count, size_t& at, CUstream handle) {
  at = static_cast<size_t>(-1);
  const auto stream = batch_stream(handle);
  require(to && from && sizes && count > 0 && attributes && indices && attribute_count > 0 &&
          attribute_count <= count && indices[0] == 0);
  for (size_t i = 0; i < attribute_count; ++i) {
    require(indices[i] < count && (i == 0 || indices[i] > indices[i - 1]));
    check_order(attributes[i].srcAccessOrder);
  }
  std::vector<std::shared_ptr<CopyWork>> copies;
  for (at = 0; at < count; ++at) {
    require(sizes[at] > 0);
    copies.push_back(
        std::make_shared<CopyWork>(Side::anywhere(to[at], sizes[at]), Side::anywhere(from[at], sizes[at]), sizes[at]));
  }
  at = static_cast<size_t>(-1);
  submit(*stream, copies);
}

/// The texel size that a pointer's lengths count in: the array's on the other side, else a byte.
std::size_t element(const CUDA_MEMCPY3D_BATCH_OP& of) {
  for (const auto* one : {&of.src, &of.dst})
    if (one->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) return array_of(one->op.array.array)->element;
  return 1;
}

std::shared_ptr<CopyWork> copy_of(const CUDA_MEMCPY3D_BATCH_OP& op) {
  check_order(op.srcAccessOrder);
  require(op.extent.width > 0 && op.extent.height > 0 && op.extent.depth > 0);
  const auto bytes = element(op);
  CUDA_MEMCPY3D as{};
  as.WidthInBytes = op.extent.width * bytes;
  as.Height = op.extent.height;
  as.Depth = op.extent.depth;
  const auto fill = [&](const CUmemcpy3DOperand& operand, CUmemorytype& type, CUdeviceptr& pointer, CUarray& array,
                        size_t& x, size_t& y, size_t& z, size_t& pitch, size_t& height) {
    if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
      type = CU_MEMORYTYPE_ARRAY;
      array = operand.op.array.array;
      x = operand.op.array.offset.x * bytes;
      y = operand.op.array.offset.y;
      z = operand.op.array.offset.z;
      return;
    }
    require(operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER);
    type = CU_MEMORYTYPE_UNIFIED;
    pointer = operand.op.ptr.ptr;
    pitch = operand.op.ptr.rowLength * bytes;
    height = operand.op.ptr.layerHeight;
  };
  fill(op.src, as.srcMemoryType, as.srcDevice, as.srcArray, as.srcXInBytes, as.srcY, as.srcZ, as.srcPitch,
       as.srcHeight);
  fill(op.dst, as.dstMemoryType, as.dstDevice, as.dstArray, as.dstXInBytes, as.dstY, as.dstZ, as.dstPitch,
       as.dstHeight);
  return CopyWork::described_by(as);
}

void box_batch(size_t count, const CUDA_MEMCPY3D_BATCH_OP* operations, size_t& at, unsigned long long flags,
               CUstream handle) {
  at = static_cast<size_t>(-1);
  const auto stream = batch_stream(handle);
  require(count > 0 && operations && flags == 0);
  std::vector<std::shared_ptr<CopyWork>> copies;
  for (at = 0; at < count; ++at) copies.push_back(copy_of(operations[at]));
  at = static_cast<size_t>(-1);
  submit(*stream, copies);
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* indices, size_t attribute_count, size_t* failed,
                            CUstream stream) {
  size_t at = 0;
  const auto result =
      call([&] { linear_batch(to, from, sizes, count, attributes, indices, attribute_count, at, stream); });
  if (failed && result != CUDA_SUCCESS) *failed = at;
  return result;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* indices, size_t attribute_count,
                               CUstream stream) {
  size_t at = 0;
  return call([&] { linear_batch(to, from, sizes, count, attributes, indices, attribute_count, at, stream); });
}

CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed,
                              unsigned long long flags, CUstream stream) {
  size_t at = 0;
  const auto result = call([&] { box_batch(count, operations, at, flags, stream); });
  if (failed && result != CUDA_SUCCESS) *failed = at;
  return result;
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, unsigned long long flags,
                                 CUstream stream) {
  size_t at = 0;
  return call([&] { box_batch(count, operations, at, flags, stream); });
}

}  // extern "C"
