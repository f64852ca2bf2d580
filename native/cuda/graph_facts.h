// What both drivers do alike for who asks about graphs.
#pragma once

#include <algorithm>
#include <cstddef>

#include "gen/cuda/cuda.h"

namespace flexrack::cuda {

/// An edge that the functions from before edges had data can tell of.
inline bool is_plain(const CUgraphEdgeData& data) {
  return data.from_port == 0 && data.to_port == 0 && data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
}

/// Fills arrays as all functions of this kind do: without an array the number there is; with one as many as it has
/// room for, nulls behind. `give(i, is_there)` writes one. False: there is no place for the number.
template <class Give>
bool give_list(std::size_t there, std::size_t* count, bool has_arrays, Give&& give) {
  if (!count) return false;
  if (has_arrays) {
    for (std::size_t i = 0; i < *count; ++i) give(i, i < there);
  }
  *count = has_arrays ? std::min(*count, there) : there;
  return true;
}

/// Attributes that a kernel has in a graph, too.
inline bool is_for_nodes(CUlaunchAttributeID which) {
  switch (which) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return true;
    default: return false;
  }
}

/// What CUDA lets bodies of conditional nodes have (cuda.h, CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out).
inline bool may_be_in_body(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return true;
    default: return false;
  }
}

}  // namespace flexrack::cuda
