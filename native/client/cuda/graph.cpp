#include "client/cuda/graph.h"

#include <algorithm>
#include <set>

#include "client/cuda/capture.h"
#include "client/cuda/user_object.h"
#include "cuda/graph_walk.h"

namespace flexrack::client::cuda {
namespace {

CUgraphNode append_node(CUgraph graph) {
  const auto made = new CUgraphNode_st;
  made->graph = graph;
  made->id = mint();
  graph->nodes.push_back(made);
  return made;
}

CUresult add(CUgraph graph, std::span<const CUgraphNode> before, const CUgraphEdgeData* data, CUgraphNode& made) {
  std::set<CUgraphNode> once;
  for (const auto node : before) {
    if (!is_live(node) || node->graph != graph || !once.insert(node).second) return CUDA_ERROR_INVALID_VALUE;
  }
  made = append_node(graph);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto with = data ? data[i] : CUgraphEdgeData{};
    flexrack::cuda::connect(*before[i], *made, with);
  }
  return CUDA_SUCCESS;
}

}  // namespace

std::span<const CUgraph> parts_of(const CUgraphNode& node) {
  return node->child ? std::span(&node->child, 1) : std::span<const CUgraph>(node->bodies);
}

std::recursive_mutex& graphs_lock() {
  static auto& lock = *new std::recursive_mutex;
  return lock;
}

CUresult check_graph(CUgraph graph) { return is_live(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
CUresult check_node(CUgraphNode node) { return is_live(node) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult add_node(CUgraph graph, std::span<const CUgraphNode> before, const CUgraphEdgeData* data, WorkPointer work,
                  CUgraphNode& made) {
  const auto status = add(graph, before, data, made);
  if (status == CUDA_SUCCESS) made->work = std::move(work);
  return status;
}

CUresult add_child(CUgraph graph, std::span<const CUgraphNode> before, const CUgraphEdgeData* data, CUgraph child,
                   CUgraphNode& made) {
  const auto status = add(graph, before, data, made);
  if (status != CUDA_SUCCESS) return status;
  made->child = child;
  child->parent = made;
  return CUDA_SUCCESS;
}

std::vector<CUgraphNode> in_order(CUgraph graph) { return flexrack::cuda::in_order<CUgraphNode_st>(graph->nodes); }

CUresult check_order(CUgraph graph, CUgraphNode& wrong) {
  wrong = nullptr;
  const auto order = in_order(graph);
  if (order.size() < graph->nodes.size()) {
    wrong = *std::find_if(graph->nodes.begin(), graph->nodes.end(),
                          [&](const auto node) { return std::find(order.begin(), order.end(), node) == order.end(); });
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (const auto node : order) {
    for (const auto part : parts_of(node))
      if (const auto status = check_order(part, wrong); status != CUDA_SUCCESS) return status;
  }
  return CUDA_SUCCESS;
}

CUgraph make_graph() {
  const auto made = new CUgraph_st;
  made->id = mint();
  return made;
}

CUgraph clone_graph(CUgraph graph) {
  const auto copy = make_graph();
  copy->original = graph->id;
  copy->home = graph->home;
  std::map<CUgraphNode, CUgraphNode> twins;
  for (const auto node : graph->nodes) {
    const auto twin = append_node(copy);
    twin->original = node->id;
    twin->work = node->work;
    twin->is_enabled = node->is_enabled;
    if (node->child) {
      twin->child = clone_graph(node->child);
      twin->child->parent = twin;
    }
    for (const auto body : node->bodies) {
      twin->bodies.push_back(clone_graph(body));
      twin->bodies.back()->parent = twin;
    }
    twins[node] = twin;
  }
  const auto twin_edges = [&](const std::vector<CUgraphNode_st::Edge>& edges) {
    std::vector<CUgraphNode_st::Edge> all;
    for (const auto& edge : edges) all.push_back({twins[edge.node], edge.data});
    return all;
  };
  for (const auto node : graph->nodes) {
    twins[node]->before = twin_edges(node->before);
    twins[node]->after = twin_edges(node->after);
  }
  for (const auto& [object, count] : graph->user_objects) {
    object->references.fetch_add(count);
    copy->user_objects[object] = count;
  }
  return copy;
}

void destroy_graph(CUgraph graph) {
  for (const auto node : graph->nodes) {
    for (const auto part : parts_of(node)) destroy_graph(part);
    discard(node);
  }
  for (const auto& [object, count] : graph->user_objects) drop_references(object, count);
  discard(graph);
}

CUgraphNode cloned_from(CUgraph graph, std::uint64_t original) {
  for (const auto node : graph->nodes) {
    if (node->original == original) return node;
    for (const auto part : parts_of(node))
      if (const auto inner = cloned_from(part, original)) return inner;
  }
  return nullptr;
}

bool has_memory(CUgraph graph) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(), [](const auto node) {
    const auto parts = parts_of(node);
    return node->type() == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type() == CU_GRAPH_NODE_TYPE_MEM_FREE ||
           std::any_of(parts.begin(), parts.end(), has_memory);
  });
}

}  // namespace flexrack::client::cuda
