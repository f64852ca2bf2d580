#include "sim/driver/capture.h"

#include <algorithm>
#include <set>

namespace flexrack::sim {
namespace {

std::atomic<std::uint64_t> last_capture_id{0};
std::atomic<int> under_way{0};

/// All captures that are not over.
struct Captures {
  std::mutex lock;
  std::set<Capture*> all;
};
Captures& captures() {
  static auto* one = new Captures;
  return *one;
}

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void add_once(std::vector<Ref<GraphNode>>& to, const Ref<GraphNode>& node) {
  if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
}

}  // namespace

Capture::Capture(Ref<Stream> begun_in, Ref<Graph> into, CUstreamCaptureMode with_mode)
    : id(++last_capture_id),
      mode(with_mode),
      thread(std::this_thread::get_id()),
      graph(std::move(into)),
      origin_(std::move(begun_in)) {
  members_[origin_.get()].stream = origin_;
  const std::lock_guard guard(captures().lock);
  captures().all.insert(this);
  ++under_way;
}

Capture::~Capture() {
  const std::lock_guard guard(captures().lock);
  captures().all.erase(this);
  --under_way;
}

/// Under the lock.
Capture::Member& Capture::member(Stream& stream) {
  require(!is_invalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  const auto found = members_.find(&stream);
  require(found != members_.end(), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  return found->second;
}

std::vector<CUgraphNode> Capture::handles(const Member& of) const {
  std::vector<CUgraphNode> all;
  for (const auto& node : of.before)
    if (node->graph) all.push_back(node->handle());
  return all;
}

void Capture::add(Stream& stream, const WorkPointer& work) {
  const std::lock_guard guard(lock_);
  auto& of = member(stream);
  const auto before = handles(of);
  auto node = graph->add(work->type(), work, before.data(), before.size());
  node->context = stream.context;
  of.before = {std::move(node)};
}

void Capture::add_child(Stream& stream, const Ref<Graph>& child) {
  const std::lock_guard guard(lock_);
  auto& of = member(stream);
  const auto before = handles(of);
  of.before = {graph->add_child(child, before.data(), before.size())};
}

void Capture::record(Stream& stream, Event& event) {
  const std::lock_guard guard(lock_);
  event.set_captured({weak_from_this(), id, member(stream).before});
}

void Capture::join(const Ref<Stream>& stream, const std::vector<Ref<GraphNode>>& nodes) {
  const std::lock_guard guard(lock_);
  require(!is_invalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  auto& of = members_[stream.get()];
  if (!of.stream) {
    of.stream = stream;
    stream->set_capture(shared_from_this());
  }
  for (const auto& node : nodes) add_once(of.before, node);
}

void join_capture(Stream& stream, const Event::Captured& captured) {
  const auto capture = captured.capture.lock();
  require(static_cast<bool>(capture), CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture that is over");
  const auto own = stream.capture();
  if (own && own != capture) {
    own->invalidate();
    capture->invalidate();
    fail(CUDA_ERROR_STREAM_CAPTURE_MERGE, "two captures cannot become one");
  }
  if (stream.kind == Stream::Kind::legacy) {
    capture->invalidate();
    fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream cannot be captured");
  }
  capture->join(Ref<Stream>(&stream), captured.nodes);
}

/// Under the lock: whether the stream it was begun in has waited for what the others did.
bool Capture::is_joined() const {
  std::set<const GraphNode*> reached;
  std::vector<const GraphNode*> open;
  const auto reach = [&](const GraphNode* node) {
    if (reached.insert(node).second) open.push_back(node);
  };
  for (const auto& node : members_.at(origin_.get()).before) reach(node.get());
  while (!open.empty()) {
    const auto* node = open.back();
    open.pop_back();
    for (const auto& edge : node->before) reach(edge.node);
  }
  for (const auto& [stream, of] : members_)
    for (const auto& node : of.before)
      if (node->graph && !reached.contains(node.get())) return false;
  return true;
}

/// Under the lock.
void Capture::let_go() {
  for (const auto& [stream, of] : members_) stream->set_capture(nullptr);
}

void Capture::end(Stream& stream) {
  const std::lock_guard guard(lock_);
  require(&stream == origin_.get(), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
          "a capture ends in the stream it was begun in");
  require(mode == CU_STREAM_CAPTURE_MODE_RELAXED || thread == std::this_thread::get_id(),
          CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  const bool is_whole = is_joined();
  let_go();
  members_.clear();
  require(!is_invalid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  require(is_whole, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "a stream of the capture was not waited for");
}

void Capture::abandon() {
  const std::lock_guard guard(lock_);
  is_invalid_ = true;
  let_go();
  members_.clear();
}

void Capture::set_dependencies(Stream& stream, std::vector<Ref<GraphNode>> nodes) {
  const std::lock_guard guard(lock_);
  member(stream).before = std::move(nodes);
}

std::vector<Ref<GraphNode>> Capture::dependencies(Stream& stream) {
  const std::lock_guard guard(lock_);
  return member(stream).before;
}

const Capture::Reported& Capture::reported(Stream& stream) {
  const std::lock_guard guard(lock_);
  auto& of = member(stream);
  of.reported.nodes = handles(of);
  of.reported.edges.assign(of.reported.nodes.size(), CUgraphEdgeData{});
  return of.reported;
}

void require_unsafe_calls_allowed() {
  if (under_way.load(std::memory_order_relaxed) == 0 || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  bool is_forbidden = false;
  const std::lock_guard guard(captures().lock);
  for (auto* capture : captures().all) {
    const bool is_own =
        capture->thread == std::this_thread::get_id() && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool is_global =
        capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!is_own && !is_global) continue;
    capture->invalidate();
    is_forbidden = true;
  }
  require(!is_forbidden, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not possible while a stream is captured in this mode");
}

namespace {

void begin(const Ref<Stream>& stream, Ref<Graph> graph, bool is_given, CUstreamCaptureMode mode,
           std::vector<Ref<GraphNode>> before) {
  require(mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  require(stream->kind != Stream::Kind::legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "the legacy stream cannot be captured");
  require(!stream->capture(), CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
  const auto capture = std::make_shared<Capture>(stream, std::move(graph), mode);
  capture->is_graph_given = is_given;
  if (!before.empty()) capture->set_dependencies(*stream, std::move(before));
  stream->set_capture(capture);
}

CUresult begin_new(CUstream handle, CUstreamCaptureMode mode) {
  return call([&] {
    const auto stream = stream_of(handle);
    const auto graph = Graph::make();
    graph->open();
    begin(stream, graph, false, mode, {});
  });
}

/// What is told of a stream that is not captured: nothing, but for the legacy one, which would wait for others.
std::shared_ptr<Capture> capture_of(Stream& stream) {
  const auto capture = stream.capture();
  if (capture || stream.kind != Stream::Kind::legacy || !stream.context->has_captures()) return capture;
  for (const auto& other : stream.context->streams()) {
    require(!other->is_blocking() || !other->capture(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  }
  return nullptr;
}

CUresult info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
              const CUgraphEdgeData** edges, size_t* count) {
  return call([&] {
    require(status);
    const auto stream = stream_of(handle);
    const auto capture = capture_of(*stream);
    *status = !capture                ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->is_invalid() ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
    if (id) *id = capture->id;
    if (graph) *graph = capture->graph->handle();
    if (!nodes && !edges && !count) return;
    const auto& reported = capture->reported(*stream);
    if (nodes) *nodes = reported.nodes.data();
    if (edges) *edges = reported.edges.data();
    if (count) *count = reported.nodes.size();
  });
}

CUresult update_dependencies(CUstream handle, const CUgraphNode* nodes, size_t count, unsigned flags) {
  return call([&] {
    require((nodes || count == 0) && flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    const auto stream = stream_of(handle);
    const auto capture = stream->capture();
    require(static_cast<bool>(capture), CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
    auto before =
        flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES ? std::vector<Ref<GraphNode>>{} : capture->dependencies(*stream);
    for (size_t i = 0; i < count; ++i) {
      auto node = node_of(nodes[i]);
      require(node->graph == capture->graph.get());
      add_once(before, node);
    }
    capture->set_dependencies(*stream, std::move(before));
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuStreamBeginCapture(CUstream stream) { return begin_new(stream, CU_STREAM_CAPTURE_MODE_GLOBAL); }
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) { return begin_new(stream, mode); }

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph into, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData*, size_t count, CUstreamCaptureMode mode) {
  return call([&] {
    require(dependencies || count == 0);
    const auto stream = stream_of(handle);
    const auto graph = graph_of(into);
    std::vector<Ref<GraphNode>> before;
    for (size_t i = 0; i < count; ++i) {
      before.push_back(node_of(dependencies[i]));
      require(before.back()->graph == graph.get());
    }
    begin(stream, graph, true, mode, std::move(before));
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return call([&] {
    const auto stream = stream_of(handle);
    const auto capture = stream->capture();
    require(graph || (capture && capture->is_graph_given));
    if (graph) *graph = nullptr;
    require(static_cast<bool>(capture), CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
    capture->end(*stream);
    if (graph) *graph = capture->graph->handle();
  });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return info(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** nodes, size_t* count) {
  return info(stream, status, id, graph, nodes, nullptr, count);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** nodes, const CUgraphEdgeData** edges, size_t* count) {
  return info(stream, status, id, graph, nodes, edges, count);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, size_t count, unsigned int flags) {
  return update_dependencies(stream, nodes, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData*, size_t count,
                                              unsigned int flags) {
  return update_dependencies(stream, nodes, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call([&] {
    require(mode && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    std::swap(*mode, thread_mode);
  });
}

}  // extern "C"
