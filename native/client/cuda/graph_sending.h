// A graph as servers know it: flat, and told to them node by node.
#pragma once

#include "client/cuda/graph_exec.h"

namespace flexrack::client::cuda {

/// A node as servers know it: a leaf, or the end of a child graph.
struct Flat {
  CUgraphNode node;
  std::vector<std::size_t> before;     ///< by number
  std::vector<std::vector<Flat>> bodies{};   ///< of a conditional node
};

/// All nodes of a graph and its children, each behind those it depends on. Bodies are graphs of their own. What is
/// executed learns under which numbers its nodes may be named.
std::vector<Flat> flattened(CUgraphExec exec, CUgraph graph);

/// Tells servers of their nodes, in graphs that are made for them, or in the graph of its conditions, which is emptied.
void send_parts(CUgraphExec exec, const std::vector<Flat>& nodes);
/// The graph of its conditions becomes what `exec` is to be updated to.
void send_home(CUgraphExec exec, const std::vector<Flat>& nodes);

}  // namespace flexrack::client::cuda
