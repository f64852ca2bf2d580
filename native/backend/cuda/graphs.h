// Graphs that are instantiated: the client has built them, and says all of them at once. What they do in the client:
// graph_host.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "backend/cuda/core.h"
#include "backend/cuda/graph_host.h"

namespace flexrack::backend::cuda {

class CallContext;
class Graphs;
class Launches;
class Transfers;

/// Whom the driver's graphs tell that they are gone, for as long as there is somebody.
struct GraphOwner {
  std::mutex lock;
  Graphs* graphs = nullptr;
};

class Graphs : public virtual cu::Requests {
 public:
  Graphs(Core& core, Transfers& transfers, Launches& launches)
      : core_(core), transfers_(transfers), launches_(launches) {}

  void start();
  /// Nothing is waited for in the client any more.
  void end() { host_.end(); }
  /// All of them are about to be destroyed: what they have of ours goes with the last of them.
  void forget_all() { stops_.clear(), exec_stops_.clear(); }
  /// From now on the driver tells nobody that they are gone.
  void leave();

  /// The client has run that function of a graph. False: there is none.
  bool ran(std::uint64_t run) { return (run & GraphHost::kRun) != 0 && host_.ran(run); }
  /// An object of the session's is gone, perhaps one of ours.
  void forget(std::uint64_t handle);
  /// The same of a part of another object.
  void dropped(const Record& gone);

 private:
  void on(const cu::CreateGraph& m) override;
  void on(const cu::AddNode& m) override;
  void on(const cu::SetExecNode& m) override;
  void on(const cu::EnableNode& m) override;
  void on(const cu::LaunchGraph& m) override;
  void on(const cu::GraphInput& m) override;
  void on(const cu::Instantiate& m, Respond<cu::InstantiateReply> respond) override;
  void on(const cu::UpdateExec& m, Respond<cu::UpdateExecReply> respond) override;
  void on(const cu::ConditionalHandle& m, Respond<cu::ConditionalHandleReply> respond) override;
  void on(const cu::AddCondition& m) override;
  void on(const cu::ClearGraph& m) override;

  /// A graph on its way to be instantiated: the first thing that was wrong with it.
  struct GraphError {
    CUresult status = CUDA_SUCCESS;
    std::uint64_t node = 0;
  };
  /// Memory that the nodes of a graph name. A driver believes for ever what it was told when the node was made, so it
  /// is looked at again when the graph is launched.
  struct NamedMemory {
    std::map<std::uint64_t, std::vector<Stretch>> nodes{};   ///< by handle of the node
    std::set<std::uint64_t> disabled{};                      ///< nodes that launches leave out
    std::uint64_t seen = ~std::uint64_t{0};  ///< AddressMap::removals() when all of it was last there
  };
  /// A body of a conditional node, whose graph may be one too.
  struct Body {
    std::uint64_t root = 0;            ///< the graph that is instantiated
    unsigned depth = 1;                ///< conditional nodes that it is inside of
  };
  /// What a graph that has conditions is remembered with.
  struct Conditional {
    std::map<std::uint64_t, std::uint64_t> contexts{};   ///< handle of its context, by number of the condition
    std::vector<CUuserObject> objects{};                 ///< what it has of ours
  };
  /// A stop as the client names it: by a node of a graph, and of what was instantiated from that for as long as one of
  /// the two is there. The driver's graphs own it.
  struct NamedStop {
    GraphStop* stop = nullptr;
    std::uint64_t graph = 0;           ///< whose node it is; 0: that is gone, and what was instantiated is there
    CUgraphNode copy = nullptr;        ///< the copy that an input or output belongs to, in that graph
    std::size_t execs = 0;
  };
  /// The graph that is instantiated with it, which may be itself.
  std::uint64_t root_of(std::uint64_t graph) const;
  /// Tells of what was wrong with a node: by instantiate, which all this is for; else now.
  void refuse_node(CallContext& call, std::uint64_t graph, std::uint64_t node);
  bool is_memory_there(std::uint64_t exec);
  GraphStop* make_stop(CallContext& call, const cu::AddNode& m);
  GraphStop* share_stop(CallContext& call, const cu::AddNode& m, GraphStop::Sort sort);
  bool stage(CallContext& call, GraphStop& stop, const cu::NodeWork& work);
  GraphStop* stop_of(std::uint64_t node, GraphStop::Sort sort);
  bool expect_input(GraphStop& stop, std::uint64_t context, const wire::Payload& data);
  void forget_stop(GraphStop* stop);
  void forget_exec(std::uint64_t exec);

  Core& core_;
  Transfers& transfers_;
  Launches& launches_;
  std::map<std::uint64_t, GraphError> errors_;  ///< by handle of the graph
  std::map<std::uint64_t, NamedMemory> graph_memory_, exec_memory_;  ///< by handle, of those that name any
  std::map<std::uint64_t, Body> bodies_;               ///< by handle
  std::map<std::uint64_t, Conditional> conditionals_;  ///< by handle of the graph
  std::size_t conditions_ = 0;                         ///< of all of them
  std::map<std::uint64_t, NamedStop> stops_;           ///< by handle of the node
  std::map<std::uint64_t, std::vector<std::uint64_t>> exec_stops_;   ///< what each has, by these handles
  GraphHost host_;
  std::shared_ptr<GraphOwner> owner_ = std::make_shared<GraphOwner>();
};

}  // namespace flexrack::backend::cuda
