// A graph as text for graphviz: what cuGraphDebugDotPrint of both drivers writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gen/cuda/cuda.h"

namespace flexrack::cuda {

struct DotNode {
  std::uint64_t number = 0;  ///< in its graph
  CUgraphNodeType type{};
  std::string kernel{};                ///< its name
  std::vector<std::uint64_t> after{};  ///< numbers of those that depend on it
  std::vector<std::vector<DotNode>> parts{};   ///< a child graph; the bodies of a conditional node
};

/// Into a file of that path; `name` is the graph's. False: it cannot be written.
bool write_dot(const std::vector<DotNode>& graph, const void* name, const char* path);

}  // namespace flexrack::cuda
