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

/// A node. What it has is guarded by its graph's lock.
class GraphNode : public Object<GraphNode> {
 public:
  GraphNode(Graph& in, CUgraphNodeType of) : graph(&in), type(of) {}
  CUgraphNode handle() { return reinterpret_cast<CUgraphNode>(this); }

  struct Edge {
    GraphNode* node;
    CUgraphEdgeData data;
  };

  Graph* graph;                                ///< null: the node was destroyed
  const CUgraphNodeType type;
  WorkPointer work;                            ///< null: an empty node, or a child graph
  Ref<Context> context;                        ///< it runs in; null: that of the stream it is launched in
  Ref<Graph> child;
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
  const void* original = nullptr;              ///< the graph it was cloned from
  std::map<UserObject*, std::pair<Ref<UserObject>, unsigned>> user_objects;   ///< with how many references it has

  /// A node behind others. Throws CUDA_ERROR_INVALID_VALUE where one is not of this graph, or is given twice.
  Ref<GraphNode> add(CUgraphNodeType type, WorkPointer work, const CUgraphNode* before, std::size_t count,
                     const CUgraphEdgeData* data = nullptr);
  Ref<GraphNode> add_child(const Ref<Graph>& child, const CUgraphNode* before, std::size_t count,
                           const CUgraphEdgeData* data = nullptr);
  void remove(GraphNode& node);

  /// Nodes so that each comes behind those it depends on; empty where they depend on each other in a circle.
  std::vector<GraphNode*> in_order() const;
  /// With children. The works are the same ones: they do not change.
  Ref<Graph> clone() const;
  /// The node that was cloned from `node`, here or in a child; null where there is none.
  GraphNode* cloned_from(const void* node);

 private:
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
};

/// Throw CUDA_ERROR_INVALID_VALUE, as the graph functions do for handles too.
Ref<Graph> graph_of(CUgraph handle);
Ref<GraphNode> node_of(CUgraphNode handle);
Ref<GraphExec> exec_of(CUgraphExec handle);

}  // namespace flexrack::sim
