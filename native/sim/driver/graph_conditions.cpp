// Conditional nodes: their handles, and what may be in their bodies.
#include <set>

#include "cuda/graph_facts.h"
#include "sim/driver/graph.h"
#include "sim/driver/kernel_work.h"

namespace flexrack::sim {
namespace {

// Handles are numbers that nothing else in a kernel's parameters is likely to be.
std::atomic<CUgraphConditionalHandle> last_handle{0x636f6e6400000000};

/// `home`: the context of the conditional node that it is in a body of; null: it is in none.
InstantiateError check(const Graph& graph, const Context* home, std::set<CUgraphConditionalHandle>& used) {
  for (const auto& node : graph.nodes) {
    const auto wrong = [&](CUgraphInstantiateResult why, CUresult status) {
      return InstantiateError{status, why, node->handle()};
    };
    if (home && !cuda::may_be_in_body(node->type))
      return wrong(CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
    const bool has_home = node->type == CU_GRAPH_NODE_TYPE_KERNEL || node->condition;
    if (home && has_home && node->context.get() != home)
      return wrong(CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
    if (node->child) {
      if (auto inner = check(*node->child, home, used); inner.status != CUDA_SUCCESS) return inner;
    }
    if (!node->condition) continue;
    used.insert(node->condition->handle);
    for (const auto& body : node->condition->bodies) {
      if (auto inner = check(*body, node->context.get(), used); inner.status != CUDA_SUCCESS) return inner;
    }
  }
  return {};
}

}  // namespace

InstantiateError check_conditions(Graph& graph) {
  std::set<CUgraphConditionalHandle> used;
  auto wrong = check(graph, nullptr, used);
  if (wrong.status != CUDA_SUCCESS) return wrong;
  const std::lock_guard guard(graph.conditions->lock);
  for (const auto& [handle, one] : graph.conditions->all)
    if (!used.contains(handle))
      return {CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, nullptr};
  return {};
}

}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* made, CUgraph handle, CUcontext context,
                                        unsigned int value, unsigned int flags) {
  return call([&] {
    require(made && (flags & ~static_cast<unsigned>(CU_GRAPH_COND_ASSIGN_DEFAULT)) == 0);
    const auto graph = graph_of(handle);
    auto home = context_of(context);
    require_working(*home);
    const auto number = ++last_handle;
    const std::lock_guard guard(graph->conditions->lock);
    graph->conditions->all[number] = {std::move(home), value, (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0};
    *made = number;
  });
}

}  // extern "C"
