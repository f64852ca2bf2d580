// Attributes of kernels in graphs, and the objects that graphs keep.
#include <algorithm>

#include "client/cuda/graph_work.h"
#include "client/cuda/user_object.h"
#include "cuda/graph_facts.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

bool is_kernel(CUgraphNode node) { return is_live(node) && node->type() == CU_GRAPH_NODE_TYPE_KERNEL; }

void put(std::vector<CUlaunchAttribute>& attributes, CUlaunchAttributeID which, const CUlaunchAttributeValue& value) {
  std::erase_if(attributes, [&](const auto& one) { return one.id == which; });
  CUlaunchAttribute made{};
  made.id = which;
  made.value = value;
  attributes.push_back(made);
}

}  // namespace

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, CUkernelNodeAttrValue* value_out) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!value_out || !is_kernel(hNode) || !flexrack::cuda::is_for_nodes(attr)) return CUDA_ERROR_INVALID_VALUE;
  *value_out = {};
  for (const auto& one : hNode->work->attributes)
    if (one.id == attr) *value_out = one.value;
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, const CUkernelNodeAttrValue* value) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!value || !is_kernel(hNode) || !flexrack::cuda::is_for_nodes(attr)) return CUDA_ERROR_INVALID_VALUE;
  auto attributes = hNode->work->attributes;
  put(attributes, attr, *value);
  hNode->work = with_attributes(*hNode->work, std::move(attributes));
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!is_kernel(dst) || !is_kernel(src)) return CUDA_ERROR_INVALID_VALUE;
  auto attributes = dst->work->attributes;
  for (const auto& one : src->work->attributes) put(attributes, one.id, one.value);
  dst->work = with_attributes(*dst->work, std::move(attributes));
  return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!is_live(graph) || !is_live(object) || count == 0 || count > INT_MAX ||
      (flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  // Moved ones are the application's no more: there are as many as before.
  if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) object->references.fetch_add(count);
  graph->user_objects[object] += count;
  return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  const Call call;
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(graphs_lock());
  if (!is_live(graph) || !is_live(object) || count == 0) return CUDA_ERROR_INVALID_VALUE;
  const auto found = graph->user_objects.find(object);
  if (found == graph->user_objects.end() || found->second < count) return CUDA_ERROR_INVALID_VALUE;
  found->second -= count;
  if (found->second == 0) graph->user_objects.erase(found);
  drop_references(object, count);
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
