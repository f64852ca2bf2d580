// cuGraph*: making graphs, looking at them, launching them. Nodes by type: graph_nodes.cpp.
#include <algorithm>

#include "cuda/graph_walk.h"
#include "sim/driver/capture.h"
#include "sim/driver/graph.h"

namespace flexrack::sim {
namespace {

using flexrack::cuda::give_list;

CUgraphNode handle_of(GraphNode& node) { return node.handle(); }

void list_nodes(const std::vector<GraphNode*>& nodes, CUgraphNode* out, std::size_t* count) {
  require(give_list(nodes.size(), count, out,
                    [&](std::size_t i, bool is_there) { out[i] = is_there ? nodes[i]->handle() : nullptr; }));
}

CUresult edges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, std::size_t* count) {
  return call([&] {
    const auto graph = graph_of(handle);
    require((from == nullptr) == (to == nullptr));
    const std::lock_guard guard(graph->lock);
    const auto status = cuda::give_all_edges(graph->nodes, {from, to, data}, count, handle_of);
    require(status == CUDA_SUCCESS, status);
  });
}

CUresult neighbours(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data, std::size_t* count,
                    std::vector<GraphNode::Edge> GraphNode::* which) {
  return call([&] {
    const auto node = node_of(handle);
    const std::lock_guard guard(node->graph->lock);
    const auto status = cuda::give_neighbours(*node, which, out, data, count, handle_of);
    require(status == CUDA_SUCCESS, status);
  });
}

CUresult add_dependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                          std::size_t count) {
  return call([&] {
    require((from && to) || count == 0);
    const auto graph = graph_of(handle);
    const std::lock_guard guard(graph->lock);
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = node_of(from[i]), second = node_of(to[i]);
      require(first->graph == graph.get() && second->graph == graph.get() && !(first == second));
      require(!cuda::has_edge(*first, *second), CUDA_ERROR_INVALID_VALUE, "the edge is there already");
      cuda::connect(*first, *second, data ? data[i] : CUgraphEdgeData{});
    }
  });
}

CUresult remove_dependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  return call([&] {
    require((from && to) || count == 0);
    const auto graph = graph_of(handle);
    const std::lock_guard guard(graph->lock);
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = node_of(from[i]), second = node_of(to[i]);
      require(first->graph == graph.get() && cuda::disconnect(*first, *second), CUDA_ERROR_INVALID_VALUE,
              "no such edge");
    }
  });
}

constexpr unsigned long long kInstantiateFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

InstantiateError instantiate(CUgraphExec* made, CUgraph handle, unsigned long long flags) {
  require(made && (flags & ~kInstantiateFlags) == 0);
  require(!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), CUDA_ERROR_NOT_SUPPORTED,
          "kernels do not launch graphs");
  const auto graph = graph_of(handle);
  require(graph->depth == 0, CUDA_ERROR_INVALID_VALUE, "a body is part of its conditional node");
  const std::lock_guard guard(graph->lock);
  const auto wrong = check_conditions(*graph);
  if (wrong.status != CUDA_SUCCESS) return wrong;
  const auto exec = GraphExec::make(*graph, flags);
  exec->open();
  *made = exec->handle();
  return {};
}

