// What is launched: a graph's private copy.
#include <algorithm>
#include <set>

#include "sim/driver/capture.h"
#include "sim/driver/graph_plan.h"
#include "sim/driver/pool_work.h"

namespace flexrack::sim {
namespace {

std::atomic<std::uint64_t> last_exec_id{0};

void check_order(Graph& graph) {
  const std::lock_guard guard(graph.lock);
  require(graph.nodes.empty() || !graph.in_order().empty(), CUDA_ERROR_INVALID_VALUE,
          "nodes that depend on each other in a circle");
  for (const auto& node : graph.nodes) {
    if (node->child) check_order(*node->child);
    if (!node->condition) continue;
    for (const auto& body : node->condition->bodies) check_order(*body);
  }
}

/// Memory that nodes allocate, of children too, and addresses that nodes free.
void collect(const Graph& graph, std::vector<std::shared_ptr<GraphAddress>>& places, std::set<CUdeviceptr>& freed) {
  for (const auto& node : graph.nodes) {
    if (node->child) collect(*node->child, places, freed);
    if (const auto* allocate = dynamic_cast<const AllocateWork*>(node->work.get())) places.push_back(allocate->place);
    if (const auto* frees = dynamic_cast<const FreeWork*>(node->work.get())) freed.insert(frees->address);
  }
}

/// Memory that a launch leaves behind.
std::vector<std::shared_ptr<GraphAddress>> left_by(const Graph& graph) {
  std::vector<std::shared_ptr<GraphAddress>> places;
  std::set<CUdeviceptr> freed;
  collect(graph, places, freed);
  std::erase_if(places, [&](const std::shared_ptr<GraphAddress>& place) { return freed.contains(place->address); });
  return places;
}

}  // namespace

GraphExec::GraphExec(Graph& of, unsigned long long with_flags)
    : flags(with_flags), id(++last_exec_id), graph_(of.clone()) {
  check_order(*graph_);
}

void GraphExec::launch(Stream& stream) {
  if (const auto capture = stream.capture()) {
    const std::lock_guard guard(lock_);
    capture->add_child(stream, graph_);
    return;
  }
  require_not_captured(stream);
  const std::lock_guard guard(lock_);
  const auto places = left_by(*graph_);
  if (!plan_) plan_ = plan_of(*graph_);
  const auto run = std::make_shared<GraphRun>(plan_, stream.context, stream.priority);
  Ref<Command> begin;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) {
    begin = Command::make(stream.context, &stream.context->device.frees, [places, run] {
      for (const auto& place : places) place->release();
      run->begin();
    });
  } else {
    for (const auto& place : places)
      require(!place->is_kept(), CUDA_ERROR_INVALID_VALUE, "what the graph's last launch allocated was not freed");
    begin = Command::make(stream.context, nullptr, [run] { run->begin(); });
  }
  // A graph runs once at a time.
  const std::vector<Ref<Command>> previous{last_};
  stream.append(begin, previous);
  const auto ends = run->submit(begin);
  // What is launched keeps the graph, and what that keeps, until it is over (CUDA C++ Programming Guide, CUDA user
  // objects).
  const auto end = Command::make(stream.context, nullptr, [self = Ref<GraphExec>(this)] {}, true);
  stream.append(end, ends);
  last_ = end;
}

/// Under the lock.
GraphNode& GraphExec::own(const GraphNode& node) {
  if (const auto alias = aliases_.find(&node); alias != aliases_.end()) return *alias->second;
  auto* found = graph_->cloned_from(&node);
  require(found, CUDA_ERROR_INVALID_VALUE, "a node that this graph was not made with");
  return *found;
}

void GraphExec::set(const GraphNode& node, WorkPointer work) {
  const std::lock_guard guard(lock_);
  auto& found = own(node);
  require(found.type == node.type && work && work->type() == found.type);
  found.work = std::move(work);
  plan_ = nullptr;
}

