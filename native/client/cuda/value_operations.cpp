// Words of memory that streams write and wait for: they go to the server as they stand, or become nodes where the
// stream is captured.
#include "client/cuda/capture.h"
#include "client/cuda/graph_work.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// Where the stream is captured the operations become a node; else `put` puts them on the stream.
template <class Put>
CUresult put_operations(CUstream which, const CUstreamBatchMemOpParams* operations, unsigned count, unsigned flags,
                        Put&& put) {
  const bool are_known = !operations || count > 256 || are_words_known({operations, count});
  if (are_known && !has_captures()) return put();
  Call call;
  const auto stream = call.stream(which);
  call.check(are_known);
  if (!call.is_good()) return call.error();
  if (!is_capturing(stream)) {
    const auto status = refuse_implicit(stream);
    return status == CUDA_SUCCESS ? put() : status;
  }
  WorkPointer work;
  const auto status = operations_work(stream->context, operations, count, flags, work);
  return status == CUDA_SUCCESS ? capture_work(stream, std::move(work)) : status;
}

template <class Value>
CUstreamBatchMemOpParams wait_for_value(CUdeviceptr address, Value value, unsigned flags) {
  CUstreamBatchMemOpParams one{};
  one.waitValue.operation = sizeof value == 4 ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WAIT_VALUE_64;
  one.waitValue.address = address;
  one.waitValue.value64 = value;
  one.waitValue.flags = flags;
  return one;
}

template <class Value>
CUstreamBatchMemOpParams write_value(CUdeviceptr address, Value value, unsigned flags) {
  CUstreamBatchMemOpParams one{};
  one.writeValue.operation = sizeof value == 4 ? CU_STREAM_MEM_OP_WRITE_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_64;
  one.writeValue.address = address;
  one.writeValue.value64 = value;
  one.writeValue.flags = flags;
  return one;
}

}  // namespace

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  const auto one = wait_for_value(addr, value, flags);
  return put_operations(stream, &one, 1, 0, [&] { return plain::cuStreamWaitValue32_v2(stream, addr, value, flags); });
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  const auto one = wait_for_value(addr, value, flags);
  return put_operations(stream, &one, 1, 0, [&] { return plain::cuStreamWaitValue64_v2(stream, addr, value, flags); });
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  const auto one = write_value(addr, value, flags);
  return put_operations(stream, &one, 1, 0, [&] { return plain::cuStreamWriteValue32_v2(stream, addr, value, flags); });
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  const auto one = write_value(addr, value, flags);
  return put_operations(stream, &one, 1, 0, [&] { return plain::cuStreamWriteValue64_v2(stream, addr, value, flags); });
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray,
                               unsigned int flags) {
  return put_operations(stream, paramArray, count, flags,
                        [&] { return plain::cuStreamBatchMemOp_v2(stream, count, paramArray, flags); });
}

}  // namespace flexrack::client::cuda
