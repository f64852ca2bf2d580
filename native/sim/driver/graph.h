// Graphs: work with dependencies, and what becomes of it when it is launched.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/driver/user_object.h"
#include "sim/driver/work.h"

namespace flexrack::sim {

class Graph;
struct GraphPlan;

namespace exec {
class Conditions;
}

/// Handles of conditions, as they were made for a graph. It, its child graphs and the bodies of its conditional nodes
/// have one of these together: a handle may be a node's in any of them (CUDA driver API,
/// cuGraphConditionalHandleCreate).
struct ConditionHandles {
  struct One {
    Ref<Context> context;
    unsigned value = 0;                        ///< at the begin of a launch
    bool has_value = false;                    ///< else it is what it was
  };
  mutable std::mutex lock;
  std::map<CUgraphConditionalHandle, One> all; ///< under lock

  ConditionHandles() = default;
  ConditionHandles(const ConditionHandles& other) {
    const std::lock_guard guard(other.lock);
    all = other.all;
  }
};

/// What a conditional node has beside its place.
struct Condition {
  CUgraphConditionalHandle handle = 0;
  CUgraphConditionalNodeType type{};
  std::vector<Ref<Graph>> bodies{};
  std::vector<CUgraph> handles{};              ///< of the bodies: what phGraph_out points to
};

/// A node. What it has is guarded by its graph's lock.
class GraphNode : public Object<GraphNode> {
 public:
  GraphNode(Graph& in, CUgraphNodeType of) : graph(&in), type(of) {}
  ~GraphNode();
  CUgraphNode handle() { return reinterpret_cast<CUgraphNode>(this); }

  struct Edge {
    GraphNode* node;
    CUgraphEdgeData data;
  };

  Graph* graph;                                ///< null: the node was destroyed
  const CUgraphNodeType type;
  WorkPointer work;                            ///< null: an empty node, a child graph, or a conditional node
  Ref<Context> context;                        ///< it runs in; null: that of the stream it is launched in
  Ref<Graph> child;
  std::unique_ptr<Condition> condition;        ///< of a conditional node
  std::vector<Edge> before, after;             ///< what it depends on, and what depends on it
  const void* original = nullptr;              ///< the node it was cloned from
  bool is_enabled = true;                      ///< in a graph that can be launched
  std::uint64_t number = 0;                    ///< in the order in which nodes were added
};

/// Locked by whoever uses it.
class Graph : public Object<Graph> {
 public:
  Graph() = default;
  ~Graph();
  CUgraph handle() { return reinterpret_cast<CUgraph>(this); }

  std::recursive_mutex lock;
  std::vector<Ref<GraphNode>> nodes;           ///< in the order in which they were added
  bool is_child = false;                       ///< of a node: it is not the application's to destroy
  unsigned depth = 0;                          ///< conditional nodes that it is in a body of, one in the other
  const void* original = nullptr;              ///< the graph it was cloned from
  std::shared_ptr<ConditionHandles> conditions = std::make_shared<ConditionHandles>();
  std::map<UserObject*, std::pair<Ref<UserObject>, unsigned>> user_objects;   ///< with how many references it has

  /// A node behind others. Throws CUDA_ERROR_INVALID_VALUE where one is not of this graph, or is given twice.
  Ref<GraphNode> add(CUgraphNodeType type, WorkPointer work, const CUgraphNode* before, std::size_t count,
                     const CUgraphEdgeData* data = nullptr);
  Ref<GraphNode> add_child(const Ref<Graph>& child, const CUgraphNode* before, std::size_t count,
                           const CUgraphEdgeData* data = nullptr);
  /// A conditional node with its bodies, which are empty. Throws CUDA_ERROR_INVALID_VALUE too where the handle is none
  /// of this graph's, or bodies are nested too deep.
  Ref<GraphNode> add_condition(const CUDA_CONDITIONAL_NODE_PARAMS& as, const CUgraphNode* before, std::size_t count,
                               const CUgraphEdgeData* data);
  void remove(GraphNode& node);
  /// It, or one of its child graphs, has conditional nodes.
  bool has_conditions() const;

  /// Nodes so that each comes behind those it depends on; empty where they depend on each other in a circle.
  std::vector<GraphNode*> in_order() const;
  /// With children. The works are the same ones: they do not change.
  Ref<Graph> clone() const;
  /// The node that was cloned from `node`, here or in a child; null where there is none.
  GraphNode* cloned_from(const void* node);

 private:
  Ref<Graph> clone_with(std::shared_ptr<ConditionHandles> handles) const;
  std::uint64_t last_number_ = 0;
};

/// A graph that can be launched. Thread-safe.
class GraphExec : public Object<GraphExec> {
 public:
  /// Throws CUDA_ERROR_INVALID_VALUE where nodes depend on each other in a circle.
  GraphExec(Graph& of, unsigned long long with_flags);
  CUgraphExec handle() { return reinterpret_cast<CUgraphExec>(this); }

  const unsigned long long flags;
  const std::uint64_t id;
  void launch(Stream& stream);
  /// What a node does from the next launch on. Throws CUDA_ERROR_INVALID_VALUE where it has no such node, or one of
  /// another type.
  void set(const GraphNode& node, WorkPointer work);
  void set_child(const GraphNode& node, const Graph& child);
  void enable(const GraphNode& node, bool is_enabled);
  bool is_enabled(const GraphNode& node);
  /// What a node does now.
  WorkPointer work(const GraphNode& node);
  /// As another graph of the same shape has it; else why not, and where.
  CUgraphExecUpdateResult update(Graph& to, CUgraphNode& wrong);

 private:
  GraphNode& own(const GraphNode& node);

  std::mutex lock_;
  Ref<Graph> graph_;
  std::map<const void*, GraphNode*> aliases_;  ///< nodes of graphs that it was updated from
  Ref<Command> last_;
  std::shared_ptr<const GraphPlan> plan_;      ///< null: something was changed since the last launch
};

/// Why a graph cannot be instantiated.
struct InstantiateError {
  CUresult status = CUDA_SUCCESS;
  CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  CUgraphNode node = nullptr;
};
/// What is wrong with its conditional nodes.
InstantiateError check_conditions(Graph& graph);

/// Throw CUDA_ERROR_INVALID_VALUE, as the graph functions do for handles too.
Ref<Graph> graph_of(CUgraph handle);
Ref<GraphNode> node_of(CUgraphNode handle);
Ref<GraphExec> exec_of(CUgraphExec handle);

}  // namespace flexrack::sim
