// Capture and graphs. A node that the client has made has its handle; one that the driver has made (captured, cloned) gets one of ours when it is asked for.
#include <unistd.h>

#include <cstdio>

#include "backend/cuda/graph_nodes.h"

namespace flexrack::backend::cuda {
namespace {

/// CUgraphEdgeData of a message as the driver takes it: nothing, or as many as there are edges.
struct Edges {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> data;
  Edges(Turn& turn, std::span<const std::uint64_t> handles, wire::View bytes) : nodes(turn.get_all<CUgraphNode>(handles)), data(turn.flat_all<CUgraphEdgeData>(bytes)) {
    turn.check(data.empty() || data.size() == nodes.size());
  }
  const CUgraphEdgeData* edges() const { return data.empty() ? nullptr : data.data(); }
};

}  // namespace

std::uint64_t Session::handle_of(CUgraphNode node, std::uint64_t graph) {
  const auto known = nodes_.find(node);
  if (known != nodes_.end() && handles_.find(known->second)) return known->second;
  const auto handle = mint();
  if (!handles_.insert(handle, {.kind = Kind::node, .native = node, .owner = graph})) return 0;
  nodes_[node] = handle;
  return handle;
}

std::uint64_t Session::handle_of(CUgraph graph, std::uint64_t owner) {
  std::uint64_t handle = 0;
  handles_.each([&](const Record& one) { if (one.kind == Kind::graph && one.native == graph) handle = one.handle; });
  if (handle != 0) return handle;
  handle = mint();
  return handles_.insert(handle, {.kind = Kind::graph, .native = graph, .owner = owner}) ? handle : 0;
}

/// A host function in a graph: the node waits until the client has run it, each time the graph gets there.
Session::GraphCall* Session::graph_call(std::uint64_t function) {
  auto& call = graph_calls_[function];
  if (!call) {
    call = std::make_unique<GraphCall>();
    call->session = this;
    call->function = function;
    call->run = [](void* data) {
      auto& self = *static_cast<GraphCall*>(data);
      self.session->run_in_graph(self.function);
    };
  }
  return call.get();
}

void Session::run_in_graph(std::uint64_t function) {
  std::unique_lock guard(graph_turns_lock_);
  if (is_ending_) return;
  const auto number = next_graph_turn_++;
  graph_turns_.insert(number);
  guard.unlock();
  tell(cu::RunHostFunction{.function = function, .turn = number | kGraphTurn, .status = 0});
  guard.lock();
  graph_turns_over_.wait(guard, [&] { return is_ending_ || !graph_turns_.contains(number); });
}

bool Session::ran_in_graph(std::uint64_t turn) {
  const std::lock_guard guard(graph_turns_lock_);
  if (graph_turns_.erase(turn & ~kGraphTurn) == 0) return false;
  graph_turns_over_.notify_all();
  return true;
}

// ---- capture

void Session::on(const cu::BeginCapture& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  const Edges after(turn, m.dependencies, m.edges);
  // The client's threads are not ours: what one of them may not do while another captures is the client's to know.
  const auto mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (m.has_graph != 0) {
    turn.run(table_.cuStreamBeginCaptureToGraph, stream, turn.get<CUgraph>(m.graph), after.nodes.data(), after.edges(), after.nodes.size(), mode);
  } else {
    turn.run(table_.cuStreamBeginCapture_v2, stream, mode);
  }
  turn.end();
}

void Session::on(const cu::EndCapture& m, Respond<cu::EndCaptureReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  CUgraph graph = nullptr;
  turn.run(table_.cuStreamEndCapture, turn.get<CUstream>(m.stream), &graph);
  // A capture into a graph of the client's gives that graph back, under the handle it has.
  bool is_known = false;
  handles_.each([&](const Record& one) { is_known |= graph && one.kind == Kind::graph && one.native == graph; });
  if (turn.is_good() && graph && !is_known) turn.keep(m.graph, graph);
  respond({.status = as_wire(turn.status()), .is_empty = graph ? 0u : 1u});
}

void Session::on(const cu::CaptureInfo& m, Respond<cu::CaptureInfoReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  CUstreamCaptureStatus capture{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  size_t count = 0;
  turn.run(table_.cuStreamGetCaptureInfo_v3, turn.get<CUstream>(m.stream), &capture, &id, &graph, &nodes, &edges, &count);
  cu::CaptureInfoReply reply{.status = as_wire(turn.status()), .capture = static_cast<std::uint32_t>(capture), .id = id};
  std::vector<std::uint64_t> handles;
  if (turn.is_good() && graph) {
    reply.graph = handle_of(graph, 0);
    for (size_t i = 0; i < count; ++i) handles.push_back(handle_of(nodes[i], reply.graph));
    reply.dependencies = handles;
    if (edges) reply.edges = {reinterpret_cast<const std::uint8_t*>(edges), count * sizeof *edges};
  }
  respond(reply);
}

void Session::on(const cu::UpdateCapture& m) {
  Turn turn(*this, m.kOp, m.context);
  Edges after(turn, m.dependencies, m.edges);
  turn.run(table_.cuStreamUpdateCaptureDependencies_v2, turn.get<CUstream>(m.stream), after.nodes.data(), after.edges(), after.nodes.size(), m.flags);
  turn.end();
}

// ---- graphs

void Session::on(const cu::CreateGraph& m) {
  Turn turn(*this, m.kOp, m.context);
  CUgraph graph = nullptr;
  turn.run(table_.cuGraphCreate, &graph, m.flags);
  if (auto* record = turn.keep(m.graph, graph)) record->context = 0;
  turn.end();
}

CUgraphNode Session::add_node(Turn& turn, std::uint64_t graph, std::uint64_t handle, std::span<const std::uint64_t> dependencies, wire::View edges, NodeParams& params) {
  const Edges after(turn, dependencies, edges);
  CUgraphNode node = nullptr;
  turn.run(table_.cuGraphAddNode_v2, &node, turn.get<CUgraph>(graph), after.nodes.data(), after.edges(), after.nodes.size(), params.get());
  if (auto* record = turn.keep(handle, node)) {
    record->context = 0;
    record->owner = graph;
    nodes_[node] = handle;
  }
  return node;
}

void Session::on(const cu::AddNode& m) {
  Turn turn(*this, m.kOp, m.work.context);
  NodeParams params(*this, turn, m.work);
  const auto node = add_node(turn, m.graph, m.node, m.dependencies, m.edges, params);
  for (const auto& one : launch_attributes(turn, m.work.attributes)) {
    if (turn.is_good()) turn.run(table_.cuGraphKernelNodeSetAttribute, node, one.id, &one.value);
  }
  turn.end();
}

void Session::on(const cu::AddAnsweredNode& m, Respond<cu::AddAnsweredNodeReply> respond) {
  Turn turn(*this, m.kOp, m.work.context);
  const bool is_allocation = m.work.kind == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  if (is_allocation) turn.device(m.work.element);  // a device of the lease, before its share is touched
  if (is_allocation && turn.is_good() && !charge(m.work.element, m.work.value)) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const bool is_charged = is_allocation && turn.is_good();
  NodeParams params(*this, turn, m.work);
  add_node(turn, m.graph, m.node, m.dependencies, m.edges, params);
  cu::AddAnsweredNodeReply reply;
  std::vector<std::uint64_t> graphs;
  if (turn.is_good()) {
    // What a graph allocates is paid for as long as the node is there: it may be launched at any time.
    if (is_charged) {
      auto* record = handles_.find(m.node);
      record->device = m.work.element;
      record->charged = m.work.value;
      reply.address = params.address();
    }
    for (auto* body : params.bodies()) graphs.push_back(handle_of(body, m.graph));
    reply.graphs = graphs;
  } else if (is_charged) {
    refund(m.work.element, m.work.value);
  }
  reply.status = as_wire(turn.status());
  respond(reply);
}

void Session::on(const cu::SetNode& m) {
  Turn turn(*this, m.kOp, m.work.context);
  NodeParams params(*this, turn, m.work);
  turn.run(table_.cuGraphNodeSetParams, turn.get<CUgraphNode>(m.node), params.get());
  turn.end();
}

void Session::on(const cu::SetExecNode& m, Respond<cu::SetExecNodeReply> respond) {
  Turn turn(*this, m.kOp, m.work.context);
  NodeParams params(*this, turn, m.work);
  turn.run(table_.cuGraphExecNodeSetParams, turn.get<CUgraphExec>(m.exec), turn.get<CUgraphNode>(m.node), params.get());
  respond({.status = as_wire(turn.status())});
}

/// The client knows what its own nodes do; those of a capture are asked for by few, and a driver has no one call for them before CUDA 13.
void Session::on(const cu::AskNode& m, Respond<cu::AskNodeReply> respond) {
  Turn turn(*this, m.kOp, 0);
  CUgraphNodeType type{};
  turn.run(table_.cuGraphNodeGetType, turn.get<CUgraphNode>(m.node), &type);
  cu::AskNodeReply reply;
  if (turn.is_good() && type != CU_GRAPH_NODE_TYPE_EMPTY) turn.fail(CUDA_ERROR_NOT_SUPPORTED);
  reply.work.kind = type;
  reply.status = as_wire(turn.status());
  respond(reply);
}

void Session::on(const cu::GraphContent& m, Respond<cu::GraphContentReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto graph = turn.get<CUgraph>(m.graph);
  size_t count = 0, edges = 0;
  turn.run(table_.cuGraphGetNodes, graph, static_cast<CUgraphNode*>(nullptr), &count);
  turn.run(table_.cuGraphGetEdges_v2, graph, static_cast<CUgraphNode*>(nullptr), static_cast<CUgraphNode*>(nullptr), static_cast<CUgraphEdgeData*>(nullptr), &edges);
  std::vector<CUgraphNode> nodes(count), from(edges), to(edges);
  std::vector<CUgraphEdgeData> data(edges);
  if (count > 0) turn.run(table_.cuGraphGetNodes, graph, nodes.data(), &count);
  if (edges > 0) turn.run(table_.cuGraphGetEdges_v2, graph, from.data(), to.data(), data.data(), &edges);
  cu::GraphContentReply reply{.status = as_wire(turn.status())};
  if (turn.is_good()) {
    for (auto* node : nodes) {
      CUgraphNodeType type{};
      table_.cuGraphNodeGetType(node, &type);
      reply.nodes.push_back({handle_of(node, m.graph), static_cast<std::uint32_t>(type), 0});
    }
    for (size_t i = 0; i < edges; ++i) reply.edges.push_back({handle_of(from[i], m.graph), handle_of(to[i], m.graph), bytes_of(data[i])});
  }
  respond(reply);
}

void Session::on(const cu::CloneGraph& m, Respond<cu::CloneGraphReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto graph = turn.get<CUgraph>(m.graph);
  CUgraph clone = nullptr;
  turn.run(table_.cuGraphClone, &clone, graph);
  std::vector<std::uint64_t> originals, clones;
  if (turn.keep(m.clone, clone)) {
    size_t count = 0;
    turn.run(table_.cuGraphGetNodes, graph, static_cast<CUgraphNode*>(nullptr), &count);
    std::vector<CUgraphNode> nodes(count);
    if (count > 0) turn.run(table_.cuGraphGetNodes, graph, nodes.data(), &count);
    for (auto* node : nodes) {
      CUgraphNode twin = nullptr;
      if (turn.run(table_.cuGraphNodeFindInClone, &twin, node, clone)) {
        originals.push_back(handle_of(node, m.graph));
        clones.push_back(handle_of(twin, m.clone));
      }
    }
  } else if (clone) {
    table_.cuGraphDestroy(clone);
  }
  respond({.status = as_wire(turn.status()), .originals = originals, .clones = clones});
}

void Session::on(const cu::Instantiate& m, Respond<cu::InstantiateReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  how.flags = m.flags;
  how.hUploadStream = turn.get<CUstream>(m.upload_stream);
  CUgraphExec exec = nullptr;
  turn.run(table_.cuGraphInstantiateWithParams, &exec, turn.get<CUgraph>(m.graph), &how);
  if (!turn.keep(m.exec, exec) && exec) table_.cuGraphExecDestroy(exec);
  respond({.status = as_wire(turn.status()), .result = static_cast<std::uint32_t>(how.result_out), .node = how.hErrNode_out ? handle_of(how.hErrNode_out, m.graph) : 0});
}

void Session::on(const cu::UpdateExec& m, Respond<cu::UpdateExecReply> respond) {
  Turn turn(*this, m.kOp, 0);
  CUgraphExecUpdateResultInfo info{};
  turn.run(table_.cuGraphExecUpdate_v2, turn.get<CUgraphExec>(m.exec), turn.get<CUgraph>(m.graph), &info);
  respond({.status = as_wire(turn.status()), .result = static_cast<std::uint32_t>(info.result), .node = info.errorNode ? handle_of(info.errorNode, m.graph) : 0,
           .from = info.errorFromNode ? handle_of(info.errorFromNode, m.graph) : 0});
}

void Session::on(const cu::SetNodeAttribute& m) {
  Turn turn(*this, m.kOp, 0);
  const auto node = turn.get<CUgraphNode>(m.node);
  const auto attributes = launch_attributes(turn, {&m.attribute, 1});
  if (turn.is_good()) turn.run(table_.cuGraphKernelNodeSetAttribute, node, attributes[0].id, &attributes[0].value);
  turn.end();
}

void Session::on(const cu::NodeAttribute& m, Respond<cu::NodeAttributeReply> respond) {
  Turn turn(*this, m.kOp, 0);
  CUkernelNodeAttrValue value{};
  turn.run(table_.cuGraphKernelNodeGetAttribute, turn.get<CUgraphNode>(m.node), static_cast<CUkernelNodeAttrID>(m.which), &value);
  respond({.status = as_wire(turn.status()), .value = bytes_of(value)});
}

/// The driver writes a file; the client gets its text.
void Session::on(const cu::GraphAsDot& m, Respond<cu::GraphAsDotReply> respond) {
  Turn turn(*this, m.kOp, 0);
  char path[] = "/tmp/flexrack-graph-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) turn.fail(CUDA_ERROR_OPERATING_SYSTEM);
  turn.run(table_.cuGraphDebugDotPrint, turn.get<CUgraph>(m.graph), static_cast<const char*>(path), m.flags);
  wire::Bytes text;
  if (file >= 0) {
    close(file);
    if (auto* found = turn.is_good() ? std::fopen(path, "rb") : nullptr) {
      std::uint8_t piece[4096];
      for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, found)) > 0;) text.insert(text.end(), piece, piece + got);
      std::fclose(found);
    }
    unlink(path);
  }
  respond({.status = as_wire(turn.status()), .text = text});
}

void Session::on(const cu::ConditionalHandle& m, Respond<cu::ConditionalHandleReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  CUgraphConditionalHandle value = 0;
  turn.run(table_.cuGraphConditionalHandleCreate, &value, turn.get<CUgraph>(m.graph), turn.get<CUcontext>(m.context), m.initial, m.flags);
  respond({.status = as_wire(turn.status()), .value = value});
}

}  // namespace flexrack::backend::cuda
