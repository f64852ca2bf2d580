// What a node of a graph does, between the wire's form and the driver's.
#pragma once

#include <vector>

#include "backend/cuda/call_context.h"
#include "backend/cuda/graph_host.h"

namespace flexrack::backend::cuda {

/// The client's own memory, packed, is one side of the copy (cuda.api, Place).
inline bool is_input(const cu::NodeWork& work) {
  return work.kind == CU_GRAPH_NODE_TYPE_MEMCPY && work.source.kind == 2;
}
inline bool is_output(const cu::NodeWork& work) {
  return work.kind == CU_GRAPH_NODE_TYPE_MEMCPY && work.target.kind == 2;
}

/// The driver's structure and all it points to. `stop`: of a host function, an input or an output.
class NodeParams {
 public:
  NodeParams(CallContext& call, const cu::NodeWork& work, GraphStop* stop);
  NodeParams(const NodeParams&) = delete;

  CUgraphNodeParams* get() { return &params_; }

 private:
  CUgraphNodeParams params_{};
  void* extra_[5] = {};
  size_t parameter_bytes_ = 0;
  wire::Bytes parameters_;
  std::vector<CUstreamBatchMemOpParams> operations_;
};

/// Of a node that is a stop in the client.
void make_host_params(CUgraphNodeParams& params, GraphStop& stop);

}  // namespace flexrack::backend::cuda
