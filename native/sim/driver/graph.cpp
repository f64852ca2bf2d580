#include "sim/driver/graph.h"

#include <algorithm>
#include <set>

#include "cuda/graph_walk.h"
#include "sim/driver/pool_work.h"

namespace flexrack::sim {

Graph::~Graph() {
  for (const auto& node : nodes) {
    node->graph = nullptr;
    node->close();
  }
  for (const auto& [key, held] : user_objects) held.first->release(held.second);
}

Ref<GraphNode> Graph::add(CUgraphNodeType type, WorkPointer work, const CUgraphNode* before, std::size_t count,
                          const CUgraphEdgeData* data) {
  require(before || count == 0);
  const std::lock_guard guard(lock);
  std::vector<Ref<GraphNode>> found;
  std::set<GraphNode*> once;
  for (std::size_t i = 0; i < count; ++i) {
    found.push_back(node_of(before[i]));
    require(found.back()->graph == this && once.insert(found.back().get()).second, CUDA_ERROR_INVALID_VALUE,
            "a node depends on nodes of its own graph, on each once");
  }
  auto node = GraphNode::make(*this, type);
  node->open();
  node->work = std::move(work);
  node->number = ++last_number_;
  nodes.push_back(node);
  for (std::size_t i = 0; i < count; ++i) cuda::connect(*found[i], *node, data ? data[i] : CUgraphEdgeData{});
  return node;
}

Ref<GraphNode> Graph::add_child(const Ref<Graph>& child, const CUgraphNode* before, std::size_t count,
                                const CUgraphEdgeData* data) {
  auto copy = child->clone();
  copy->is_child = true;
  copy->open();
  auto node = add(CU_GRAPH_NODE_TYPE_GRAPH, nullptr, before, count, data);
  node->child = std::move(copy);
  return node;
}

void Graph::remove(GraphNode& node) {
  const std::lock_guard guard(lock);
  cuda::isolate(node);
  node.graph = nullptr;
  node.close();
  std::erase_if(nodes, [&](const Ref<GraphNode>& one) { return one.get() == &node; });
}

std::vector<GraphNode*> Graph::in_order() const {
  auto order = cuda::in_order<GraphNode>(nodes);
  if (order.size() < nodes.size()) order.clear();
  return order;
}

Ref<Graph> Graph::clone() const {
  auto copy = Graph::make();
  copy->original = this;
  auto& from = const_cast<Graph&>(*this);
  const std::lock_guard guard(from.lock);
  std::map<const GraphNode*, GraphNode*> twins;
  for (const auto& node : nodes) {
    auto twin = GraphNode::make(*copy, node->type);
    twin->open();
    twin->work = node->work;
    twin->context = node->context;
    twin->original = node.get();
    twin->is_enabled = node->is_enabled;
    twin->number = node->number;
    if (node->child) {
      twin->child = node->child->clone();
      twin->child->is_child = true;
      twin->child->open();
    }
    twins[node.get()] = twin.get();
    copy->nodes.push_back(std::move(twin));
  }
  copy->last_number_ = last_number_;
  for (const auto& node : nodes)
    for (const auto& edge : node->after) cuda::connect(*twins[node.get()], *twins[edge.node], edge.data);
  for (const auto& [key, held] : user_objects) {
    held.first->retain(held.second);
    copy->user_objects[key] = held;
  }
  return copy;
}

GraphNode* Graph::cloned_from(const void* node) {
  const std::lock_guard guard(lock);
  for (const auto& one : nodes) {
    if (one->original == node) return one.get();
    if (auto* inner = one->child ? one->child->cloned_from(node) : nullptr) return inner;
  }
  return nullptr;
}

Ref<Graph> graph_of(CUgraph handle) {
  auto found = Graph::find(handle);
  require(static_cast<bool>(found));
  return found;
}

Ref<GraphNode> node_of(CUgraphNode handle) {
  auto found = GraphNode::find(handle);
  require(found && found->graph);
  return found;
}

Ref<GraphExec> exec_of(CUgraphExec handle) {
  auto found = GraphExec::find(handle);
  require(static_cast<bool>(found));
  return found;
}

}  // namespace flexrack::sim
