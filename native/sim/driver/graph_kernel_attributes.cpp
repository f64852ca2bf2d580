// cuGraphKernelNode*Attribute, cuGraphKernelNodeCopyAttributes, cuGraphDebugDotPrint.
#include <algorithm>
#include <cstdio>

#include "sim/driver/graph.h"
#include "sim/driver/node_params.h"

namespace flexrack::sim {
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

void print(std::FILE* file, const Graph& graph, const std::string& prefix) {
  for (const auto& node : graph.nodes) {
    const auto name = prefix + std::to_string(node->number);
    std::string label = name_of(node->type);
    if (const auto* kernel = dynamic_cast<const KernelWork*>(node->work.get())) label += "\\n" + kernel->function->facts.name;
    std::fprintf(file, "  \"%s\" [shape=box label=\"%s\\n%s\"];\n", name.c_str(), name.c_str(), label.c_str());
    for (const auto& edge : node->after) std::fprintf(file, "  \"%s\" -> \"%s%llu\";\n", name.c_str(), prefix.c_str(), static_cast<unsigned long long>(edge.node->number));
    if (!node->child) continue;
    std::fprintf(file, "  subgraph \"cluster_%s\" {\n  label=\"%s\";\n", name.c_str(), name.c_str());
    print(file, *node->child, name + ".");
    std::fprintf(file, "  }\n");
  }
}

/// The same kernel with other attributes.
std::shared_ptr<KernelWork> with(const KernelWork& work, std::vector<CUlaunchAttribute> attributes) {
  auto shape = work.shape;
  auto priority = work.priority;
  for (const auto& one : attributes) {
    const auto& cluster = one.value.clusterDim;
    if (one.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) shape.is_cooperative = one.value.cooperative != 0;
    if (one.id == CU_LAUNCH_ATTRIBUTE_PRIORITY) priority = one.value.priority;
    if (one.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && cluster.x > 0) {
      shape.has_cluster = true;
      shape.cluster = {cluster.x, cluster.y, cluster.z};
    }
  }
  auto made = std::make_shared<KernelWork>(work.function, shape, work.parameter_addresses(), nullptr);
  made->given_function = work.given_function;
  made->given_kernel = work.given_kernel;
  made->priority = priority;
  made->attributes = std::move(attributes);
  return made;
}

void set(std::vector<CUlaunchAttribute>& attributes, CUlaunchAttributeID which, const CUlaunchAttributeValue& value) {
  std::erase_if(attributes, [&](const CUlaunchAttribute& one) { return one.id == which; });
  CUlaunchAttribute made{};
  made.id = which;
  made.value = value;
  attributes.push_back(made);
}

bool is_for_nodes(CUlaunchAttributeID which) {
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

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID which, CUkernelNodeAttrValue* value) {
  return call([&] {
    require(value && is_for_nodes(which));
    const auto node = node_of(handle);
    const std::lock_guard guard(node->graph->lock);
    const auto& work = work_of<KernelWork>(*node);
    *value = {};
    if (which == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value->cooperative = work.shape.is_cooperative;
    if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = work.priority;
    for (const auto& one : work.attributes) if (one.id == which) *value = one.value;
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID which, const CUkernelNodeAttrValue* value) {
  return call([&] {
    require(value && is_for_nodes(which));
    const auto node = node_of(handle);
    const std::lock_guard guard(node->graph->lock);
    const auto& work = work_of<KernelWork>(*node);
    auto attributes = work.attributes;
    set(attributes, which, *value);
    node->work = with(work, std::move(attributes));
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return call([&] {
    const auto target = node_of(to), source = node_of(from);
    const std::scoped_lock guard(target->graph->lock);
    auto attributes = work_of<KernelWork>(*target).attributes;
    for (const auto& one : work_of<KernelWork>(*source).attributes) set(attributes, one.id, one.value);
    node_of(to)->work = with(work_of<KernelWork>(*target), std::move(attributes));
  });
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned int) {
  return call([&] {
    require(path);
    const auto graph = graph_of(handle);
    auto* file = std::fopen(path, "we");
    require(file, CUDA_ERROR_OPERATING_SYSTEM, path);
    const std::lock_guard guard(graph->lock);
    std::fprintf(file, "digraph graph_%p {\n", static_cast<const void*>(graph.get()));
    print(file, *graph, "");
    std::fprintf(file, "}\n");
    require(std::fclose(file) == 0, CUDA_ERROR_OPERATING_SYSTEM, path);
  });
}

}  // extern "C"
