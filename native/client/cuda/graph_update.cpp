// What an instantiated graph does from the next launch on. Everything that a server would have to be asked is known
// here, so these only send; but for a graph with conditions whose nodes the server can no longer be told by name, which
// is sent again as a whole.
#include <algorithm>

#include "client/cuda/graph_conditions.h"
#include "client/cuda/graph_sending.h"
#include "client/cuda/graph_work.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// The message that makes a node do that.
wire::Bytes message_of(std::uint64_t exec, std::uint64_t node, const Work& work) {
  wire::Bytes bytes;
  encode(bytes, cu::SetExecNode{.exec = exec, .node = node, .work = reported(work)});
  return bytes;
}

bool has_same_attributes(const Work& one, const Work& other) {
  const auto a = wire::bytes_of(one.attributes), b = wire::bytes_of(other.attributes);
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// A node may become another of its kind in the same context, not one of another kind (cuda.h 13.0, cuGraphExecUpdate).
CUgraphExecUpdateResult compare(const Work& now, const Work& to) {
  if (now.type != to.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (to.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || to.type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  if (to.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    // Another graph's handle comes with the kernels that are given it.
    return now.condition_type == to.condition_type && now.context == to.context
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }
  const bool is_like = now.context == to.context && now.is_input() == to.is_input() &&
                       now.is_output() == to.is_output() && now.is_call() == to.is_call() &&
                       now.source.server == to.source.server && now.target.server == to.target.server;
  if (to.type == CU_GRAPH_NODE_TYPE_KERNEL) {
    if (now.context != to.context) return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    return has_same_attributes(now, to) ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  }
  return is_like || to.event ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/// The numbers of what each node depends on, in the order of the nodes.
std::vector<std::vector<std::size_t>> shape_of(CUgraph graph) {
  std::map<CUgraphNode, std::size_t> numbers;
  for (const auto node : graph->nodes) numbers.emplace(node, numbers.size());
  std::vector<std::vector<std::size_t>> all;
  for (const auto node : graph->nodes) {
    auto& before = all.emplace_back();
    for (const auto& edge : node->before) before.push_back(numbers[edge.node]);
    std::sort(before.begin(), before.end());
  }
  return all;
}

CUgraphExecUpdateResult compare(CUgraph now, CUgraph to, CUgraphNode& wrong) {
  if (now->nodes.size() != to->nodes.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  const auto before = shape_of(now), after = shape_of(to);
  for (std::size_t i = 0; i < to->nodes.size(); ++i) {
    const auto old = now->nodes[i], node = to->nodes[i];
    wrong = node;
    if (old->type() != node->type()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (before[i] != after[i]) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    auto result = node->child ? CU_GRAPH_EXEC_UPDATE_SUCCESS : compare(*old->work, *node->work);
    const auto before_parts = parts_of(old), parts = parts_of(node);
    if (before_parts.size() != parts.size()) result = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    for (std::size_t part = 0; part < parts.size() && result == CU_GRAPH_EXEC_UPDATE_SUCCESS; ++part)
      result = compare(before_parts[part], parts[part], wrong);
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return result;
  }
  wrong = nullptr;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/// Its nodes at the server, in the graph of its conditions, are those that it was instantiated from.
bool is_named(CUgraphExec exec) { return exec->graph->home->filled_by == exec && !exec->is_renamed; }

CUresult put_work(CUgraphExec exec, CUgraphNode node, const WorkPointer& work) {
  // What a server has of it: of a call nothing but its place, of a copy not where its bytes are here.
  auto status = CUDA_SUCCESS;
  const auto* const part = part_of(exec, node);
  const bool is_other = work->condition != node->work->condition ||
                        (!work->is_call() && message_of(0, 0, *work) != message_of(0, 0, *node->work));
  if (part && is_other) {
    if (part->is_home && !is_named(exec)) exec->is_behind = true;
    else if (!part->server->session->send(
                 cu::SetExecNode{.exec = part->handle, .node = node->handle, .work = reported(*work)}))
      status = kLost;
  }
  node->work = work;
  return status;
}

CUresult take_over(CUgraphExec exec, CUgraph now, CUgraph to) {
  auto status = CUDA_SUCCESS;
  for (std::size_t i = 0; i < to->nodes.size() && status == CUDA_SUCCESS; ++i) {
    const auto node = now->nodes[i], as = to->nodes[i];
    exec->nodes[as->id] = node;
    if (!node->child) status = put_work(exec, node, as->work);
    const auto now_parts = parts_of(node), parts = parts_of(as);
    for (std::size_t part = 0; part < parts.size() && status == CUDA_SUCCESS; ++part)
      status = take_over(exec, now_parts[part], parts[part]);
  }
  return status;
}

/// The graph of its conditions at the server has what it is to do now.
CUresult bring_home(CUgraphExec exec, CUgraphExecUpdateResult& result) {
  const auto home = std::find_if(exec->parts.begin(), exec->parts.end(), [](const auto& part) { return part.is_home; });
  exec->is_renamed = true;
  send_home(exec, flattened(exec, exec->graph));
  auto status = kLost;
  home->server->session->call(cu::UpdateExec{.exec = home->handle, .graph = home->graph_handle},
                              [&](const auto& reply) {
                                status = static_cast<CUresult>(reply.status);
                                result = static_cast<CUgraphExecUpdateResult>(reply.result);
                              });
  if (status == CUDA_SUCCESS) exec->is_behind = false;
  return status;
}

CUresult bring_if_behind(CUgraphExec exec, CUresult status) {
  if (status != CUDA_SUCCESS || !exec->is_behind) return status;
  CUgraphExecUpdateResult result{};
  return bring_home(exec, result);
}

/// From now on its conditions are those of that graph. False: they cannot be, as kernels elsewhere may set them.
bool change_home(CUgraphExec exec, CUgraph graph) {
  auto& home = exec->graph->home;
  if (home == graph->home) return true;
  if (!home || !graph->home || home->server != graph->home->server || exec->parts.size() != 1) return false;
  if (home->filled_by == exec) home->filled_by = nullptr;
  home = graph->home;
  exec->parts.front().graph_handle = home->graph;
  exec->is_behind = true;
  return true;
}

CUresult update(CUgraphExec exec, CUgraph graph, CUgraphNode& wrong, CUgraphExecUpdateResult& result) {
  Call call;
  wrong = nullptr;
  result = CU_GRAPH_EXEC_UPDATE_ERROR;
  call.check(is_live(exec) && is_live(graph));
  if (call.is_good()) call.use(exec);
  if (!call.settle()) return call.error();
  result = compare(exec->graph, graph, wrong);
  if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  if (has_conditions(graph) && !change_home(exec, graph)) {
    result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  const auto status = take_over(exec, exec->graph, graph);
  return status == CUDA_SUCCESS && exec->is_behind ? bring_home(exec, result) : status;
}

}  // namespace

CUresult change_node(CUgraphExec exec, CUgraphNode node, const WorkPointer& work) {
  Call call;
  call.check(is_live(exec) && is_live(node));
  if (call.is_good()) call.use(exec);
  if (!call.settle()) return call.error();
  const auto found = node_of(exec, node);
  if (!found || found->child) return CUDA_ERROR_INVALID_VALUE;
  auto to = work;
  // Attributes of a kernel stay what they are.
  if (to->type == CU_GRAPH_NODE_TYPE_KERNEL && found->work->type == to->type)
    to = with_attributes(*to, found->work->attributes);
  return compare(*found->work, *to) == CU_GRAPH_EXEC_UPDATE_SUCCESS ? bring_if_behind(exec, put_work(exec, found, to))
                                                                    : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                           CUgraphExecUpdateResult* updateResult_out) {
  if (!updateResult_out) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(graphs_lock());
  CUgraphNode wrong = nullptr;
  const auto status = update(hGraphExec, hGraph, wrong, *updateResult_out);
  if (hErrorNode_out) *hErrorNode_out = wrong;
  return status;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo* resultInfo) {
  if (!resultInfo) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(graphs_lock());
  *resultInfo = {};
  return update(hGraphExec, hGraph, resultInfo->errorNode, resultInfo->result);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph) {
  Call call;
  const std::lock_guard guard(graphs_lock());
  call.check(is_live(hGraphExec) && is_live(hNode) && is_live(childGraph));
  if (call.is_good()) call.use(hGraphExec);
  if (!call.settle()) return call.error();
  const auto found = node_of(hGraphExec, hNode);
  CUgraphNode wrong = nullptr;
  if (!found || !found->child || compare(found->child, childGraph, wrong) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  return bring_if_behind(hGraphExec, take_over(hGraphExec, found->child, childGraph));
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  Call call;
  const std::lock_guard guard(graphs_lock());
  call.check(is_live(hGraphExec) && is_live(hNode));
  if (call.is_good()) call.use(hGraphExec);
  if (!call.settle()) return call.error();
  const auto found = node_of(hGraphExec, hNode);
  const auto type = found ? found->type() : CU_GRAPH_NODE_TYPE_EMPTY;
  if (type != CU_GRAPH_NODE_TYPE_KERNEL && type != CU_GRAPH_NODE_TYPE_MEMSET && type != CU_GRAPH_NODE_TYPE_MEMCPY)
    return CUDA_ERROR_INVALID_VALUE;
  found->is_enabled = isEnabled != 0;
  const auto* const part = part_of(hGraphExec, found);
  // A copy from here to here is this process's alone, and one from server to server is no server's.
  if (!part || found->work->is_call()) return CUDA_SUCCESS;
  if (part->is_home && hGraphExec->graph->home->filled_by != hGraphExec) {
    CUgraphExecUpdateResult result{};
    if (const auto status = bring_home(hGraphExec, result); status != CUDA_SUCCESS) return status;
  }
  const cu::EnableNode message{.exec = part->handle, .node = found->handle, .is_enabled = isEnabled != 0};
  return part->server->session->send(message) ? CUDA_SUCCESS : kLost;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!isEnabled || !is_live(hGraphExec) || !is_live(hNode)) return CUDA_ERROR_INVALID_VALUE;
  const auto found = node_of(hGraphExec, hNode);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  *isEnabled = found->is_enabled;
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
