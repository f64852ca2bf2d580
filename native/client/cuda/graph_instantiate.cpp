// Graphs that can be launched: which server has what of them, and one call for all that a server has of it in one
// piece.
#include <algorithm>

#include "client/cuda/capture.h"
#include "client/cuda/graph_across.h"
#include "client/cuda/graph_conditions.h"
#include "client/cuda/graph_sending.h"
#include "client/cuda/host_function.h"
#include "client/loss.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

void set_part(const std::vector<Flat>& nodes, std::size_t part) {
  for (const auto& flat : nodes) {
    flat.node->part = part;
    for (const auto& body : flat.bodies) set_part(body, part);
  }
}

/// What has conditional nodes is put into the graph at the server that their handles were made for.
void return_home(CUgraphExec exec, const std::vector<Flat>& nodes) {
  for (const auto& flat : nodes) {
    for (const auto& body : flat.bodies) set_part(body, flat.node->part);
    if (flat.bodies.empty()) continue;
    auto& part = exec->parts[flat.node->part];
    part.graph_handle = exec->graph->home->graph;
    part.is_home = true;
  }
}

/// A launch sets conditions where they are: no kernel of another part of it is given the handle of one, as far as its
/// parameters tell, and all conditional nodes are in one part.
bool is_at_home(CUgraphExec exec, const std::vector<Flat>& nodes, CUgraphNode& wrong) {
  const auto& home = exec->graph->home;
  if (!home || exec->parts.size() == 1) return true;
  const auto at_home = [&](CUgraphNode node) {
    const auto* const part = part_of(exec, node);
    return part && part->is_home;
  };
  const auto names_condition = [&](const Work& work) {
    for (std::size_t at = 0; at + sizeof(CUgraphConditionalHandle) <= work.parameters.size();
         at += sizeof(CUgraphConditionalHandle)) {
      CUgraphConditionalHandle value = 0;
      std::memcpy(&value, work.parameters.data() + at, sizeof value);
      if (home->conditions.contains(value)) return true;
    }
    return false;
  };
  const auto first = std::find_if(nodes.begin(), nodes.end(), [](const auto& flat) { return !flat.bodies.empty(); });
  for (const auto& flat : nodes) {
    const bool is_elsewhere = !flat.bodies.empty() && flat.node->part != first->node->part;
    const bool is_set_elsewhere = !flat.node->child && !at_home(flat.node) && names_condition(*flat.node->work);
    if (!is_elsewhere && !is_set_elsewhere) continue;
    wrong = flat.node;
    return false;
  }
  return true;
}

/// Which server has which node, and in which order a launch goes over the servers.
void share_out(CUgraphExec exec, const std::vector<Flat>& nodes) {
  std::vector<PartedNode> all;
  auto& across = exec->across;
  const auto use = [&](CudaServer* server, CUcontext context) {
    across.lanes.try_emplace(server, Lane{context, {server, context->handle, 0}});
  };
  for (const auto& flat : nodes) {
    auto& one = all.emplace_back();
    one.before = flat.before;
    if (flat.node->child) continue;
    const auto& work = *flat.node->work;
    if (work.is_between()) {
      one.server = work.source.server, one.target = work.target.server;
      use(one.server, work.source.context);
      use(one.target, work.target.context);
    } else if (work.context) {
      one.server = work.context->server;
      use(one.server, work.context);
    }
  }
  use(exec->server, exec->context);
  auto made = partition(all, exec->server);
  if (made.parts.empty()) {
    // A part even of a graph of nothing: there is something to launch.
    made.parts.push_back(exec->server);
    made.steps.push_back({.server = exec->server});
  }
  for (auto* const server : made.parts) exec->parts.push_back({.server = server, .graph_handle = mint()});
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].node->part = made.part_of[i];
  across.signals = made.signals;
  across.steps = std::move(made.steps);
  for (auto& step : across.steps) {
    if (step.kind != Step::Kind::copy) continue;
    across.copies.push_back(nodes[step.number].node);
    step.number = across.copies.size() - 1;
  }
  return_home(exec, nodes);
  std::erase_if(across.lanes, [&](const auto& one) {
    return std::none_of(across.steps.begin(), across.steps.end(), [&](const auto& step) {
      return step.server == one.first || (step.kind == Step::Kind::copy && step.other == one.first);
    });
  });
}

