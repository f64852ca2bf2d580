// cuGraphAdd*Node, *NodeGetParams, *NodeSetParams, cuGraphExec*NodeSetParams: one after the other by type.
#include "client/cuda/graph_conditions.h"
#include "client/cuda/graph_exec.h"
#include "client/cuda/graph_work.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

struct Place {
  CUgraphNode* made;
  CUgraph graph;
  const CUgraphNode* before;
  std::size_t count;
  const CUgraphEdgeData* data = nullptr;
  bool is_good() const { return made && is_live(graph) && (before || count == 0); }
};

/// `make(work)` answers what is wrong with the node; it is added where nothing is.
template <class Make>
CUresult add(const Place& place, Make&& make) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!place.is_good()) return CUDA_ERROR_INVALID_VALUE;
  WorkPointer work;
  if (const auto status = make(work); status != CUDA_SUCCESS) return status;
  return add_node(place.graph, {place.before, place.count}, place.data, std::move(work), *place.made);
}

template <class Make>
CUresult set(CUgraphNode node, Make&& make) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!is_live(node) || node->child) return CUDA_ERROR_INVALID_VALUE;
  WorkPointer work;
  if (const auto status = make(work); status != CUDA_SUCCESS) return status;
  if (work->type != node->work->type || work->memory || work->freed != 0) return CUDA_ERROR_INVALID_VALUE;
  node->work =
      work->type == CU_GRAPH_NODE_TYPE_KERNEL ? with_attributes(*work, node->work->attributes) : std::move(work);
  return CUDA_SUCCESS;
}

template <class Make>
CUresult set_in_exec(CUgraphExec exec, CUgraphNode node, Make&& make) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  WorkPointer work;
  if (const auto status = make(work); status != CUDA_SUCCESS) return status;
  return change_node(exec, node, work);
}

/// give(work) where the node is of that type and there is somewhere to put it.
template <class Give>
CUresult tell(CUgraphNode node, CUgraphNodeType type, const void* out, Give&& give) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!out || !is_live(node) || node->type() != type) return CUDA_ERROR_INVALID_VALUE;
  give(*node->work);
  return CUDA_SUCCESS;
}

template <class Params>
CUresult kernel_from(const Params* as, WorkPointer& work, CUcontext in = nullptr, CUfunction function = nullptr) {
  if (!as) return CUDA_ERROR_INVALID_VALUE;
  const Shape shape{
      {as->gridDimX, as->gridDimY, as->gridDimZ}, {as->blockDimX, as->blockDimY, as->blockDimZ}, as->sharedMemBytes};
  return kernel_work(
      in,
      {.function = function ? function : as->func, .shape = shape, .parameters = as->kernelParams, .extra = as->extra},
      work);
}
template <class Params>
CUresult newer_kernel_from(const Params* as, WorkPointer& work) {
  return as ? kernel_from(as, work, as->ctx, as->func ? as->func : reinterpret_cast<CUfunction>(as->kern))
            : CUDA_ERROR_INVALID_VALUE;
}

CUresult copy_from(CUcontext in, const CUDA_MEMCPY3D* as, WorkPointer& work) {
  return as ? copy_work(in, *as, work) : CUDA_ERROR_INVALID_VALUE;
}
CUresult fill_from(CUcontext in, const CUDA_MEMSET_NODE_PARAMS* as, WorkPointer& work) {
  return as ? fill_work(in, *as, work) : CUDA_ERROR_INVALID_VALUE;
}
CUresult host_from(const CUDA_HOST_NODE_PARAMS* as, WorkPointer& work) {
  return as ? host_work(as->fn, as->userData, work) : CUDA_ERROR_INVALID_VALUE;
}