CUresult instantiate_with_log(CUgraphExec* made, CUgraph graph, CUgraphNode* wrong, char* log, std::size_t size) {
  return call([&] {
    if (wrong) *wrong = nullptr;
    if (log && size > 0) *log = 0;
    const auto error = instantiate(made, graph, 0);
    if (wrong) *wrong = error.node;
    return error.status;
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuGraphCreate(CUgraph* made, unsigned int flags) {
  return call([&] {
    require(made && flags == 0);
    const auto graph = Graph::make();
    graph->open();
    *made = graph->handle();
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return call([&] {
    const auto graph = graph_of(handle);
    require(!graph->is_child, CUDA_ERROR_INVALID_VALUE, "a child graph ends with its node");
    graph->close();
  });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return call([&] {
    require(clone);
    const auto graph = graph_of(original);
    require(graph->depth == 0, CUDA_ERROR_NOT_SUPPORTED, "a body is part of its conditional node");
    const auto copy = graph->clone();
    copy->open();
    *clone = copy->handle();
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  return call([&] {
    require(found);
    auto* node = graph_of(clone)->cloned_from(node_of(original).get());
    require(node);
    *found = node->handle();
  });
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return call([&] {
    const auto node = node_of(handle);
    require(node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && node->type != CU_GRAPH_NODE_TYPE_MEM_FREE,
            CUDA_ERROR_NOT_SUPPORTED, "nodes of memory stay");
    node->graph->remove(*node);
  });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return call([&] {
    require(type);
    *type = node_of(node)->type;
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return call([&] {
    const auto graph = graph_of(handle);
    const std::lock_guard guard(graph->lock);
    std::vector<GraphNode*> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    list_nodes(all, nodes, count);
  });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return call([&] {
    const auto graph = graph_of(handle);
    const std::lock_guard guard(graph->lock);
    std::vector<GraphNode*> all;
    for (const auto& node : graph->nodes)
      if (node->before.empty()) all.push_back(node.get());
    list_nodes(all, nodes, count);
  });
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return edges(graph, from, to, nullptr, count);
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return edges(graph, from, to, data, count);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return neighbours(node, nodes, nullptr, count, &GraphNode::before);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return neighbours(node, nodes, data, count, &GraphNode::before);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return neighbours(node, nodes, nullptr, count, &GraphNode::after);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return neighbours(node, nodes, data, count, &GraphNode::after);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return add_dependencies(graph, from, to, nullptr, count);
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return add_dependencies(graph, from, to, data, count);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return remove_dependencies(graph, from, to, count);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
  return remove_dependencies(graph, from, to, count);
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* wrong, char* log, size_t size) {
  return instantiate_with_log(exec, graph, wrong, log, size);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* wrong, char* log, size_t size) {
  return instantiate_with_log(exec, graph, wrong, log, size);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return call([&] {
    require(!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD), CUDA_ERROR_INVALID_VALUE,
            "a stream to upload in comes with cuGraphInstantiateWithParams");
    return instantiate(exec, graph, flags).status;
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return call([&] {
    require(parameters);
    parameters->hErrNode_out = nullptr;
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    const auto error = instantiate(exec, graph, parameters->flags);
    parameters->result_out = error.result;
    parameters->hErrNode_out = error.node;
    return error.status;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return call([&] { exec_of(handle)->close(); });
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return call([&] {
    require(flags);
    *flags = exec_of(exec)->flags & ~static_cast<unsigned long long>(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
  });
}

/// Nothing has to be brought to a device first: a place in the stream's order.
CUresult cuGraphUpload(CUgraphExec exec, CUstream handle) {
  return call([&] {
    exec_of(exec);
    const auto stream = stream_of(handle);
    require_not_captured(*stream);
    stream->append(Command::marker(stream->context));
  });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  return call([&] {
    const auto launched = exec_of(exec);
    launched->launch(*stream_of(handle));
  });
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* wrong, CUgraphExecUpdateResult* result) {
  return call([&] {
    require(result);
    CUgraphNode node = nullptr;
    *result = exec_of(exec)->update(*graph_of(graph), node);
    if (wrong) *wrong = *result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? nullptr : node;
    return *result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  if (!info) return CUDA_ERROR_INVALID_VALUE;
  *info = {};
  return cuGraphExecUpdate(exec, graph, &info->errorNode, &info->result);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int is_enabled) {
  return call([&] { exec_of(exec)->enable(*node_of(node), is_enabled != 0); });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int* is_enabled) {
  return call([&] {
    require(is_enabled);
    *is_enabled = exec_of(exec)->is_enabled(*node_of(node));
  });
}

}  // extern "C"