/// Contexts of all leaves are alive; the first of them. Null context: none needs one.
CUresult find_context(CUgraph graph, CUcontext& context) {
  for (const auto node : graph->nodes) {
    if (const auto own = node->child ? nullptr : node->work->context) {
      if (!is_live(own) || own->handle != node->work->context_handle) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
      if (!context) context = own;
    }
    for (const auto part : parts_of(node))
      if (const auto status = find_context(part, context); status != CUDA_SUCCESS) return status;
  }
  return CUDA_SUCCESS;
}

/// A stream to upload in is one server's: what lies elsewhere goes there with the first launch.
CUresult instantiate_part(CUgraphExec exec, Part& part, CUstream upload, CUgraphInstantiateResult& result,
                          std::uint64_t& wrong) {
  const bool is_uploaded = upload && upload->server == part.server;
  auto flags = exec->flags;
  if (!is_uploaded) flags &= ~static_cast<std::uint64_t>(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
  part.handle = mint();
  const cu::Instantiate message{.context = exec->across.lanes.at(part.server).ours.context,
                                .graph = part.graph_handle,
                                .exec = part.handle,
                                .flags = flags,
                                .upload_stream = is_uploaded ? upload->handle : 0};
  auto status = kLost;
  part.server->session->call(message, [&](const auto& reply) {
    status = static_cast<CUresult>(reply.status);
    result = static_cast<CUgraphInstantiateResult>(reply.result);
    wrong = reply.node;
  });
  if (status != CUDA_SUCCESS) part.handle = 0;
  return status;
}

bool is_instantiated(CUgraph graph) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(), [](const auto node) {
    const auto parts = parts_of(node);
    return std::any_of(parts.begin(), parts.end(), is_instantiated) ||
           (!node->child && node->work->memory && node->work->memory->is_instantiated);
  });
}

/// The node of the graph that the clone's node is a clone of.
CUgraphNode original_of(CUgraph graph, CUgraphNode twin) {
  for (const auto node : graph->nodes) {
    if (node->id == twin->original) return node;
    for (const auto part : parts_of(node))
      if (const auto inner = original_of(part, twin)) return inner;
  }
  return nullptr;
}

constexpr std::uint64_t kInstantiateFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

}  // namespace

