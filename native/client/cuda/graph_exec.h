// A graph that can be launched: a clone here, and a flat copy at each server that has a part of it.
#pragma once

#include <deque>

#include "client/cuda/graph.h"
#include "client/cuda/graph_memory.h"
#include "client/cuda/graph_partition.h"
#include "client/cuda/peer.h"

namespace flexrack::client::cuda {

/// What one launch does in this process at one node.
struct Pending {
  std::shared_ptr<HostWork> work;      ///< finished when it is done
  HostWorks behind{};                  ///< what it comes after in this process
  std::function<void()> action{};
};

/// A node that does something in this process: a host function, a copy from here to here, bytes that leave from here or
/// land here.
struct Stop {
  std::uint64_t function = 0;          ///< the server's number for what it has this process do there; 0: nothing
  // By these the server knows it for as long as it is executable; 0: not yet.
  std::uint64_t node = 0;
  std::uint64_t first = 0;             ///< of an input that is late: what asks for its bytes
  bool is_late =
      false;  ///< an input that depends on what the same launch does here: its bytes leave when the server asks
  std::vector<CUgraphNode> outputs{};  ///< whose bytes land here before it
  std::mutex lock;
  std::deque<Pending> pending{};  ///< under lock: of launches under way, in their order
  bool is_gone = false;  ///< under lock: it is not launched again
};

/// What one server has of it, to be launched as one.
struct Part {
  CudaServer* server = nullptr;
  std::uint64_t graph_handle = 0;      ///< of the server's copy
  bool is_home = false;  ///< that is the graph of its conditions, which others may be put into after it
  std::uint64_t handle = 0;  ///< of what that was instantiated to; 0: not yet
};

/// Its stream at a server.
struct Lane {
  CUcontext context = nullptr;
  StreamAt ours{};  ///< in that context as it was; stream 0: not yet needed
};

/// How it is launched where it lies on several servers, or the stream is at another one.
struct Across {
  std::vector<Step> steps{};
  std::size_t signals = 0;
  std::map<CudaServer*, Lane> lanes{};
  std::vector<CUgraphNode> copies{};  ///< from server to server, by the number that steps have
};

}  // namespace flexrack::client::cuda

struct CUgraphExec_st : fc::Object {
  std::uint64_t flags = 0;
  CUgraph graph = nullptr;  ///< its own clone, whose works are what the servers have
  std::vector<fc::Part> parts;  ///< nodes name theirs by number
  fc::Across across;
  /// Its nodes in the graph of its conditions are not those that it was instantiated from, or are out of date: it is
  /// changed as a whole.
  bool is_renamed = false, is_behind = false;
  std::map<std::uint64_t, CUgraphNode> nodes;  ///< the clone's, by the id of what each was made or updated from
  // Leaves of the clone, each behind those it depends on.
  std::vector<CUgraphNode> stops, records;
  std::vector<std::shared_ptr<fc::GraphMemory>> memory;  ///< all that it allocates
  std::vector<CUdeviceptr> freed;
  CUgraphExec_st() : Object(fc::Kind::exec) {}
};

namespace flexrack::client::cuda {

/// Runs a stop's next pending action: what the server's host function calls.
void run_stop(Stop& stop);

/// The part that has the node; null: it is a copy between servers, which none has.
inline const Part* part_of(CUgraphExec exec, CUgraphNode node) {
  return node->part < exec->parts.size() ? &exec->parts[node->part] : nullptr;
}

/// All with the lock of graphs held.
CUresult instantiate(CUgraph graph, std::uint64_t flags, CUstream upload_stream, CUgraphExec& made, CUgraphNode& wrong,
                     CUgraphInstantiateResult& result);
void destroy_exec(CUgraphExec exec);
/// The clone's node for one of the graph it was made or updated from; null where there is none.
CUgraphNode node_of(CUgraphExec exec, CUgraphNode node);
/// From the next launch on the node does that. CUDA_ERROR_INVALID_VALUE where it is not the like of what it does now.
CUresult change_node(CUgraphExec exec, CUgraphNode node, const WorkPointer& work);

}  // namespace flexrack::client::cuda
