// Conditional nodes: their handles, which kernels are given, and their bodies.
#include "backend/cuda/call_context.h"
#include "backend/cuda/graphs.h"

namespace flexrack::backend::cuda {
namespace {

/// More than programs have: a client may not have a driver go as deep, nor make as many, as it likes.
constexpr std::size_t kMostConditions = 4096, kMostOfSession = 1 << 16, kMostBodies = 1024;
constexpr unsigned kMostNested = 32;

}  // namespace

void Graphs::on(const cu::ConditionalHandle& m, Respond<cu::ConditionalHandleReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  const auto graph = call.get<CUgraph>(m.graph);
  call.check(!bodies_.contains(m.graph));
  const auto known = conditionals_.find(m.graph);
  if (conditions_ >= kMostOfSession ||
      (known != conditionals_.end() && known->second.contexts.size() >= kMostConditions))
    call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  CUgraphConditionalHandle made = 0;
  if (call.run(core_.table.cuGraphConditionalHandleCreate, &made, graph, call.get<CUcontext>(m.context), m.value,
               m.flags) &&
      conditionals_[m.graph].contexts.insert_or_assign(made, m.context).second)
    ++conditions_;
  respond({.status = as_wire(call.status()), .condition = made});
}

void Graphs::on(const cu::AddCondition& m) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  const auto root = root_of(m.graph);
  const auto known = conditionals_.find(root);
  const auto inside = bodies_.find(m.graph);
  const auto depth = inside == bodies_.end() ? 0 : inside->second.depth;
  const auto graph = call.get<CUgraph>(m.graph);
  const auto after = call.get_all<CUgraphNode>(m.dependencies);
  const auto edges = call.flat_all<CUgraphEdgeData>(m.edges);
  call.check(edges.empty() || edges.size() == after.size());
  call.check(m.type <= CU_GRAPH_COND_TYPE_SWITCH && !m.bodies.empty() && m.bodies.size() <= kMostBodies &&
             depth < kMostNested);
  // A number that is no condition of this very graph is nothing to show a driver.
  call.check(known != conditionals_.end() && known->second.contexts.contains(m.condition) &&
             known->second.contexts.at(m.condition) == m.context);
  std::vector<std::uint64_t> named(m.bodies.begin(), m.bodies.end());
  named.push_back(m.node);
  if (!core_.handles.can_take(named)) call.fail(CUDA_ERROR_INVALID_HANDLE);
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = m.condition;
  params.conditional.type = static_cast<CUgraphConditionalNodeType>(m.type);
  params.conditional.size = static_cast<unsigned>(m.bodies.size());
  params.conditional.ctx = call.get<CUcontext>(m.context);
  CUgraphNode node = nullptr;
  call.run(core_.table.cuGraphAddNode_v2, &node, graph, after.data(), edges.empty() ? nullptr : edges.data(),
           after.size(), &params);
  call.check(!node || params.conditional.phGraph_out != nullptr);
  if (auto* record = call.keep(m.node, node, m.graph)) record->context = 0;
  const bool is_known = known != conditionals_.end() && m.bodies.size() <= kMostBodies;
  for (std::size_t i = 0; is_known && i < m.bodies.size(); ++i) {
    // They go with the node, and with the graph. What is said of those that were not made is as wrong as the node.
    if (auto* record = call.is_good() ? call.keep(m.bodies[i], params.conditional.phGraph_out[i], m.graph) : nullptr)
      record->context = 0;
    const auto* const there = core_.handles.find(m.bodies[i]);
    if ((!there || (there->kind == Kind::graph && there->owner == m.graph)) && bodies_.size() < HandleTable::kMost)
      bodies_.try_emplace(m.bodies[i], Body{root, depth + 1});
  }
  if (!call.is_good()) refuse_node(call, m.graph, m.node);
}

void Graphs::on(const cu::ClearGraph& m) {
  CallContext call(core_, m.kOp, 0);
  const auto graph = call.get<CUgraph>(m.graph);
  const auto known = conditionals_.find(m.graph);
  call.check(known != conditionals_.end());
  std::size_t count = 0;
  call.run(core_.table.cuGraphGetNodes, graph, nullptr, &count);
  std::vector<CUgraphNode> nodes(call.is_good() ? count : 0);
  if (!nodes.empty()) call.run(core_.table.cuGraphGetNodes, graph, nodes.data(), &count);
  for (auto* const node : nodes) call.run(core_.table.cuGraphDestroyNode, node);
  if (call.is_good()) {
    for (auto* const object : known->second.objects) call.run(core_.table.cuGraphReleaseUserObject, graph, object, 1u);
    known->second.objects.clear();
    core_.drop_owned(m.graph, Kind::graph);
    std::erase_if(bodies_, [&](const auto& one) { return one.second.root == m.graph; });
    graph_memory_.erase(m.graph);
    errors_.erase(m.graph);
  }
  call.end();
}

}  // namespace flexrack::backend::cuda
