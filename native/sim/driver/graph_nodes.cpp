// cuGraphAdd*Node, *NodeGetParams, *NodeSetParams, cuGraphExec*NodeSetParams: one after the other by type.
#include "sim/driver/copy_work.h"
#include "sim/driver/event.h"
#include "sim/driver/fill_work.h"
#include "sim/driver/graph.h"
#include "sim/driver/host_work.h"
#include "sim/driver/node_params.h"
#include "sim/driver/pool_work.h"
#include "sim/driver/value_work.h"

namespace flexrack::sim {
namespace {

struct Place {
  CUgraphNode* made;
  CUgraph graph;
  const CUgraphNode* before;
  std::size_t count;
  const CUgraphEdgeData* data = nullptr;
};

void add(const Place& place, WorkPointer work, Ref<Context> context = nullptr) {
  const auto graph = graph_of(place.graph);
  const std::lock_guard guard(graph->lock);
  const auto type = work ? work->type() : CU_GRAPH_NODE_TYPE_EMPTY;
  const auto node = graph->add(type, std::move(work), place.before, place.count, place.data);
  node->context = std::move(context);
  *place.made = node->handle();
}

/// `make` gives the work; the node is added where that did not throw.
template <class Make>
CUresult add_node(const Place& place, Make&& make, Ref<Context> context = nullptr) {
  return call([&] {
    require(place.made);
    graph_of(place.graph);
    add(place, make(), context);
  });
}

template <class Make>
CUresult add_node_in(const Place& place, CUcontext context, Make&& make) {
  return call([&] {
    require(place.made);
    graph_of(place.graph);
    auto home = node_context(context);
    add(place, make(), std::move(home));
  });
}

template <class Make>
CUresult set_node(CUgraphNode handle, Make&& make) {
  return call([&] {
    const auto node = node_of(handle);
    WorkPointer work = make(*node);
    const std::lock_guard guard(node->graph->lock);
    require(work && work->type() == node->type);
    node->work = std::move(work);
  });
}

template <class Make>
CUresult set_in_exec(CUgraphExec exec, CUgraphNode handle, Make&& make) {
  return call([&] {
    const auto launched = exec_of(exec);
    const auto node = node_of(handle);
    const auto now = launched->work(*node);
    require(now != nullptr);
    launched->set(*node, make(*now));
  });
}

/// What the node has, told as `give` does.
template <class T, class Give>
CUresult tell(CUgraphNode handle, const void* out, Give&& give) {
  return call([&] {
    require(out);
    const auto node = node_of(handle);
    const std::lock_guard guard(node->graph->lock);
    give(work_of<T>(*node));
  });
}

CUDA_KERNEL_NODE_PARAMS_v2 newer(const CUDA_KERNEL_NODE_PARAMS_v1& as) {
  return {as.func,      as.gridDimX,       as.gridDimY,     as.gridDimZ, as.blockDimX, as.blockDimY,
          as.blockDimZ, as.sharedMemBytes, as.kernelParams, as.extra,    nullptr,      nullptr};
}

CUresult add_kernel(const Place& place, const CUDA_KERNEL_NODE_PARAMS_v2* as) {
  return call([&] {
    require(place.made && as);
    graph_of(place.graph);
    const auto work = kernel_from(*as);
    add(place, work, work->function->module->context);
  });
}

CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* as) {
  return set_node(node, [&](const GraphNode& now) { return require(as), kernel_from(*as, &work_of<KernelWork>(now)); });
}

CUresult set_kernel_in_exec(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* as) {
  return set_in_exec(exec, node, [&](const Work& now) {
    return require(as), kernel_from(*as, dynamic_cast<const KernelWork*>(&now));
  });
}

CUresult add_any(const Place& place, CUgraphNodeParams* as) {
  return call([&] {
    require(place.made && as);
    const auto graph = graph_of(place.graph);
    if (as->type == CU_GRAPH_NODE_TYPE_GRAPH) {
      const auto child = graph_of(as->graph.graph);
      require(as->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, CUDA_ERROR_NOT_SUPPORTED,
              "child graphs are cloned");
      *place.made = graph->add_child(child, place.before, place.count, place.data)->handle();
      return;
    }
    if (as->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      auto& conditional = as->conditional;
      const auto node = graph->add_condition(conditional, place.before, place.count, place.data);
      conditional.phGraph_out = node->condition->handles.data();
      *place.made = node->handle();
      return;
    }
    auto context = as->type == CU_GRAPH_NODE_TYPE_MEMCPY || as->type == CU_GRAPH_NODE_TYPE_MEMSET ||
                           as->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
                       ? node_context(context_in(*as))
                       : nullptr;
    const auto work = work_from(*as);
    if (const auto* kernel = dynamic_cast<const KernelWork*>(work.get())) context = kernel->function->module->context;
    add(place, work, std::move(context));
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuGraphAddKernelNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* as) {
  if (!as) return CUDA_ERROR_INVALID_VALUE;
  const auto all = newer(*as);
  return add_kernel({made, graph, before, count}, &all);
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS_v2* as) {
  return add_kernel({made, graph, before, count}, as);
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* as) {
  return tell<KernelWork>(node, as, [&](const KernelWork& work) {
    const auto all = described(work);
    const auto function = all.func ? all.func : work.function->handle();
    *as = {function,      all.gridDimX,  all.gridDimY,       all.gridDimZ,     all.blockDimX,
           all.blockDimY, all.blockDimZ, all.sharedMemBytes, all.kernelParams, nullptr};
  });
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* as) {
  return tell<KernelWork>(node, as, [&](const KernelWork& work) { *as = described(work); });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* as) {
  if (!as) return CUDA_ERROR_INVALID_VALUE;
  const auto all = newer(*as);
  return set_kernel(node, &all);
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* as) {
  return set_kernel(node, as);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* as) {
  if (!as) return CUDA_ERROR_INVALID_VALUE;
  const auto all = newer(*as);
  return set_kernel_in_exec(exec, node, &all);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* as) {
  return set_kernel_in_exec(exec, node, as);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_MEMCPY3D* as, CUcontext context) {
  return add_node_in({made, graph, before, count}, context, [&] { return require(as), copy_from(*as); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* as) {
  return tell<CopyWork>(node, as, [&](const CopyWork& work) { *as = work.described(); });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* as) {
  return set_node(node, [&](const GraphNode&) { return require(as), copy_from(*as); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* as,
                                        CUcontext context) {
  return set_in_exec(exec, node, [&](const Work&) { return require(as), node_context(context), copy_from(*as); });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* as, CUcontext context) {
  return add_node_in({made, graph, before, count}, context, [&] { return require(as), fill_from(*as); });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* as) {
  return tell<FillWork>(node, as, [&](const FillWork& work) { *as = work.described(); });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* as) {
  return set_node(node, [&](const GraphNode&) { return require(as), fill_from(*as); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* as,
                                        CUcontext context) {
  return set_in_exec(exec, node, [&](const Work&) { return require(as), node_context(context), fill_from(*as); });
}

CUresult cuGraphAddHostNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                            const CUDA_HOST_NODE_PARAMS* as) {
  return add_node({made, graph, before, count}, [&] { return require(as), host_from(as->fn, as->userData); });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* as) {
  return tell<HostWork>(node, as, [&](const HostWork& work) { *as = {work.function, work.data}; });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* as) {
  return set_node(node, [&](const GraphNode&) { return require(as), host_from(as->fn, as->userData); });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* as) {
  return set_in_exec(exec, node, [&](const Work&) { return require(as), host_from(as->fn, as->userData); });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                                  CUgraph child) {
  return call([&] {
    require(made);
    *made = graph_of(graph)->add_child(graph_of(child), before, count)->handle();
  });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
  return call([&] {
    require(graph);
    const auto node = node_of(handle);
    require(static_cast<bool>(node->child));
    *graph = node->child->handle();
  });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return call([&] { exec_of(exec)->set_child(*node_of(node), *graph_of(child)); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count) {
  return add_node({made, graph, before, count}, []() -> WorkPointer { return nullptr; });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                                   CUevent event) {
  return add_node({made, graph, before, count}, [&] { return std::make_shared<EventRecordWork>(event_of(event)); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return tell<EventRecordWork>(node, event, [&](const EventRecordWork& work) { *event = work.event->handle(); });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_node(node, [&](const GraphNode&) { return std::make_shared<EventRecordWork>(event_of(event)); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return set_in_exec(exec, node, [&](const Work&) { return std::make_shared<EventRecordWork>(event_of(event)); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                                 CUevent event) {
  return add_node({made, graph, before, count}, [&] { return std::make_shared<EventWaitWork>(event_of(event)); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return tell<EventWaitWork>(node, event, [&](const EventWaitWork& work) { *event = work.event->handle(); });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_node(node, [&](const GraphNode&) { return std::make_shared<EventWaitWork>(event_of(event)); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return set_in_exec(exec, node, [&](const Work&) { return std::make_shared<EventWaitWork>(event_of(event)); });
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* as) {
  if (!as) return CUDA_ERROR_INVALID_VALUE;
  return add_node_in({made, graph, before, count}, as->ctx,
                     [&] { return values_from(as->paramArray, as->count, as->flags); });
}
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* as) {
  return tell<ValueWork>(node, as, [&](const ValueWork& work) {
    *as = {node_of(node)->context->handle(), static_cast<unsigned>(work.operations.size()),
           const_cast<CUstreamBatchMemOpParams*>(work.operations.data()), 0};
  });
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* as) {
  return set_node(node,
                  [&](const GraphNode&) { return require(as), values_from(as->paramArray, as->count, as->flags); });
}
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* as) {
  return set_in_exec(exec, node,
                     [&](const Work&) { return require(as), values_from(as->paramArray, as->count, as->flags); });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* as) {
  return add_node({made, graph, before, count}, [&] { return require(as), allocate_from(*as); });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* as) {
  return tell<AllocateWork>(node, as, [&](const AllocateWork& work) {
    *as = {};
    as->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    as->poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, work.place->device.ordinal};
    as->bytesize = work.place->size;
    as->dptr = work.place->address;
  });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                               CUdeviceptr address) {
  return add_node({made, graph, before, count}, [&] { return free_from(address); });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return tell<FreeWork>(node, address, [&](const FreeWork& work) { *address = work.address; });
}

CUresult cuGraphAddNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, size_t count,
                        CUgraphNodeParams* as) {
  return add_any({made, graph, before, count}, as);
}
CUresult cuGraphAddNode_v2(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, const CUgraphEdgeData* data,
                           size_t count, CUgraphNodeParams* as) {
  return add_any({made, graph, before, count, data}, as);
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* as) {
  return set_node(node, [&](const GraphNode& now) { return require(as && as->type == now.type), work_from(*as); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* as) {
  if (as && as->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return cuGraphExecChildGraphNodeSetParams(exec, node, as->graph.graph);
  return set_in_exec(exec, node,
                     [&](const Work& now) { return require(as && as->type == now.type()), work_from(*as); });
}

}  // extern "C"
