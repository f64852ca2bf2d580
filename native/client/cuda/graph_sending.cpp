// Graphs on their way to servers: each node behind those it depends on.
#include "client/cuda/graph_sending.h"

#include <algorithm>

#include "client/cuda/graph_conditions.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/host_function.h"
#include "cuda/graph_facts.h"

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

/// All nodes of a graph and its children, each behind those it depends on. Bodies are graphs of their own.
class Flattening {
 public:
  Flattening(CUgraphExec exec, CUgraph graph) : exec_(exec) { add(graph, {}); }
  const std::vector<Flat>& nodes() const { return nodes_; }

 private:
  /// The whole of a graph behind those; what nothing in it waits for.
  std::vector<std::size_t> add(CUgraph graph, const std::vector<std::size_t>& entry) {
    std::vector<std::size_t> last;
    for (const auto node : in_order(graph)) {
      std::vector<std::size_t> before;
      for (const auto& edge : node->before) before.push_back(numbers_.at(edge.node));
      if (node->before.empty()) before = entry;
      if (node->child) {
        const auto inner = add(node->child, before);
        if (!inner.empty()) before = inner;
      }
      numbers_[node] = nodes_.size();
      auto& flat = nodes_.emplace_back(Flat{node, std::move(before)});
      for (const auto body : node->bodies) flat.bodies.push_back(Flattening(exec_, body).nodes());
      exec_->nodes[node->original] = node;
      if (node->after.empty()) last.push_back(numbers_[node]);
    }
    return last;
  }

  CUgraphExec exec_;
  std::vector<Flat> nodes_;
  std::map<CUgraphNode, std::size_t> numbers_;
};

/// Tells servers of their nodes.
class Sending {
 public:
  /// `is_update`: the graph of its conditions only, and what happens in this process stays what it is. `body`: handle
  /// of the body that they are the nodes of; 0: they are those of the parts.
  Sending(CUgraphExec exec, const std::vector<Flat>& nodes, bool is_update, std::uint64_t body = 0)
      : exec_(exec), nodes_(nodes), is_update_(is_update), body_(body), reach_(nodes.size()) {}

