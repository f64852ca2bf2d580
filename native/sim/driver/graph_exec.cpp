// What is launched: a graph's private copy.
#include <algorithm>
#include <set>

#include "sim/driver/capture.h"
#include "sim/driver/graph.h"
#include "sim/driver/pool_work.h"

namespace flexrack::sim {
namespace {

std::atomic<std::uint64_t> last_exec_id{0};

void check_order(Graph& graph) {
  const std::lock_guard guard(graph.lock);
  require(graph.nodes.empty() || !graph.in_order().empty(), CUDA_ERROR_INVALID_VALUE,
          "nodes that depend on each other in a circle");
  for (const auto& node : graph.nodes)
    if (node->child) check_order(*node->child);
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

/// Submits all nodes behind `begin`; gives what nothing in the graph waits for.
std::vector<Ref<Command>> submit(const Graph& graph, const Ref<Context>& context, int priority,
                                 const std::vector<Ref<Command>>& begin) {
  std::map<const GraphNode*, std::vector<Ref<Command>>> ends;
  std::vector<Ref<Command>> last;
  for (const auto* node : graph.in_order()) {
    std::vector<Ref<Command>> before;
    for (const auto& edge : node->before) before.insert(before.end(), ends[edge.node].begin(), ends[edge.node].end());
    if (node->before.empty()) before = begin;
    auto& own = ends[node];
    if (node->child && node->is_enabled) {
      own = submit(*node->child, context, priority, before);
      // An empty child graph is passed through.
      if (own.empty()) own = before;
    } else {
      const auto& home = node->context ? node->context : context;
      const bool does = node->work && node->is_enabled;
      const auto command = does ? command_for(home, node->work) : Command::marker(home);
      command->priority = priority;
      if (auto also = does ? node->work->prerequisite() : nullptr) before.push_back(std::move(also));
      command->submit(before);
      if (does) node->work->submitted(command);
      own = {command};
    }
    if (node->after.empty()) last.insert(last.end(), own.begin(), own.end());
  }
  return last;
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
  Ref<Command> begin;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) {
    begin = Command::make(stream.context, &stream.context->device.frees, [places] {
      for (const auto& place : places) place->release();
    });
  } else {
    for (const auto& place : places)
      require(!place->is_kept(), CUDA_ERROR_INVALID_VALUE, "what the graph's last launch allocated was not freed");
    begin = Command::marker(stream.context);
  }
  // A graph runs once at a time.
  const std::vector<Ref<Command>> previous{last_};
  stream.append(begin, previous);
  const auto ends = submit(*graph_, stream.context, stream.priority, {begin});
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
}

void GraphExec::set_child(const GraphNode& node, const Graph& child) {
  const std::lock_guard guard(lock_);
  auto& found = own(node);
  require(found.child && found.child->nodes.size() == child.nodes.size(), CUDA_ERROR_INVALID_VALUE,
          "a child graph of another shape");
  auto copy = child.clone();
  copy->is_child = true;
  check_order(*copy);
  found.child = std::move(copy);
}

void GraphExec::enable(const GraphNode& node, bool is_enabled) {
  const std::lock_guard guard(lock_);
  auto& found = own(node);
  require(found.type == CU_GRAPH_NODE_TYPE_KERNEL || found.type == CU_GRAPH_NODE_TYPE_MEMSET ||
          found.type == CU_GRAPH_NODE_TYPE_MEMCPY);
  found.is_enabled = is_enabled;
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

CUgraphExecUpdateResult compare(const Graph& now, const Graph& to, CUgraphNode& wrong) {
  if (now.nodes.size() != to.nodes.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  const auto before = shape(now), after = shape(to);
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    wrong = to.nodes[i]->handle();
    if (now.nodes[i]->type != to.nodes[i]->type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (before[i] != after[i]) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (to.nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || to.nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
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
  }
}

}  // namespace

CUgraphExecUpdateResult GraphExec::update(Graph& to, CUgraphNode& wrong) {
  const std::lock_guard guard(lock_);
  const std::lock_guard other(to.lock);
  const auto result = compare(*graph_, to, wrong);
  if (result == CU_GRAPH_EXEC_UPDATE_SUCCESS) take_over(*graph_, to, aliases_);
  return result;
}

}  // namespace flexrack::sim
