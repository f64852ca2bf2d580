#include "client/cuda/capture.h"

#include "client/cuda/graph_conditions.h"

#include <algorithm>
#include <set>

#include "client/cuda/graph_work.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// All that are not over; under the lock of graphs. Never destroyed.
std::vector<std::shared_ptr<Capture>>& captures() {
  static auto& all = *new std::vector<std::shared_ptr<Capture>>;
  return all;
}

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

std::shared_ptr<Capture> capture_of(CUstream stream) {
  if (!is_capturing(stream)) return nullptr;
  for (const auto& one : captures())
    if (one->members.contains(stream)) return one;
  return nullptr;
}

bool is_there(const Capture& capture) { return is_live(capture.graph) && capture.graph->id == capture.graph_id; }

/// Those nodes of the graph that it still has.
std::vector<CUgraphNode> still_there(const Capture& capture, const std::vector<CUgraphNode>& nodes) {
  std::vector<CUgraphNode> all;
  for (const auto node : nodes)
    if (is_live(node) && node->graph == capture.graph) all.push_back(node);
  return all;
}

void add_once(std::vector<CUgraphNode>& to, CUgraphNode node) {
  if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
}

void let_go(const std::shared_ptr<Capture>& capture) {
  for (const auto& [stream, member] : capture->members)
    if (is_live(stream)) stream->is_capturing.store(false, std::memory_order_release);
  if (std::erase(captures(), capture) > 0) captures_under_way.fetch_sub(1);
}

/// Whether the stream it was begun in has waited for what all others did.
bool is_joined(const Capture& capture) {
  std::set<CUgraphNode> reached;
  std::vector<CUgraphNode> open;
  const auto reach = [&](CUgraphNode node) {
    if (reached.insert(node).second) open.push_back(node);
  };
  for (const auto node : still_there(capture, capture.members.at(capture.origin).before)) reach(node);
  while (!open.empty()) {
    const auto node = open.back();
    open.pop_back();
    for (const auto& edge : node->before) reach(edge.node);
  }
  for (const auto& [stream, member] : capture.members) {
    for (const auto node : still_there(capture, member.before))
      if (!reached.contains(node)) return false;
  }
  return true;
}

/// Adds a node as `add` does behind what the stream has done.
template <class Add>
CUresult put(CUstream stream, CUgraphNode* made, Add&& add) {
  const auto capture = capture_of(stream);
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->is_invalid || !is_there(*capture)) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  auto& member = capture->members[stream];
  const auto before = still_there(*capture, member.before);
  CUgraphNode node = nullptr;
  const auto status = add(capture->graph, before, node);
  if (status != CUDA_SUCCESS) return status;
  member.before = {node};
  if (made) *made = node;
  return CUDA_SUCCESS;
}

}  // namespace

std::atomic<int> captures_under_way{0};

CUresult capture_work(CUstream stream, WorkPointer work, CUgraphNode* made) {
  const std::lock_guard guard(graphs_lock());
  return put(stream, made, [&](CUgraph graph, std::span<const CUgraphNode> before, CUgraphNode& node) {
    return add_node(graph, before, nullptr, std::move(work), node);
  });
}

CUresult capture_graph(CUstream stream, CUgraph graph) {
  const std::lock_guard guard(graphs_lock());
  // Memory of a graph is one graph's, and a child graph has no conditional nodes.
  if (has_memory(graph) || has_conditions(graph)) return CUDA_ERROR_NOT_SUPPORTED;
  return put(stream, nullptr, [&](CUgraph into, std::span<const CUgraphNode> before, CUgraphNode& node) {
    return add_child(into, before, nullptr, clone_graph(graph), node);
  });
}

