#include "cuda/graph_dot.h"

#include <cstdio>

namespace flexrack::cuda {
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
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return "CONDITIONAL";
    default: return "?";
  }
}

void write_nodes(std::FILE* file, const std::vector<DotNode>& graph, const std::string& prefix) {
  for (const auto& node : graph) {
    const auto name = prefix + std::to_string(node.number);
    std::string label = name_of(node.type);
    if (!node.kernel.empty()) label += "\\n" + node.kernel;
    std::fprintf(file, "  \"%s\" [shape=box label=\"%s\\n%s\"];\n", name.c_str(), name.c_str(), label.c_str());
    for (const auto after : node.after) {
      std::fprintf(file, "  \"%s\" -> \"%s%s\";\n", name.c_str(), prefix.c_str(), std::to_string(after).c_str());
    }
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      // Bodies of a conditional node are told apart by their number.
      const auto part = node.parts.size() > 1 ? name + "#" + std::to_string(i) : name;
      std::fprintf(file, "  subgraph \"cluster_%s\" {\n  label=\"%s\";\n", part.c_str(), part.c_str());
      write_nodes(file, node.parts[i], part + ".");
      std::fprintf(file, "  }\n");
    }
  }
}

}  // namespace

bool write_dot(const std::vector<DotNode>& graph, const void* name, const char* path) {
  auto* const file = std::fopen(path, "we");
  if (!file) return false;
  std::fprintf(file, "digraph graph_%p {\n", name);
  write_nodes(file, graph, "");
  std::fprintf(file, "}\n");
  return std::fclose(file) == 0;
}

}  // namespace flexrack::cuda