CUresult allocation_from(const CUmemPoolProps& pool, const CUmemAccessDesc* accesses, std::size_t count,
                         std::size_t size, CUdeviceptr& address, WorkPointer& work) {
  if (pool.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || size == 0 || (!accesses && count > 0))
    return CUDA_ERROR_INVALID_VALUE;
  if (pool.handleTypes != CU_MEM_HANDLE_TYPE_NONE || pool.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_NOT_SUPPORTED;
  const auto* device = device_of(pool.location.id);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  const auto now = thread_state.current;
  const auto status = allocation_work(now && is_live(now) && now->device == device ? now : device->primary, size, work);
  if (status == CUDA_SUCCESS) address = work->memory->address;
  return status;
}

CUresult work_from(CUgraphNodeParams& as, WorkPointer& work) {
  switch (as.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return newer_kernel_from(&as.kernel, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_work(as.memcpy.copyCtx, as.memcpy.copyParams, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return fill_work(
          as.memset.ctx,
          {as.memset.dst, as.memset.pitch, as.memset.value, as.memset.elementSize, as.memset.width, as.memset.height},
          work);
    case CU_GRAPH_NODE_TYPE_HOST: return host_work(as.host.fn, as.host.userData, work);
    case CU_GRAPH_NODE_TYPE_EMPTY: return work = empty_work(), CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return event_work(as.type, as.eventWait.event, work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return event_work(as.type, as.eventRecord.event, work);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return allocation_from(as.alloc.poolProps, as.alloc.accessDescs, as.alloc.accessDescCount, as.alloc.bytesize,
                             as.alloc.dptr, work);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return freeing_work(as.free.dptr, work);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return operations_work(as.memOp.ctx, as.memOp.paramArray, as.memOp.count, as.memOp.flags, work);
    // Semaphores of other drivers: cuda.functions.
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult add_child_of(const Place& place, CUgraph child, bool is_moved) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!place.is_good() || !is_live(child) || (is_moved && (child->parent || child == place.graph)))
    return CUDA_ERROR_INVALID_VALUE;
  // "The graph must not contain conditional nodes" (cuda.h, CUDA_CHILD_GRAPH_NODE_PARAMS).
  if (has_conditions(child)) return CUDA_ERROR_NOT_SUPPORTED;
  // Memory is one graph's: such a child can only be moved.
  if (!is_moved && has_memory(child)) return CUDA_ERROR_NOT_SUPPORTED;
  const auto own = is_moved ? child : clone_graph(child);
  const auto status = add_child(place.graph, {place.before, place.count}, place.data, own, *place.made);
  if (status != CUDA_SUCCESS && !is_moved) destroy_graph(own);
  return status;
}

CUresult add_conditional(const Place& place, CUDA_CONDITIONAL_NODE_PARAMS& as) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!place.is_good()) return CUDA_ERROR_INVALID_VALUE;
  return add_condition(place.graph, {place.before, place.count}, place.data, as, *place.made);
}

CUresult add_any(const Place& place, CUgraphNodeParams* as) {
  if (!as) return CUDA_ERROR_INVALID_VALUE;
  if (as->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return add_child_of(place, as->graph.graph, as->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
  if (as->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) return add_conditional(place, as->conditional);
  return add(place, [&](WorkPointer& work) { return work_from(*as, work); });
}

}  // namespace

CUresult cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return kernel_from(nodeParams, work); });
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return newer_kernel_from(nodeParams, work); });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, [&](const Work& work) {
    const auto all = described(work);
    *nodeParams = {all.func ? all.func : reinterpret_cast<CUfunction>(all.kern),
                   all.gridDimX,
                   all.gridDimY,
                   all.gridDimZ,
                   all.blockDimX,
                   all.blockDimY,
                   all.blockDimZ,
                   all.sharedMemBytes,
                   all.kernelParams,
                   nullptr};
  });
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, [&](const Work& work) { *nodeParams = described(work); });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return set(hNode, [&](WorkPointer& work) { return kernel_from(nodeParams, work); });
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  return set(hNode, [&](WorkPointer& work) { return newer_kernel_from(nodeParams, work); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return set_in_exec(hGraphExec, hNode, [&](WorkPointer& work) { return kernel_from(nodeParams, work); });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  return set_in_exec(hGraphExec, hNode, [&](WorkPointer& work) { return newer_kernel_from(nodeParams, work); });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return copy_from(ctx, copyParams, work); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams, [&](const Work& work) { *nodeParams = work.copy; });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
  const auto in = is_live(hNode) && hNode->work ? hNode->work->context : nullptr;
  return set(hNode, [&](WorkPointer& work) { return copy_from(in, nodeParams, work); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D* copyParams,
                                        CUcontext ctx) {
  return set_in_exec(hGraphExec, hNode, [&](WorkPointer& work) { return copy_from(ctx, copyParams, work); });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return fill_from(ctx, memsetParams, work); });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams, [&](const Work& work) { *nodeParams = work.fill; });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  const auto in = is_live(hNode) && hNode->work ? hNode->work->context : nullptr;
  return set(hNode, [&](WorkPointer& work) { return fill_from(in, nodeParams, work); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
  return set_in_exec(hGraphExec, hNode, [&](WorkPointer& work) { return fill_from(ctx, memsetParams, work); });
}

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                            size_t numDependencies, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return host_from(nodeParams, work); });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, [&](const Work& work) { *nodeParams = work.host; });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return set(hNode, [&](WorkPointer& work) { return host_from(nodeParams, work); });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return set_in_exec(hGraphExec, hNode, [&](WorkPointer& work) { return host_from(nodeParams, work); });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  size_t numDependencies, CUgraph childGraph) {
  return add_child_of({phGraphNode, hGraph, dependencies, numDependencies}, childGraph, false);
}
CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                             size_t numDependencies) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return work = empty_work(), CUDA_SUCCESS; });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   size_t numDependencies, CUevent event) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, work); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out, [&](const Work& work) { *event_out = work.event; });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return set(hNode, [&](WorkPointer& work) { return event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, work); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  return set_in_exec(hGraphExec, hNode,
                     [&](WorkPointer& work) { return event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, work); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 size_t numDependencies, CUevent event) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, work); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out, [&](const Work& work) { *event_out = work.event; });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return set(hNode, [&](WorkPointer& work) { return event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, work); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  return set_in_exec(hGraphExec, hNode,
                     [&](WorkPointer& work) { return event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, work); });
}

