// Graphs as they are here: nodes, what they do, what they come after. A server learns of a graph when it is
// instantiated, so nothing that is asked travels.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "client/cuda/launch.h"
#include "client/cuda/rows.h"

namespace flexrack::client::cuda {

struct ConditionHome;
struct GraphMemory;
struct Stop;

/// What a node does. Never changes: clones share it, and a node that is to do something else gets another one.
struct Work {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUcontext context = nullptr;                 ///< it runs in; null: in none
  std::uint64_t context_handle = 0;
  // kernel
  CUfunction function = nullptr;               ///< as it was named: this one or `kernel`
  CUkernel kernel = nullptr;
  const KernelAt* at = nullptr;
  Shape shape{};
  wire::Bytes parameters{};                    ///< packed
  std::vector<void*> addresses{};              ///< of each of them in there
  std::vector<CUlaunchAttribute> attributes{};
  // copy
  CUDA_MEMCPY3D copy{};
  Side source{}, target{};
  cu::Extent extent{};
  // all others
  CUDA_MEMSET_NODE_PARAMS fill{};
  CUDA_HOST_NODE_PARAMS host{};
  CUevent event = nullptr;
  std::vector<CUstreamBatchMemOpParams> operations{};
  unsigned flags = 0;
  std::shared_ptr<GraphMemory> memory{};       ///< of an allocation
  CUdeviceptr freed = 0;
  CUgraphConditionalHandle condition = 0;      ///< of a conditional node
  CUgraphConditionalNodeType condition_type{};

  bool is_copy() const { return type == CU_GRAPH_NODE_TYPE_MEMCPY; }
  bool is_input() const { return is_copy() && source.host && !target.host; }
  bool is_output() const { return is_copy() && !source.host && target.host; }
  /// Something that happens in this process each time: a host function, or a copy from here to here.
  bool is_call() const { return type == CU_GRAPH_NODE_TYPE_HOST || (is_copy() && source.host && target.host); }
  /// From one server to another.
  bool is_between() const { return is_copy() && source.server && target.server && source.server != target.server; }
  std::size_t bytes() const { return extent.width * extent.height * extent.depth; }
};
using WorkPointer = std::shared_ptr<const Work>;

/// Guards all graphs, what they were instantiated to, and captures.
std::recursive_mutex& graphs_lock();

}  // namespace flexrack::client::cuda

struct CUgraphNode_st : fc::Object {
  struct Edge {
    CUgraphNode node;
    CUgraphEdgeData data;
  };
  CUgraph graph = nullptr;
  std::uint64_t id = 0;                ///< never twice in a process
  std::uint64_t original = 0;          ///< id of the node it was cloned from
  fc::WorkPointer work;
  CUgraph child = nullptr;             ///< of the node; null: it is no child graph
  std::vector<CUgraph> bodies;         ///< of a conditional node, as many as there were at first
  std::vector<Edge> before, after;     ///< what it depends on, and what depends on it
  // Of what is instantiated: its own clone of the graph. `handle` is that of the last of its nodes at the server.
  std::size_t part = 0;                ///< of those of what is instantiated
  bool is_enabled = true;
  std::shared_ptr<fc::Stop> stop{};    ///< what it does in this process at each launch
  CUgraphNode_st() : Object(fc::Kind::node) {}
  CUgraphNodeType type() const { return child ? CU_GRAPH_NODE_TYPE_GRAPH : work->type; }
};

struct CUgraph_st : fc::Object {
  std::vector<CUgraphNode> nodes;      ///< in the order in which they were added
  CUgraphNode parent = nullptr;        ///< it is that node's, and not the application's to destroy
  std::uint64_t id = 0, original = 0;  ///< as of nodes
  std::map<CUuserObject, unsigned> user_objects;   ///< with how many references
  std::shared_ptr<fc::ConditionHome> home;         ///< of conditions that were made for it or a part of it
  CUgraph_st() : Object(fc::Kind::graph) {}
};

namespace flexrack::client::cuda {

/// All that follows with the lock held. Handles that applications name: CUDA_ERROR_INVALID_VALUE where they are none.
CUresult check_graph(CUgraph graph);
CUresult check_node(CUgraphNode node);

/// A node behind others, each of the same graph and named once.
CUresult add_node(CUgraph graph, std::span<const CUgraphNode> before, const CUgraphEdgeData* data, WorkPointer work,
                  CUgraphNode& made);
/// Takes the child over: it is a graph of nobody else's.
CUresult add_child(CUgraph graph, std::span<const CUgraphNode> before, const CUgraphEdgeData* data, CUgraph child,
                   CUgraphNode& made);
/// Graphs that are the node's: a child graph, or the bodies of a conditional node.
std::span<const CUgraph> parts_of(const CUgraphNode& node);
/// Clears `wrong` where all is well.
CUresult check_order(CUgraph graph, CUgraphNode& wrong);
/// Nodes so that each comes behind those it depends on; fewer than there are where some depend on each other in a
/// circle.
std::vector<CUgraphNode> in_order(CUgraph graph);

CUgraph make_graph();
/// With its children and bodies; user objects are referred to by it too.
CUgraph clone_graph(CUgraph graph);
void destroy_graph(CUgraph graph);
/// In the graph or in a part of it; null where there is none.
CUgraphNode cloned_from(CUgraph graph, std::uint64_t original);
/// Allocations and what frees them, which keep a graph from being cloned or made smaller.
bool has_memory(CUgraph graph);

}  // namespace flexrack::client::cuda