CUresult instantiate(CUgraph graph, std::uint64_t flags, CUstream upload_stream, CUgraphExec& made, CUgraphNode& wrong,
                     CUgraphInstantiateResult& result) {
  wrong = nullptr;
  result = CUDA_GRAPH_INSTANTIATE_ERROR;
  Call call;
  if (!is_live(graph) || (flags & ~kInstantiateFlags) != 0) call.check(false);
  call.check((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) == 0, CUDA_ERROR_NOT_SUPPORTED);
  if (!call.is_good()) return call.error();
  if (check_order(graph, wrong) != CUDA_SUCCESS)
    return result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, CUDA_ERROR_INVALID_VALUE;
  if (is_instantiated(graph) || (graph->parent && !graph->parent->child)) return CUDA_ERROR_INVALID_VALUE;
  if (const auto status = check_conditions(graph, wrong, result); status != CUDA_SUCCESS) return status;
  CUcontext context = nullptr;
  if (const auto status = find_context(graph, context); status != CUDA_SUCCESS) return status;
  if (!context) context = call.current();
  call.use(context);
  const bool is_uploaded = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0;
  const auto upload = is_uploaded ? call.stream(upload_stream) : nullptr;
  if (!call.settle()) return call.error();

  Made<CUgraphExec> exec = call.make<CUgraphExec>();
  const auto on = exec.get();
  on->context = context, on->context_handle = context->handle;
  on->flags = flags;
  on->graph = clone_graph(graph);
  const auto nodes = flattened(on, on->graph);
  share_out(on, nodes);
  if (CUgraphNode misplaced = nullptr; !is_at_home(on, nodes, misplaced)) {
    tell_refused(
        "a graph's conditional nodes, and the kernels that set their conditions, lie on several servers, or on one "
        "with another one's work between them");
    wrong = original_of(graph, misplaced);
    result = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    for (auto& part : on->parts) part.graph_handle = 0;
    exec.keep();
    on->handle = 0;
    destroy_exec(on);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  send_parts(on, nodes);
  std::uint64_t wrong_handle = 0;
  auto status = CUDA_SUCCESS;
  for (auto& part : on->parts) {
    if (status == CUDA_SUCCESS) status = instantiate_part(on, part, upload, result, wrong_handle);
  }
  if (status == CUDA_SUCCESS) {
    for (const auto& one : on->memory) one->is_instantiated = true;
    if (upload) note_put(upload);
    made = exec.keep();
    return result = CUDA_GRAPH_INSTANTIATE_SUCCESS, CUDA_SUCCESS;
  }
  for (const auto& [id, node] : on->nodes)
    if (node->handle == wrong_handle && wrong_handle != 0) wrong = original_of(graph, node);
  exec.keep();
  on->handle = 0;
  destroy_exec(on);
  return status;
}

void destroy_exec(CUgraphExec exec) {
  if (exec->handle != 0) {
    for (const auto& one : exec->memory) one->is_instantiated = false;
  }
  for (const auto& part : exec->parts) {
    auto& session = *part.server->session;
    if (part.handle != 0) session.send(cu::Release{.object = part.handle});
    if (!part.is_home && part.graph_handle != 0) session.send(cu::Release{.object = part.graph_handle});
  }
  if (const auto& home = exec->graph->home; home && home->filled_by == exec) home->filled_by = nullptr;
  release_streams(exec);
  for (const auto node : exec->stops) {
    const auto stop = node->stop;
    const std::lock_guard guard(stop->lock);
    stop->is_gone = true;
    // Else the last launch under way does it.
    if (stop->pending.empty() && stop->function != 0) remove_host_function(stop->function);
  }
  destroy_graph(exec->graph);
  discard(exec);
}

CUgraphNode node_of(CUgraphExec exec, CUgraphNode node) {
  const auto found = exec->nodes.find(node->id);
  return found == exec->nodes.end() ? nullptr : found->second;
}

namespace {

CUresult instantiate_with_log(CUgraphExec* made, CUgraph graph, CUgraphNode* wrong, char* log, std::size_t size) {
  if (log && size > 0) *log = 0;
  if (!made) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(graphs_lock());
  CUgraphNode node = nullptr;
  CUgraphInstantiateResult result{};
  const auto status = instantiate(graph, 0, nullptr, *made, node, result);
  if (wrong) *wrong = node;
  return status;
}

}  // namespace

CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode, char* logBuffer,
                               size_t bufferSize) {
  return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
  // A stream to upload in comes with cuGraphInstantiateWithParams.
  if (!phGraphExec || (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(graphs_lock());
  CUgraphNode node = nullptr;
  CUgraphInstantiateResult result{};
  return instantiate(hGraph, flags, nullptr, *phGraphExec, node, result);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  if (!phGraphExec || !instantiateParams) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(graphs_lock());
  return instantiate(hGraph, instantiateParams->flags, instantiateParams->hUploadStream, *phGraphExec,
                     instantiateParams->hErrNode_out, instantiateParams->result_out);
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!is_live(hGraphExec)) return CUDA_ERROR_INVALID_VALUE;
  destroy_exec(hGraphExec);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!flags || !is_live(hGraphExec)) return CUDA_ERROR_INVALID_VALUE;
  *flags = hGraphExec->flags & ~static_cast<std::uint64_t>(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
