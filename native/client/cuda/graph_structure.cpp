// cuGraph*: graphs made, copied and taken apart; nodes and edges asked about. Nodes by type: graph_nodes.
#include <algorithm>

#include "client/cuda/graph.h"
#include "cuda/graph_walk.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// One look at graphs: what may be called here, and nobody else changes them meanwhile.
template <class Body>
CUresult look(Body&& body) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  return body();
}

using flexrack::cuda::connect;
using flexrack::cuda::disconnect;
using flexrack::cuda::has_edge;

CUgraphNode handle_of(CUgraphNode_st& node) { return &node; }

/// As give_list does.
template <class Give>
CUresult list(std::size_t there, std::size_t* count, bool has_arrays, Give&& give) {
  return flexrack::cuda::give_list(there, count, has_arrays, give) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult list_nodes(const std::vector<CUgraphNode>& nodes, CUgraphNode* out, std::size_t* count) {
  return list(nodes.size(), count, out, [&](std::size_t i, bool is_there) { out[i] = is_there ? nodes[i] : nullptr; });
}

CUresult edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, std::size_t* count) {
  return look([&] {
    if (!is_live(graph) || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    return flexrack::cuda::give_all_edges(graph->nodes, {from, to, data}, count, handle_of);
  });
}

CUresult neighbours(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data, std::size_t* count,
                    std::vector<CUgraphNode_st::Edge> CUgraphNode_st::* which) {
  return look([&] {
    if (!is_live(node)) return CUDA_ERROR_INVALID_VALUE;
    return flexrack::cuda::give_neighbours(*node, which, out, data, count, handle_of);
  });
}

/// All named are nodes of that graph.
CUresult check_pairs(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  if (!is_live(graph) || ((!from || !to) && count > 0)) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_live(from[i]) || !is_live(to[i]) || from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i])
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  return look([&] {
    if (!phGraph || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *phGraph = make_graph();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  return look([&] {
    if (!is_live(hGraph) || hGraph->parent) return CUDA_ERROR_INVALID_VALUE;
    destroy_graph(hGraph);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  return look([&] {
    if (!phGraphClone || !is_live(originalGraph)) return CUDA_ERROR_INVALID_VALUE;
    // A body is part of its node.
    const bool is_body = originalGraph->parent && !originalGraph->parent->child;
    if (is_body || has_memory(originalGraph)) return CUDA_ERROR_NOT_SUPPORTED;
    *phGraphClone = clone_graph(originalGraph);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
  return look([&] {
    if (!phNode || !is_live(hOriginalNode) || !is_live(hClonedGraph)) return CUDA_ERROR_INVALID_VALUE;
    *phNode = cloned_from(hClonedGraph, hOriginalNode->id);
    return *phNode ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  return look([&] {
    if (!is_live(hNode)) return CUDA_ERROR_INVALID_VALUE;
    if (hNode->type() == CU_GRAPH_NODE_TYPE_MEM_ALLOC || hNode->type() == CU_GRAPH_NODE_TYPE_MEM_FREE)
      return CUDA_ERROR_NOT_SUPPORTED;
    flexrack::cuda::isolate(*hNode);
    std::erase(hNode->graph->nodes, hNode);
    for (const auto part : parts_of(hNode)) destroy_graph(part);
    discard(hNode);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  return look([&] {
    if (!type || !is_live(hNode)) return CUDA_ERROR_INVALID_VALUE;
    *type = hNode->type();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
  return look([&] {
    if (!phGraph || !is_live(hNode) || !hNode->child) return CUDA_ERROR_INVALID_VALUE;
    *phGraph = hNode->child;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
  return look([&] { return is_live(hGraph) ? list_nodes(hGraph->nodes, nodes, numNodes) : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
  return look([&] {
    if (!is_live(hGraph)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> roots;
    for (const auto node : hGraph->nodes)
      if (node->before.empty()) roots.push_back(node);
    return list_nodes(roots, rootNodes, numRootNodes);
  });
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges) {
  return edges(hGraph, from, to, nullptr, numEdges);
}
CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                            size_t* numEdges) {
  return edges(hGraph, from, to, edgeData, numEdges);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies, size_t* numDependencies) {
  return neighbours(hNode, dependencies, nullptr, numDependencies, &CUgraphNode_st::before);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies, CUgraphEdgeData* edgeData,
                                       size_t* numDependencies) {
  return neighbours(hNode, dependencies, edgeData, numDependencies, &CUgraphNode_st::before);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes, size_t* numDependentNodes) {
  return neighbours(hNode, dependentNodes, nullptr, numDependentNodes, &CUgraphNode_st::after);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes, CUgraphEdgeData* edgeData,
                                         size_t* numDependentNodes) {
  return neighbours(hNode, dependentNodes, edgeData, numDependentNodes, &CUgraphNode_st::after);
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return look([&] {
    if (const auto status = check_pairs(hGraph, from, to, numDependencies); status != CUDA_SUCCESS) return status;
    for (std::size_t i = 0; i < numDependencies; ++i)
      if (has_edge(*from[i], *to[i])) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < numDependencies; ++i) {
      connect(*from[i], *to[i], edgeData ? edgeData[i] : CUgraphEdgeData{});
    }
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t numDependencies) {
  return cuda::cuGraphAddDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t numDependencies) {
  return look([&] {
    if (const auto status = check_pairs(hGraph, from, to, numDependencies); status != CUDA_SUCCESS) return status;
    if (numDependencies > 0 && has_memory(hGraph)) return CUDA_ERROR_NOT_SUPPORTED;
    for (std::size_t i = 0; i < numDependencies; ++i)
      if (!has_edge(*from[i], *to[i])) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < numDependencies; ++i) disconnect(*from[i], *to[i]);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t numDependencies) {
  return cuda::cuGraphRemoveDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}

}  // namespace flexrack::client::cuda
