// cuGraphDebugDotPrint: a graph as text for graphviz.
#include "cuda/graph_dot.h"

#include "client/cuda/graph.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

using flexrack::cuda::DotNode;

std::vector<DotNode> described(CUgraph graph) {
  std::map<CUgraphNode, std::uint64_t> numbers;
  for (const auto node : graph->nodes) numbers.emplace(node, numbers.size() + 1);
  std::vector<DotNode> all;
  for (const auto node : graph->nodes) {
    DotNode one{.number = numbers[node], .type = node->type()};
    if (!node->child && node->work->at) one.kernel = node->work->at->name;
    for (const auto& edge : node->after) one.after.push_back(numbers[edge.node]);
    if (node->child) one.parts = {described(node->child)};
    for (const auto body : node->bodies) one.parts.push_back(described(body));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!path || !is_live(hGraph)) return CUDA_ERROR_INVALID_VALUE;
  return flexrack::cuda::write_dot(described(hGraph), hGraph, path) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace flexrack::client::cuda
