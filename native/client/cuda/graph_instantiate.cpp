// Graphs on their way to a server: flat, each node behind those it depends on, one call for all of it.
#include <algorithm>

#include "client/cuda/capture.h"
#include "client/cuda/graph_exec.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/host_function.h"
#include "cuda/graph_facts.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// What a launch does in this process before a node.
struct Reach {
  std::vector<CUgraphNode> outputs{};
  bool has_call = false;
  void add(const Reach& other) {
    has_call |= other.has_call;
    for (const auto one : other.outputs)
      if (std::find(outputs.begin(), outputs.end(), one) == outputs.end()) outputs.push_back(one);
  }
};

class Flattening {
 public:
  Flattening(CUgraphExec exec, Session& session) : exec_(exec), session_(session) {}

  /// The whole of a graph behind those; what nothing in it waits for.
  std::vector<std::uint64_t> send(CUgraph graph, const std::vector<std::uint64_t>& entry) {
    std::vector<std::uint64_t> last;
    for (const auto node : in_order(graph)) {
      std::vector<std::uint64_t> before;
      for (const auto& edge : node->before) before.push_back(edge.node->handle);
      if (node->before.empty()) before = entry;
      if (node->child) send_child(node, before);
      else send_leaf(node, before);
      exec_->nodes[node->original] = node;
      if (node->after.empty()) last.push_back(node->handle);
    }
    return last;
  }

 private:
  void send_child(CUgraphNode node, const std::vector<std::uint64_t>& before) {
    const auto inner = send(node->child, before);
    node->handle = mint();
    add(node->handle, inner.empty() ? before : inner, {}, *empty_work());
  }

  void send_leaf(CUgraphNode node, std::vector<std::uint64_t> before) {
    const auto& work = *node->work;
    if (work.memory) exec_->memory.push_back(work.memory);
    if (work.freed != 0) exec_->freed.push_back(work.freed);
    if (work.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) exec_->records.push_back(node);
    if (work.is_call() || work.is_input() || work.is_output()) node->stop = make_stop(node, before);
    node->handle = mint();
    if (node->stop) node->stop->node = node->handle;
    if (work.is_call()) {
      add_function(node->handle, before, *node->stop);
      reach_[node->handle].has_call = true;
      return;
    }
    if (node->stop && node->stop->is_late) {
      const auto collecting = mint();
      add_function(collecting, before, *node->stop);
      before = {collecting};
    }
    std::vector<CUgraphEdgeData> edges;
    if (before.size() == node->before.size() &&
        !std::all_of(node->before.begin(), node->before.end(),
                     [](const auto& edge) { return flexrack::cuda::is_plain(edge.data); })) {
      for (const auto& edge : node->before) edges.push_back(edge.node->child ? CUgraphEdgeData{} : edge.data);
    }
    add(node->handle, before, edges, work);
    if (work.is_output()) reach_[node->handle].outputs.push_back(node);
  }

  std::shared_ptr<Stop> make_stop(CUgraphNode node, const std::vector<std::uint64_t>& before) {
    const auto stop = std::make_shared<Stop>();
    Reach reach;
    for (const auto one : before) reach.add(reach_[one]);
    stop->is_late = node->work->is_input() && (reach.has_call || !reach.outputs.empty());
    stop->outputs = std::move(reach.outputs);
    if (stop->is_late || node->work->is_call()) {
      stop->function = add_host_function({.run = [stop](CUresult) { run_stop(*stop); }, .is_once = false});
    }
    exec_->stops.push_back(node);
    return stop;
  }

  void add_function(std::uint64_t handle, const std::vector<std::uint64_t>& before, const Stop& stop) {
    reached(handle, before);
    session_.send(cu::AddNode{.graph = exec_->graph_handle,
                              .node = handle,
                              .dependencies = before,
                              .edges = {},
                              .work = {.kind = CU_GRAPH_NODE_TYPE_HOST, .value = stop.function}});
  }

  void add(std::uint64_t handle, const std::vector<std::uint64_t>& before, const std::vector<CUgraphEdgeData>& edges,
           const Work& work) {
    reached(handle, before);
    session_.send(cu::AddNode{.graph = exec_->graph_handle,
                              .node = handle,
                              .dependencies = before,
                              .edges = wire::bytes_of(edges),
                              .work = reported(work)});
  }

  void reached(std::uint64_t handle, const std::vector<std::uint64_t>& before) {
    Reach reach;
    for (const auto one : before) {
      if (const auto found = reach_.find(one); found != reach_.end()) reach.add(found->second);
    }
    if (reach.has_call || !reach.outputs.empty()) reach_[handle].add(reach);
  }

  CUgraphExec exec_;
  Session& session_;
  std::map<std::uint64_t, Reach> reach_;       ///< by handle, where there is something
};

/// Contexts of all leaves: alive, and of one server. Null context: none needs one.
CUresult find_context(CUgraph graph, CUcontext& context) {
  for (const auto node : graph->nodes) {
    if (node->child) {
      if (const auto status = find_context(node->child, context); status != CUDA_SUCCESS) return status;
      continue;
    }
    const auto own = node->work->context;
    if (!own) continue;
    if (!is_live(own) || own->handle != node->work->context_handle) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (context && own->server != context->server) return CUDA_ERROR_NOT_SUPPORTED;
    if (!context) context = own;
  }
  return CUDA_SUCCESS;
}

bool is_instantiated(CUgraph graph) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(), [](const auto node) {
    return node->child ? is_instantiated(node->child) : node->work->memory && node->work->memory->is_instantiated;
  });
}

/// The node of the graph that the clone's node is a clone of.
CUgraphNode original_of(CUgraph graph, CUgraphNode twin) {
  for (const auto node : graph->nodes) {
    if (node->id == twin->original) return node;
    if (const auto inner = node->child ? original_of(node->child, twin) : nullptr) return inner;
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
  if (is_instantiated(graph)) return CUDA_ERROR_INVALID_VALUE;
  CUcontext context = nullptr;
  if (const auto status = find_context(graph, context); status != CUDA_SUCCESS) {
    if (status == CUDA_ERROR_NOT_SUPPORTED) result = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
    return status;
  }
  if (!context) context = call.current();
  call.use(context);
  const bool is_uploaded = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0;
  const auto upload = is_uploaded ? call.stream(upload_stream) : nullptr;
  if (!call.settle()) return call.error();

  Made<CUgraphExec> exec = call.make<CUgraphExec>();
  const auto on = exec.get();
  on->context = context, on->context_handle = context->handle;
  on->flags = flags;
  on->graph_handle = mint();
  on->graph = clone_graph(graph);
  call.session().send(cu::CreateGraph{.context = 0, .graph = on->graph_handle, .flags = 0});
  Flattening(on, call.session()).send(on->graph, {});
  std::uint64_t wrong_handle = 0;
  const cu::Instantiate message{.context = context->handle,
                                .graph = on->graph_handle,
                                .exec = on->handle,
                                .flags = flags,
                                .upload_stream = upload ? upload->handle : 0};
  auto status = kLost;
  call.session().call(message, [&](const auto& reply) {
    status = static_cast<CUresult>(reply.status);
    result = static_cast<CUgraphInstantiateResult>(reply.result);
    wrong_handle = reply.node;
  });
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
  auto& session = *exec->server->session;
  if (exec->handle != 0) {
    session.send(cu::Release{.object = exec->handle});
    for (const auto& one : exec->memory) one->is_instantiated = false;
  }
  session.send(cu::Release{.object = exec->graph_handle});
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
