#include "client/cuda/graph_conditions.h"

#include <algorithm>
#include <set>

#include "client/cuda/replicated_link.h"
#include "client/loss.h"
#include "cuda/graph_facts.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

// More than programs have. A server takes no more, and fewer levels than one of its threads could.
constexpr unsigned kMostNested = 32, kMostBodies = 1024;

/// Of the graphs that it is a part of, the one that is nobody's part.
CUgraph root_of(CUgraph graph) {
  while (graph->parent) graph = graph->parent->graph;
  return graph;
}

unsigned depth_of(CUgraph graph) {
  unsigned depth = 0;
  for (; graph->parent; graph = graph->parent->graph)
    if (!graph->parent->child) ++depth;
  return depth;
}

/// Of a graph or a body: a part of what is instantiated.
class Checking {
 public:
  Checking(CUgraphNode& wrong, CUgraphInstantiateResult& result) : wrong_(wrong), result_(result) {}
  std::set<CUgraphConditionalHandle> used{};

  /// `home`: the context of the conditional node it is in a body of; null: it is in none.
  CUresult check(CUgraph graph, CUcontext home) {
    for (const auto node : graph->nodes) {
      if (const auto status = check(node, home); status != CUDA_SUCCESS) return status;
    }
    return CUDA_SUCCESS;
  }

 private:
  CUresult refuse(CUgraphNode node, CUgraphInstantiateResult why) {
    wrong_ = node, result_ = why;
    return CUDA_ERROR_NOT_SUPPORTED;
  }

  CUresult check(CUgraphNode node, CUcontext home) {
    const auto type = node->type();
    if (home && !flexrack::cuda::may_be_in_body(type))
      return refuse(node, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    if (home && !node->child) {
      const auto& work = *node->work;
      const bool has_home = type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
      if (has_home && work.context != home) return refuse(node, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED);
      if (work.is_copy() && (work.source.host || work.target.host)) {
        tell_refused(
            "the body of a conditional node copies from or to memory of the program: its rounds do not come here");
        return refuse(node, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
      }
      if (work.is_between() || (work.context && work.context->server != home->server)) {
        tell_refused("the body of a conditional node lies on another server than its condition");
        return refuse(node, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
      }
    }
    if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) used.insert(node->work->condition);
    for (const auto part : parts_of(node)) {
      if (const auto status = check(part, node->child ? home : node->work->context); status != CUDA_SUCCESS)
        return status;
    }
    return CUDA_SUCCESS;
  }

  CUgraphNode& wrong_;
  CUgraphInstantiateResult& result_;
};

}  // namespace

ConditionHome::~ConditionHome() { server->session->send(cu::Release{.object = graph}); }

bool has_conditions(CUgraph graph) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(), [](const auto node) {
    return !node->bodies.empty() || (node->child && has_conditions(node->child));
  });
}

CUresult add_condition(CUgraph graph, std::span<const CUgraphNode> before, const CUgraphEdgeData* data,
                       CUDA_CONDITIONAL_NODE_PARAMS& as, CUgraphNode& made) {
  if (as.type > CU_GRAPH_COND_TYPE_SWITCH || as.size == 0 || as.size > kMostBodies ||
      (as.type == CU_GRAPH_COND_TYPE_WHILE && as.size != 1) || (as.type == CU_GRAPH_COND_TYPE_IF && as.size > 2) ||
      depth_of(graph) >= kMostNested)
    return CUDA_ERROR_INVALID_VALUE;
  const auto& home = root_of(graph)->home;
  const auto found = home ? home->conditions.find(as.handle)
                          : std::map<CUgraphConditionalHandle, ConditionHome::Condition>::iterator{};
  if (!home || found == home->conditions.end()) return CUDA_ERROR_INVALID_VALUE;
  const auto& [context, context_handle] = found->second;
  if (!is_live(context) || context->handle != context_handle) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (as.ctx && as.ctx != context) return CUDA_ERROR_INVALID_VALUE;
  auto work = std::make_shared<Work>();
  work->type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  work->context = context, work->context_handle = context_handle;
  work->condition = as.handle;
  work->condition_type = as.type;
  const auto status = add_node(graph, before, data, std::move(work), made);
  if (status != CUDA_SUCCESS) return status;
  for (unsigned i = 0; i < as.size; ++i) {
    made->bodies.push_back(make_graph());
    made->bodies.back()->parent = made;
  }
  as.phGraph_out = made->bodies.data();
  return CUDA_SUCCESS;
}

CUresult check_conditions(CUgraph graph, CUgraphNode& wrong, CUgraphInstantiateResult& result) {
  Checking checking(wrong, result);
  if (const auto status = checking.check(graph, nullptr); status != CUDA_SUCCESS) return status;
  if (!graph->home) return CUDA_SUCCESS;
  for (const auto& [handle, condition] : graph->home->conditions) {
    if (checking.used.contains(handle)) continue;
    return result = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph, CUcontext ctx,
                                        unsigned int defaultLaunchValue, unsigned int flags) {
  Call call;
  const std::lock_guard guard(graphs_lock());
  call.check(pHandle_out && is_live(hGraph) && (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) == 0);
  const auto context = ctx ? ctx : call.current();
  call.use(context);
  if (!call.settle()) return call.error();
  if (context->server->is_mirrored()) return refuse_mirrored("conditions of graphs, whose numbers each driver chooses");
  const auto root = root_of(hGraph);
  auto home = root->home;
  if (home && home->server != context->server) {
    tell_refused("the conditions of a graph lie on several servers");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (!home) {
    home = std::make_shared<ConditionHome>();
    home->server = context->server;
    home->graph = mint();
    if (!call.session().send(cu::CreateGraph{.context = context->handle, .graph = home->graph, .flags = 0}))
      return kLost;
  }
  const cu::ConditionalHandle message{
      .context = context->handle, .graph = home->graph, .value = defaultLaunchValue, .flags = flags};
  const auto status = call.ask(message, [&](const auto& reply) { *pHandle_out = reply.condition; });
  if (status != CUDA_SUCCESS) return status;
  home->conditions[*pHandle_out] = {context, context->handle};
  root->home = std::move(home);
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
