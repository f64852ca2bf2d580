// Memory set to one value.
#pragma once

#include "sim/driver/memory.h"
#include "sim/driver/work.h"

namespace flexrack::sim {

class FillWork : public Work {
 public:
  /// Rows of `width` elements of `element` bytes (1, 2 or 4). Throws CUDA_ERROR_INVALID_VALUE where the memory is not
  /// all of one allocation.
  FillWork(std::uint64_t address, std::uint64_t pitch, std::uint32_t value, unsigned element, std::uint64_t width,
           std::uint64_t height);
  /// As a graph's node has it.
  static std::shared_ptr<FillWork> described_by(const CUDA_MEMSET_NODE_PARAMS& as);

  Worker* worker(Device& device) const override { return &device.copies_within; }
  void execute(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEMSET; }
  bool is_host() const { return allocation_ && allocation_->is_host(); }
  CUDA_MEMSET_NODE_PARAMS described() const;

  CUcontext node_context = nullptr;            ///< as a graph's node has it

 private:
  std::uint64_t address_, pitch_;
  std::uint32_t value_;
  unsigned element_;
  std::uint64_t width_, height_;
  std::shared_ptr<Allocation> allocation_;
};

}  // namespace flexrack::sim
