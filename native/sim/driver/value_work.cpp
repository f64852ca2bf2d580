#include "sim/driver/value_work.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "sim/driver/memory_gate.h"

namespace flexrack::sim {
namespace {

template <class T>
bool holds(std::uint64_t address, T value, unsigned flags) {
  const MemoryUse use;
  const auto now = std::atomic_ref<T>(*reinterpret_cast<T*>(address)).load(std::memory_order_acquire);
  switch (flags & 3) {
    // cuda.h 13.0, CUstreamWaitValue_flags: a cyclic comparison.
    case CU_STREAM_WAIT_VALUE_GEQ: return static_cast<std::make_signed_t<T>>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & value) != 0;
    default: return static_cast<T>(~(now | value)) != 0;
  }
}

template <class T>
void write(std::uint64_t address, T value) {
  const MemoryUse use;
  std::atomic_ref<T>(*reinterpret_cast<T*>(address)).store(value, std::memory_order_release);
}

}  // namespace

ValueWork::ValueWork(std::vector<CUstreamBatchMemOpParams> given) : operations(std::move(given)) {
  for (const auto& one : operations) {
    std::uint64_t bytes = 0;
    switch (one.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WRITE_VALUE_32: bytes = 4; break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      case CU_STREAM_MEM_OP_WRITE_VALUE_64: bytes = 8; break;
      case CU_STREAM_MEM_OP_BARRIER: continue;
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: fail(CUDA_ERROR_NOT_SUPPORTED, "no remote writes to be flushed");
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
    const bool is_wait =
        one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    const auto flags = is_wait ? one.waitValue.flags : one.writeValue.flags;
    require(!is_wait || !(flags & CU_STREAM_WAIT_VALUE_FLUSH), CUDA_ERROR_NOT_SUPPORTED);
    require(flags <= (is_wait ? 3u : 1u) && one.waitValue.address % bytes == 0);
    allocations_.push_back(allocation_of(one.waitValue.address, bytes));
  }
}

bool ValueWork::advance(Context& context, std::size_t& step) const {
  for (; step < operations.size() && !context.has_failed(); ++step) {
    const auto& one = operations[step];
    const auto address = one.waitValue.address;
    switch (one.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        if (!holds<std::uint32_t>(address, one.waitValue.value, one.waitValue.flags)) return false;
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        if (!holds<std::uint64_t>(address, one.waitValue.value64, one.waitValue.flags)) return false;
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32: write<std::uint32_t>(address, one.writeValue.value); break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64: write<std::uint64_t>(address, one.writeValue.value64); break;
      default: std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  return true;
}

void ValueWork::execute(Context& context) const {
  std::size_t step = 0;
  while (!advance(context, step)) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

namespace {

CUresult submit(CUstream stream, std::vector<CUstreamBatchMemOpParams> operations) {
  return call([&] { enqueue(*stream_of(stream), std::make_shared<ValueWork>(std::move(operations))); });
}

CUresult submit_one(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                    unsigned flags) {
  CUstreamBatchMemOpParams one{};
  one.waitValue.operation = type;
  one.waitValue.address = address;
  one.waitValue.value64 = value;
  one.waitValue.flags = flags;
  return submit(stream, {one});
}

CUresult submit_batch(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* operations, unsigned flags) {
  if (!operations || flags != 0 || count > 256) return CUDA_ERROR_INVALID_VALUE;
  return submit(stream, {operations, operations + count});
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                            unsigned int flags) {
  return submit_batch(stream, count, operations, flags);
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                               unsigned int flags) {
  return submit_batch(stream, count, operations, flags);
}

}  // extern "C"
