// What a node of a graph does, between the wire's form and the driver's.
#pragma once

#include <vector>

#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {

/// The driver's structure and all it points to.
class NodeParams {
 public:
  NodeParams(Session& session, Turn& turn, const cu::NodeWork& work);
  NodeParams(const NodeParams&) = delete;

  CUgraphNodeParams* get() { return &params_; }
  /// Of an allocation, after the driver has taken it.
  CUdeviceptr address() const { return params_.alloc.dptr; }
  std::span<const CUgraph> bodies() const { return bodies_; }

 private:
  CUgraphNodeParams params_{};
  std::vector<void*> arguments_;
  void* extra_[5] = {};
  size_t parameter_bytes_ = 0;
  wire::Bytes parameters_;
  std::vector<CUmemAccessDesc> accesses_;
  std::vector<CUstreamBatchMemOpParams> operations_;
  std::vector<CUgraph> bodies_;
};

}  // namespace flexrack::backend::cuda