namespace {
CUresult operations_from(const CUDA_BATCH_MEM_OP_NODE_PARAMS* as, WorkPointer& work) {
  return as ? operations_work(as->ctx, as->paramArray, as->count, as->flags, work) : CUDA_ERROR_INVALID_VALUE;
}
}  // namespace

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return operations_from(nodeParams, work); });
}
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams_out, [&](const Work& work) {
    *nodeParams_out = {work.context, static_cast<unsigned>(work.operations.size()),
                       const_cast<CUstreamBatchMemOpParams*>(work.operations.data()), work.flags};
  });
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return set(hNode, [&](WorkPointer& work) { return operations_from(nodeParams, work); });
}
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return set_in_exec(hGraphExec, hNode, [&](WorkPointer& work) { return operations_from(nodeParams, work); });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  return add({phGraphNode, hGraph, dependencies, numDependencies}, [&](WorkPointer& work) {
    if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
    return allocation_from(nodeParams->poolProps, nodeParams->accessDescs, nodeParams->accessDescCount,
                           nodeParams->bytesize, nodeParams->dptr, work);
  });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out, [&](const Work& work) {
    *params_out = {};
    params_out->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params_out->poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, work.memory->device->ordinal};
    params_out->bytesize = work.memory->size;
    params_out->dptr = work.memory->address;
  });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               size_t numDependencies, CUdeviceptr dptr) {
  return add({phGraphNode, hGraph, dependencies, numDependencies},
             [&](WorkPointer& work) { return freeing_work(dptr, work); });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
  return tell(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out, [&](const Work& work) { *dptr_out = work.freed; });
}

CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return add_any({phGraphNode, hGraph, dependencies, numDependencies}, nodeParams);
}
CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* dependencyData, size_t numDependencies,
                           CUgraphNodeParams* nodeParams) {
  return add_any({phGraphNode, hGraph, dependencies, numDependencies, dependencyData}, nodeParams);
}
CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  if (nodeParams && nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) return CUDA_ERROR_NOT_SUPPORTED;
  return set(hNode,
             [&](WorkPointer& work) { return nodeParams ? work_from(*nodeParams, work) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  if (nodeParams && nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return cuda::cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode, nodeParams->graph.graph);
  if (nodeParams && nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) return CUDA_ERROR_NOT_SUPPORTED;
  return set_in_exec(hGraphExec, hNode, [&](WorkPointer& work) {
    return nodeParams ? work_from(*nodeParams, work) : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace flexrack::client::cuda
