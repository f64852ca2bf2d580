// Conditional nodes. A handle is a number of the driver's, which kernels are given, so a graph that has one is at its
// server from then on; its nodes go there when it is instantiated.
#pragma once

#include <map>
#include <memory>
#include <span>

#include "client/cuda/graph.h"

namespace flexrack::client::cuda {

/// The graph at the server that handles were made for. Graphs that were cloned from one another have one together; all
/// under the lock of graphs.
struct ConditionHome {
  CudaServer* server = nullptr;
  std::uint64_t graph = 0;             ///< its handle there
  struct Condition {
    CUcontext context = nullptr;
    std::uint64_t context_handle = 0;
  };
  std::map<CUgraphConditionalHandle, Condition> conditions{};
  bool is_filled = false;              ///< it was given nodes
  CUgraphExec filled_by = nullptr;     ///< whose nodes these are; null: of what is gone

  ConditionHome() = default;
  ConditionHome(const ConditionHome&) = delete;
  ~ConditionHome();
};

/// Whether it, or a part of it, has conditional nodes.
bool has_conditions(CUgraph graph);

/// A conditional node with empty bodies.
CUresult add_condition(CUgraph graph, std::span<const CUgraphNode> before, const CUgraphEdgeData* data,
                       CUDA_CONDITIONAL_NODE_PARAMS& as, CUgraphNode& made);

/// What cannot be instantiated of a graph's conditions: bodies have what CUDA lets them have, all of it at one server
/// and nothing of it in this process. `wrong` names the node, where it is one.
CUresult check_conditions(CUgraph graph, CUgraphNode& wrong, CUgraphInstantiateResult& result);

}  // namespace flexrack::client::cuda
