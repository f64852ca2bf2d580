#include "sim/driver/graph.h"

#include <algorithm>
#include <set>

#include "cuda/graph_walk.h"
#include "sim/driver/pool_work.h"

namespace flexrack::sim {
namespace {

// More than programs have; less than what recursion over them could take from a thread.
constexpr unsigned kMostNested = 64, kMostBodies = 4096;

}  // namespace

Graph::~Graph() {
  for (const auto& node : nodes) {
    node->graph = nullptr;
    node->close();
  }
  for (const auto& [key, held] : user_objects) held.first->release(held.second);
}

GraphNode::~GraphNode() {
  // The application has no reference to these of its own: it cannot destroy them.
  if (child) child->close();
  if (!condition) return;
  for (const auto& body : condition->bodies) body->close();
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
  require(!child->has_conditions(), CUDA_ERROR_NOT_SUPPORTED, "a child graph has no conditional nodes");
  auto copy = child->clone_with(conditions);
  copy->is_child = true;
  copy->depth = depth;
  auto node = add(CU_GRAPH_NODE_TYPE_GRAPH, nullptr, before, count, data);
  copy->open();
  node->child = std::move(copy);
  return node;
}

Ref<GraphNode> Graph::add_condition(const CUDA_CONDITIONAL_NODE_PARAMS& as, const CUgraphNode* before,
                                    std::size_t count, const CUgraphEdgeData* data) {
  require(as.type <= CU_GRAPH_COND_TYPE_SWITCH && as.size > 0 && as.size <= kMostBodies &&
              (as.type != CU_GRAPH_COND_TYPE_WHILE || as.size == 1) &&
              (as.type != CU_GRAPH_COND_TYPE_IF || as.size <= 2),
          CUDA_ERROR_INVALID_VALUE, "a condition of that kind has not so many bodies");
  require(depth < kMostNested, CUDA_ERROR_INVALID_VALUE, "conditional nodes are nested too deep");
  Ref<Context> context;
  {
    const std::lock_guard guard(conditions->lock);
    const auto found = conditions->all.find(as.handle);
    require(found != conditions->all.end(), CUDA_ERROR_INVALID_VALUE, "a handle that was not made for this graph");
    context = found->second.context;
  }
  require(!as.ctx || context_of(as.ctx) == context, CUDA_ERROR_INVALID_VALUE, "a handle of another context");
  auto condition = std::make_unique<Condition>();
  condition->handle = as.handle;
  condition->type = as.type;
  for (unsigned i = 0; i < as.size; ++i) {
    auto body = Graph::make();
    body->conditions = conditions;
    body->is_child = true;
    body->depth = depth + 1;
    condition->handles.push_back(body->handle());
    condition->bodies.push_back(std::move(body));
  }
  auto node = add(CU_GRAPH_NODE_TYPE_CONDITIONAL, nullptr, before, count, data);
  for (const auto& body : condition->bodies) body->open();
  node->context = std::move(context);
  node->condition = std::move(condition);
  return node;
}

bool Graph::has_conditions() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    return node->condition || (node->child && node->child->has_conditions());
  });
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

Ref<Graph> Graph::clone() const { return clone_with(std::make_shared<ConditionHandles>(*conditions)); }

Ref<Graph> Graph::clone_with(std::shared_ptr<ConditionHandles> handles) const {
  auto copy = Graph::make();
  copy->conditions = handles;
  copy->depth = depth;
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
      twin->child = node->child->clone_with(handles);
      twin->child->is_child = true;
      twin->child->open();
    }
    if (node->condition) {
      auto& own = *(twin->condition = std::make_unique<Condition>());
      own.handle = node->condition->handle;
      own.type = node->condition->type;
      for (const auto& body : node->condition->bodies) {
        own.bodies.push_back(body->clone_with(handles));
        own.bodies.back()->is_child = true;
        own.bodies.back()->open();
        own.handles.push_back(own.bodies.back()->handle());
      }
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
    if (!one->condition) continue;
    for (const auto& body : one->condition->bodies)
      if (auto* inner = body->cloned_from(node)) return inner;
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
