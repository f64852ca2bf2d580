// What both drivers do alike with the nodes of a graph. A node has `before` and `after`: edges, each with a `node` and
// `data`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/graph_facts.h"

namespace flexrack::cuda {

template <class Node>
void connect(Node& from, Node& to, const CUgraphEdgeData& data = {}) {
  from.after.push_back({&to, data});
  to.before.push_back({&from, data});
}

template <class Node>
bool has_edge(const Node& from, const Node& to) {
  return std::any_of(from.after.begin(), from.after.end(), [&](const auto& edge) { return edge.node == &to; });
}

/// False where there is no such edge.
template <class Node>
bool disconnect(Node& from, Node& to) {
  std::erase_if(to.before, [&](const auto& edge) { return edge.node == &from; });
  return std::erase_if(from.after, [&](const auto& edge) { return edge.node == &to; }) > 0;
}

/// From all that it depends on, and all that depends on it.
template <class Node>
void isolate(Node& node) {
  for (const auto& edge : std::vector(node.before)) disconnect(*edge.node, node);
  for (const auto& edge : std::vector(node.after)) disconnect(node, *edge.node);
}

/// Nodes so that each comes behind those it depends on. Those in a circle, and what is behind one, are missing.
template <class Node, class Nodes>
std::vector<Node*> in_order(const Nodes& nodes) {
  std::map<const Node*, std::size_t> missing;
  std::vector<Node*> order;
  for (const auto& node : nodes) {
    if (node->before.empty()) order.push_back(&*node);
    else missing[&*node] = node->before.size();
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const auto& edge : order[i]->after)
      if (--missing[edge.node] == 0) order.push_back(edge.node);
  return order;
}

/// Arrays that a caller has for edges; `other` and `data` may be null.
struct EdgeArrays {
  CUgraphNode* nodes;
  CUgraphNode* other;
  CUgraphEdgeData* data;
};

/// Edges, as pairs of a node and one of its edges, into arrays: see give_list. Their data is lost to who has no place
/// for it, which is an error where there is some.
template <class Pairs, class HandleOf>
CUresult give_edges(const Pairs& all, EdgeArrays out, std::size_t* count, HandleOf&& handle_of) {
  const auto is_told = [](const auto& one) { return is_plain(one.second.data); };
  if (out.nodes && !out.data && !std::all_of(all.begin(), all.end(), is_told)) return CUDA_ERROR_LOSSY_QUERY;
  const bool is_given = give_list(all.size(), count, out.nodes, [&](std::size_t i, bool is_there) {
    // With two arrays both ends, with one the end that is not the node that was asked about.
    if (out.other) out.nodes[i] = is_there ? handle_of(*all[i].first) : nullptr;
    (out.other ? out.other : out.nodes)[i] = is_there ? handle_of(*all[i].second.node) : nullptr;
    if (out.data) out.data[i] = is_there ? all[i].second.data : CUgraphEdgeData{};
  });
  return is_given ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Of a whole graph.
template <class Nodes, class HandleOf>
CUresult give_all_edges(const Nodes& nodes, EdgeArrays out, std::size_t* count, HandleOf&& handle_of) {
  using Node = std::remove_cvref_t<decltype(**nodes.begin())>;
  std::vector<std::pair<Node*, typename Node::Edge>> all;
  for (const auto& node : nodes)
    for (const auto& edge : node->after) all.emplace_back(&*node, edge);
  return give_edges(all, out, count, handle_of);
}

/// What a node depends on, or what depends on it.
template <class Node, class HandleOf>
CUresult give_neighbours(Node& node, std::vector<typename Node::Edge> Node::* which, CUgraphNode* out,
                         CUgraphEdgeData* data, std::size_t* count, HandleOf&& handle_of) {
  std::vector<std::pair<Node*, typename Node::Edge>> all;
  for (const auto& edge : node.*which) all.emplace_back(&node, edge);
  return give_edges(all, {out, nullptr, data}, count, handle_of);
}

}  // namespace flexrack::cuda