CUresult capture_record(CUstream stream, CUevent event) {
  const std::lock_guard guard(graphs_lock());
  const auto capture = capture_of(stream);
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event->captured = std::make_shared<CapturedRecord>(CapturedRecord{capture, capture->members[stream].before});
  event->is_captured.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

bool capture_wait(CUstream stream, CUevent event, unsigned flags, CUresult& status) {
  if (!is_capturing(stream) && !event->is_captured.load(std::memory_order_acquire)) return false;
  const std::lock_guard guard(graphs_lock());
  const auto own = capture_of(stream);
  status = CUDA_SUCCESS;
  if (!event->captured) {
    if (!own) return false;
    if ((flags & CU_EVENT_WAIT_EXTERNAL) == 0) return status = CUDA_ERROR_STREAM_CAPTURE_ISOLATION, true;
    WorkPointer work;
    status = event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, work);
    if (status == CUDA_SUCCESS) status = capture_work(stream, std::move(work));
    return true;
  }
  const auto capture = event->captured->capture.lock();
  if (!capture) return status = CUDA_ERROR_CAPTURED_EVENT, true;
  if (own && own != capture) {
    own->is_invalid = capture->is_invalid = true;
    return status = CUDA_ERROR_STREAM_CAPTURE_MERGE, true;
  }
  if (stream->is_default) {
    capture->is_invalid = true;
    return status = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, true;
  }
  if (capture->is_invalid) return status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, true;
  auto& member = capture->members[stream];
  stream->is_capturing.store(true, std::memory_order_release);
  for (const auto node : still_there(*capture, event->captured->nodes)) add_once(member.before, node);
  return true;
}

