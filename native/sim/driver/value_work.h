// Streams that wait for a value in memory or write one.
#pragma once

#include <vector>

#include "sim/driver/memory.h"
#include "sim/driver/work.h"

namespace flexrack::sim {

/// cuStreamWaitValue*, cuStreamWriteValue*, cuStreamBatchMemOp: several of them, in order.
class ValueWork : public Work {
 public:
  /// Throws CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED.
  explicit ValueWork(std::vector<CUstreamBatchMemOpParams> operations);
  Worker* worker(Device& device) const override { return &device.waits; }
  void execute(Context& context) const override;
  bool advance(Context& context, std::size_t& step) const override;
  bool is_awaited() const override { return true; }
  bool touches_memory() const override { return false; }
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
  const std::vector<CUstreamBatchMemOpParams> operations;

 private:
  std::vector<std::shared_ptr<Allocation>> allocations_;   ///< kept while it is in a stream
};

}  // namespace flexrack::sim
