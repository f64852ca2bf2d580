// cuGraphDebugDotPrint: a graph as text for graphviz, in the form that the GPU in software gives.
#include <cstdio>

#include "client/cuda/graph.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

const char* name_of(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY: return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMSET: return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST: return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH: return "GRAPH";
    case CU_GRAPH_NODE_TYPE_EMPTY: return "EMPTY";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return "WAIT_EVENT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return "EVENT_RECORD";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return "MEM_ALLOC";
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return "MEM_FREE";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return "BATCH_MEM_OP";
    default: return "?";
  }
}

void print(std::FILE* file, CUgraph graph, const std::string& prefix) {
  std::map<CUgraphNode, std::string> names;
  for (const auto node : graph->nodes) names.emplace(node, prefix + std::to_string(names.size() + 1));
  for (const auto node : graph->nodes) {
    const auto& name = names[node];
    std::string label = name_of(node->type());
    if (!node->child && node->work->at) label += "\\n" + node->work->at->name;
    std::fprintf(file, "  \"%s\" [shape=box label=\"%s\\n%s\"];\n", name.c_str(), name.c_str(), label.c_str());
    for (const auto& edge : node->after) std::fprintf(file, "  \"%s\" -> \"%s\";\n", name.c_str(), names[edge.node].c_str());
    if (!node->child) continue;
    std::fprintf(file, "  subgraph \"cluster_%s\" {\n  label=\"%s\";\n", name.c_str(), name.c_str());
    print(file, node->child, name + ".");
    std::fprintf(file, "  }\n");
  }
}

}  // namespace

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!path || !is_live(hGraph)) return CUDA_ERROR_INVALID_VALUE;
  auto* const file = std::fopen(path, "we");
  if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
  std::fprintf(file, "digraph graph_%p {\n", static_cast<const void*>(hGraph));
  print(file, hGraph, "");
  std::fprintf(file, "}\n");
  return std::fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace flexrack::client::cuda