CUresult refuse_captured_event(CUevent event) {
  return event->is_captured.load(std::memory_order_acquire) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

void forget_captured(CUevent event) {
  if (!event->is_captured.load(std::memory_order_acquire)) return;
  const std::lock_guard guard(graphs_lock());
  event->captured = nullptr;
  event->is_captured.store(false, std::memory_order_release);
}

CUresult refuse_captured(CUstream stream) {
  if (!has_captures()) return CUDA_SUCCESS;
  const std::lock_guard guard(graphs_lock());
  if (const auto capture = capture_of(stream)) {
    capture->is_invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return refuse_implicit(stream);
}

CUresult refuse_implicit(CUstream stream) {
  if (!has_captures() || !stream->is_default) return CUDA_SUCCESS;
  const std::lock_guard guard(graphs_lock());
  for (const auto& capture : captures()) {
    for (const auto& [member, at] : capture->members) {
      if (!is_live(member) || member->context != stream->context || (member->flags & CU_STREAM_NON_BLOCKING) != 0)
        continue;
      capture->is_invalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
  }
  return CUDA_SUCCESS;
}

CUresult refuse_context(CUcontext context) {
  if (!has_captures()) return CUDA_SUCCESS;
  const std::lock_guard guard(graphs_lock());
  for (const auto& capture : captures()) {
    for (const auto& [member, at] : capture->members)
      if (is_live(member) && member->context == context) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult refuse_unsafe() {
  if (!has_captures() || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const std::lock_guard guard(graphs_lock());
  auto status = CUDA_SUCCESS;
  for (const auto& capture : captures()) {
    const bool is_own =
        capture->thread == std::this_thread::get_id() && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool is_global =
        capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!is_own && !is_global) continue;
    capture->is_invalid = true;
    status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return status;
}

void abandon_capture(CUstream stream) {
  if (!is_capturing(stream)) return;
  const std::lock_guard guard(graphs_lock());
  const auto capture = capture_of(stream);
  if (!capture) return;
  capture->is_invalid = true;
  if (stream == capture->origin) {
    let_go(capture);
    if (!capture->is_graph_given && is_there(*capture)) destroy_graph(capture->graph);
  } else {
    capture->members.erase(stream);
  }
}

namespace {

CUresult begin(CUstream which, CUstreamCaptureMode mode, CUgraph graph, std::span<const CUgraphNode> before) {
  Call call;
  const auto stream = call.stream(which);
  call.check(mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  if (!call.settle()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (stream->is_default) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (is_capturing(stream)) return CUDA_ERROR_ILLEGAL_STATE;
  for (const auto node : before)
    if (!is_live(node) || node->graph != graph) return CUDA_ERROR_INVALID_VALUE;
  const auto made = std::make_shared<Capture>();
  made->id = mint();
  made->mode = mode;
  made->thread = std::this_thread::get_id();
  made->is_graph_given = graph != nullptr;
  made->graph = graph ? graph : make_graph();
  made->graph_id = made->graph->id;
  made->origin = stream;
  made->members[stream].before.assign(before.begin(), before.end());
  captures().push_back(made);
  captures_under_way.fetch_add(1);
  stream->is_capturing.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult info(CUstream which, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
              const CUgraphEdgeData** edges, size_t* count) {
  Call call;
  const auto stream = call.stream(which);
  call.needs(status);
  if (!call.is_good()) return call.error();
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!has_captures()) return CUDA_SUCCESS;
  const std::lock_guard guard(graphs_lock());
  const auto capture = capture_of(stream);
  if (!capture) {
    // To tell of the legacy stream would be to wait for the others; that alone ends no capture.
    if (!stream->is_default) return CUDA_SUCCESS;
    for (const auto& one : captures()) {
      for (const auto& [member, at] : one->members) {
        if (is_live(member) && member->context == stream->context && (member->flags & CU_STREAM_NON_BLOCKING) == 0)
          return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
      }
    }
    return CUDA_SUCCESS;
  }
  *status = capture->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (capture->is_invalid) return CUDA_SUCCESS;
  auto& member = capture->members[stream];
  member.reported_nodes = still_there(*capture, member.before);
  member.reported_edges.assign(member.reported_nodes.size(), CUgraphEdgeData{});
  if (id) *id = capture->id;
  if (graph) *graph = capture->graph;
  if (nodes) *nodes = member.reported_nodes.data();
  if (edges) *edges = member.reported_edges.data();
  if (count) *count = member.reported_nodes.size();
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  return begin(hStream, mode, nullptr, {});
}
CUresult cuStreamBeginCapture(CUstream hStream) { return begin(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {}); }

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData*, size_t numDependencies, CUstreamCaptureMode mode) {
  if (!process()) return not_open();
  if (!is_live(hGraph) || (!dependencies && numDependencies > 0)) return CUDA_ERROR_INVALID_VALUE;
  return begin(hStream, mode, hGraph, {dependencies, numDependencies});
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
  Call call;
  call.needs(phGraph);
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  *phGraph = nullptr;
  const std::lock_guard guard(graphs_lock());
  const auto capture = capture_of(stream);
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (stream != capture->origin) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  const bool is_whole = is_joined(*capture), is_valid = !capture->is_invalid && is_there(*capture);
  let_go(capture);
  if (is_valid && is_whole) return *phGraph = capture->graph, CUDA_SUCCESS;
  if (!capture->is_graph_given && is_there(*capture)) destroy_graph(capture->graph);
  return is_valid ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  return info(hStream, captureStatus, nullptr, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out) {
  return info(hStream, captureStatus_out, id_out, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                   CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                   size_t* numDependencies_out) {
  return info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr, numDependencies_out);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                   CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out) {
  return info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies, const CUgraphEdgeData*,
                                              size_t numDependencies, unsigned int flags) {
  Call call;
  const auto stream = call.stream(hStream);
  call.check((dependencies || numDependencies == 0) && flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  const auto capture = capture_of(stream);
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  auto& member = capture->members[stream];
  auto before = flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES ? std::vector<CUgraphNode>{} : member.before;
  for (std::size_t i = 0; i < numDependencies; ++i) {
    if (!is_live(dependencies[i]) || dependencies[i]->graph != capture->graph) return CUDA_ERROR_INVALID_VALUE;
    add_once(before, dependencies[i]);
  }
  member.before = std::move(before);
  return CUDA_SUCCESS;
}
CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies, size_t numDependencies,
                                           unsigned int flags) {
  return cuda::cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, nullptr, numDependencies, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (!process()) return not_open();
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, thread_mode);
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
