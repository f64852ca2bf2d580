// What tests of graphs share.
#pragma once

#include <vector>

#include "driver_rig.h"

namespace flexrack::test::driver {

inline CUgraph make_graph() {
  CUgraph graph = nullptr;
  CU(cuGraphCreate(&graph, 0));
  return graph;
}

inline CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0) {
  CUgraphExec exec = nullptr;
  CU(cuGraphInstantiateWithFlags(&exec, graph, flags));
  return exec;
}

/// A kernel `fill` or `add` with its parameters.
struct KernelNode {
  KernelNode(Rig& rig, const char* name, CUdeviceptr at, unsigned with, unsigned number)
      : to(at), value(with), count(number) {
    as.func = rig.kernel(name);
    as.gridDimX = (count + 127) / 128;
    as.gridDimY = as.gridDimZ = as.blockDimY = as.blockDimZ = 1;
    as.blockDimX = 128;
    as.kernelParams = parameters;
  }
  CUdeviceptr to;
  unsigned value, count;
  void* parameters[3] = {&to, &value, &count};
  CUDA_KERNEL_NODE_PARAMS as{};
};

inline std::vector<CUgraphNode> nodes_of(CUgraph graph) {
  size_t count = 0;
  CU(cuGraphGetNodes(graph, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  CU(cuGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

inline size_t edge_count(CUgraph graph) {
  size_t count = 0;
  CU(cuGraphGetEdges(graph, nullptr, nullptr, &count));
  return count;
}

inline CUgraphNodeType type_of(CUgraphNode node) {
  CUgraphNodeType type{};
  CU(cuGraphNodeGetType(node, &type));
  return type;
}

}  // namespace flexrack::test::driver
