// cuGraphKernelNode*Attribute, cuGraphKernelNodeCopyAttributes, cuGraphDebugDotPrint.
#include <algorithm>

#include "cuda/graph_dot.h"
#include "cuda/graph_facts.h"
#include "sim/driver/graph.h"
#include "sim/driver/node_params.h"

namespace flexrack::sim {
namespace {

using flexrack::cuda::DotNode;
using flexrack::cuda::is_for_nodes;

std::vector<DotNode> described(const Graph& graph) {
  std::vector<DotNode> all;
  for (const auto& node : graph.nodes) {
    DotNode one{.number = node->number, .type = node->type};
    if (const auto* kernel = dynamic_cast<const KernelWork*>(node->work.get()))
      one.kernel = kernel->function->facts.name;
    for (const auto& edge : node->after) one.after.push_back(edge.node->number);
    if (node->child) one.parts = {described(*node->child)};
    if (node->condition)
      for (const auto& body : node->condition->bodies) one.parts.push_back(described(*body));
    all.push_back(std::move(one));
  }
  return all;
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
    for (const auto& one : work.attributes)
      if (one.id == which) *value = one.value;
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID which,
                                       const CUkernelNodeAttrValue* value) {
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
    const std::lock_guard guard(graph->lock);
    require(flexrack::cuda::write_dot(described(*graph), graph.get(), path), CUDA_ERROR_OPERATING_SYSTEM, path);
  });
}

}  // extern "C"