void GraphExec::set_child(const GraphNode& node, const Graph& child) {
  const std::lock_guard guard(lock_);
  auto& found = own(node);
  require(found.child && found.child->nodes.size() == child.nodes.size(), CUDA_ERROR_INVALID_VALUE,
          "a child graph of another shape");
  require(!child.has_conditions(), CUDA_ERROR_NOT_SUPPORTED, "a child graph has no conditional nodes");
  auto copy = child.clone();
  copy->is_child = true;
  check_order(*copy);
  found.child = std::move(copy);
  plan_ = nullptr;
}

void GraphExec::enable(const GraphNode& node, bool is_enabled) {
  const std::lock_guard guard(lock_);
  auto& found = own(node);
  require(found.type == CU_GRAPH_NODE_TYPE_KERNEL || found.type == CU_GRAPH_NODE_TYPE_MEMSET ||
          found.type == CU_GRAPH_NODE_TYPE_MEMCPY);
  found.is_enabled = is_enabled;
  plan_ = nullptr;
}

bool GraphExec::is_enabled(const GraphNode& node) {
  const std::lock_guard guard(lock_);
  return own(node).is_enabled;
}

WorkPointer GraphExec::work(const GraphNode& node) {
  const std::lock_guard guard(lock_);
  return own(node).work;
}

namespace {

/// The numbers of what each node depends on, in the order of the nodes.
std::vector<std::set<std::size_t>> shape(const Graph& graph) {
  std::map<const GraphNode*, std::size_t> numbers;
  for (const auto& node : graph.nodes) numbers.emplace(node.get(), numbers.size());
  std::vector<std::set<std::size_t>> all;
  for (const auto& node : graph.nodes) {
    auto& before = all.emplace_back();
    for (const auto& edge : node->before) before.insert(numbers[edge.node]);
  }
  return all;
}

CUgraphExecUpdateResult compare(const Graph& now, const Graph& to, CUgraphNode& wrong);

CUgraphExecUpdateResult compare(const Condition& now, const Condition& to, CUgraphNode& wrong) {
  if (now.type != to.type || now.bodies.size() != to.bodies.size())
    return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  for (std::size_t i = 0; i < to.bodies.size(); ++i) {
    const auto inner = compare(*now.bodies[i], *to.bodies[i], wrong);
    if (inner != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inner;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

CUgraphExecUpdateResult compare(const Graph& now, const Graph& to, CUgraphNode& wrong) {
  if (now.nodes.size() != to.nodes.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  const auto before = shape(now), after = shape(to);
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    wrong = to.nodes[i]->handle();
    if (now.nodes[i]->type != to.nodes[i]->type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (before[i] != after[i]) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (to.nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || to.nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    if (const auto& condition = to.nodes[i]->condition) {
      const auto inner = compare(*now.nodes[i]->condition, *condition, wrong);
      if (inner != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inner;
    }
    if (!to.nodes[i]->child) continue;
    const auto inner = compare(*now.nodes[i]->child, *to.nodes[i]->child, wrong);
    if (inner != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inner;
  }
  wrong = nullptr;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

void take_over(Graph& now, const Graph& to, std::map<const void*, GraphNode*>& aliases) {
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    now.nodes[i]->work = to.nodes[i]->work;
    now.nodes[i]->context = to.nodes[i]->context;
    aliases[to.nodes[i].get()] = now.nodes[i].get();
    if (to.nodes[i]->child) take_over(*now.nodes[i]->child, *to.nodes[i]->child, aliases);
    const auto& condition = to.nodes[i]->condition;
    if (!condition) continue;
    now.nodes[i]->condition->handle = condition->handle;
    for (std::size_t body = 0; body < condition->bodies.size(); ++body)
      take_over(*now.nodes[i]->condition->bodies[body], *condition->bodies[body], aliases);
  }
}

}  // namespace

CUgraphExecUpdateResult GraphExec::update(Graph& to, CUgraphNode& wrong) {
  const std::lock_guard guard(lock_);
  const std::lock_guard other(to.lock);
  const auto result = compare(*graph_, to, wrong);
  if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return result;
  take_over(*graph_, to, aliases_);
  // "The default value and flags associated with a handle will be updated during whole graph update" (CUDA C++
  // Programming Guide, conditional handles).
  graph_->conditions = std::make_shared<ConditionHandles>(*to.conditions);
  plan_ = nullptr;
  return result;
}

}  // namespace flexrack::sim