  void send() {
    if (body_ == 0) send_graphs();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const auto one : nodes_[i].before) reach_[i].add(reach_[one]);
      if (is_update_ && !is_at_home(nodes_[i].node)) continue;
      if (nodes_[i].node->child) add(i, before_in_part(i), {}, *empty_work());
      else if (!nodes_[i].bodies.empty()) send_condition(i);
      else send_leaf(i);
    }
  }

 private:
  bool is_at_home(CUgraphNode node) const {
    const auto* const part = part_of(exec_, node);
    return part && part->is_home;
  }

  void send_graphs() {
    for (const auto& part : exec_->parts) {
      if (!part.is_home) {
        if (!is_update_)
          part.server->session->send(cu::CreateGraph{.context = 0, .graph = part.graph_handle, .flags = 0});
        continue;
      }
      auto& home = *exec_->graph->home;
      if (home.is_filled) part.server->session->send(cu::ClearGraph{.graph = home.graph});
      home.is_filled = true;
      home.filled_by = exec_;
    }
  }

  void send_condition(std::size_t i) {
    const auto node = nodes_[i].node;
    const auto& work = *node->work;
    std::vector<std::uint64_t> bodies;
    for (std::size_t body = 0; body < nodes_[i].bodies.size(); ++body) bodies.push_back(mint());
    node->handle = mint();
    part_of(exec_, node)
        ->server->session->send(cu::AddCondition{.graph = graph_of(node),
                                                 .node = node->handle,
                                                 .dependencies = before_in_part(i),
                                                 .edges = {},
                                                 .context = work.context_handle,
                                                 .condition = work.condition,
                                                 .type = static_cast<std::uint32_t>(work.condition_type),
                                                 .bodies = bodies});
    for (std::size_t body = 0; body < bodies.size(); ++body)
      Sending(exec_, nodes_[i].bodies[body], is_update_, bodies[body]).send();
  }

  std::uint64_t graph_of(CUgraphNode node) const { return body_ != 0 ? body_ : part_of(exec_, node)->graph_handle; }

  void send_leaf(std::size_t i) {
    const auto node = nodes_[i].node;
    const auto& work = *node->work;
    if (!is_update_) note_leaf(i);
    if (work.is_between()) return;
    auto before = before_in_part(i);
    if (work.is_call()) {
      node->handle = add_function(*part_of(exec_, node), before, *node->stop, node->stop->node);
      if (!is_update_) node->stop->node = node->handle;
      reach_[i].has_call = true;
      return;
    }
    std::vector<CUgraphEdgeData> edges;
    if (before.size() == node->before.size() &&
        !std::all_of(node->before.begin(), node->before.end(),
                     [](const auto& edge) { return flexrack::cuda::is_plain(edge.data); })) {
      for (const auto& edge : node->before) edges.push_back(edge.node->child ? CUgraphEdgeData{} : edge.data);
    }
    if (node->stop && node->stop->is_late) {
      before = {add_function(*part_of(exec_, node), before, *node->stop, node->stop->first)};
      if (!is_update_) node->stop->first = before.front();
      edges.clear();
    }
    add(i, before, edges, work);
    if (node->stop && !is_update_) node->stop->node = node->handle;
    if (work.is_output()) reach_[i].outputs.push_back(node);
  }

  void note_leaf(std::size_t i) {
    const auto node = nodes_[i].node;
    const auto& work = *node->work;
    if (work.memory) exec_->memory.push_back(work.memory);
    if (work.freed != 0) exec_->freed.push_back(work.freed);
    if (work.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) exec_->records.push_back(node);
    if (work.is_call() || work.is_input() || work.is_output()) node->stop = make_stop(node, reach_[i]);
  }

  std::shared_ptr<Stop> make_stop(CUgraphNode node, const Reach& reach) {
    const auto stop = std::make_shared<Stop>();
    stop->is_late = node->work->is_input() && (reach.has_call || !reach.outputs.empty());
    stop->outputs = reach.outputs;
    if (stop->is_late || node->work->is_call()) {
      stop->function = add_host_function({.run = [stop](CUresult) { run_stop(*stop); }, .is_once = false});
    }
    exec_->stops.push_back(node);
    return stop;
  }

  /// What the server is to know of it: the order between parts is the launch's.
  std::vector<std::uint64_t> before_in_part(std::size_t i) const {
    std::vector<std::uint64_t> handles;
    for (const auto one : nodes_[i].before)
      if (nodes_[one].node->part == nodes_[i].node->part) handles.push_back(nodes_[one].node->handle);
    return handles;
  }

  /// `as`: the node of what is updated that it is the same as; 0: of none.
  std::uint64_t add_function(const Part& part, const std::vector<std::uint64_t>& before, const Stop& stop,
                             std::uint64_t as) {
    const auto handle = mint();
    part.server->session->send(
        cu::AddNode{.graph = part.graph_handle,
                    .node = handle,
                    .dependencies = before,
                    .edges = {},
                    .work = {.kind = CU_GRAPH_NODE_TYPE_HOST, .object = as, .value = stop.function}});
    return handle;
  }

  void add(std::size_t i, const std::vector<std::uint64_t>& before, const std::vector<CUgraphEdgeData>& edges,
           const Work& work) {
    const auto node = nodes_[i].node;
    const auto& part = *part_of(exec_, node);
    node->handle = mint();
    auto told = reported(work);
    if (node->stop) told.object = node->stop->node;
    part.server->session->send(cu::AddNode{.graph = graph_of(node),
                                           .node = node->handle,
                                           .dependencies = before,
                                           .edges = wire::bytes_of(edges),
                                           .work = told});
  }

  CUgraphExec exec_;
  const std::vector<Flat>& nodes_;
  const bool is_update_;
  const std::uint64_t body_;
  std::vector<Reach> reach_;           ///< by number
};

}  // namespace

std::vector<Flat> flattened(CUgraphExec exec, CUgraph graph) { return Flattening(exec, graph).nodes(); }

void send_parts(CUgraphExec exec, const std::vector<Flat>& nodes) { Sending(exec, nodes, false).send(); }

void send_home(CUgraphExec exec, const std::vector<Flat>& nodes) { Sending(exec, nodes, true).send(); }

}  // namespace flexrack::client::cuda
