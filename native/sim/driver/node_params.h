// What graph nodes are described by, and the work that they mean.
#pragma once

#include "sim/driver/graph.h"
#include "sim/driver/kernel_work.h"

namespace flexrack::sim {

// These throw what making the work throws: CUDA_ERROR_INVALID_VALUE and so on.
std::shared_ptr<KernelWork> kernel_from(const CUDA_KERNEL_NODE_PARAMS_v2& as, const KernelWork* before = nullptr);
WorkPointer copy_from(const CUDA_MEMCPY3D& as);
WorkPointer fill_from(const CUDA_MEMSET_NODE_PARAMS_v1& as);
WorkPointer host_from(CUhostFn function, void* data);
WorkPointer values_from(CUstreamBatchMemOpParams* operations, unsigned count, unsigned flags);
WorkPointer allocate_from(CUDA_MEM_ALLOC_NODE_PARAMS_v1& as);
WorkPointer free_from(CUdeviceptr address);

CUDA_KERNEL_NODE_PARAMS_v2 described(const KernelWork& work);

/// The context of a node: the given one, or the current one.
Ref<Context> node_context(CUcontext given);

/// Of any type but child graphs and empty nodes; null for an empty node. Writes back what an allocation node answers.
/// Throws CUDA_ERROR_NOT_SUPPORTED for semaphore nodes, CUDA_ERROR_INVALID_VALUE for conditional ones.
WorkPointer work_from(CUgraphNodeParams& as);
/// The context in such a description; null where it has none.
CUcontext context_in(const CUgraphNodeParams& as);

/// The work of a node as what it has to be. Throws CUDA_ERROR_INVALID_VALUE where the node is of another type.
template <class T>
const T& work_of(const GraphNode& node) {
  const auto* work = dynamic_cast<const T*>(node.work.get());
  require(work, CUDA_ERROR_INVALID_VALUE, "a node of another type");
  return *work;
}

}  // namespace flexrack::sim
