#include "client/cuda/graph_memory.h"

#include <algorithm>

#include "client/cuda/graph.h"
#include "client/cuda/memory.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// What CUgraphMem_attribute asks for, a device; under the lock of graphs.
struct Use {
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};

Use& use_of(const Device& device) {
  static auto& all = *new std::map<const Device*, Use>;
  return all[&device];
}

/// The figure that an attribute names; null where it names none.
std::uint64_t* figure(Use& use, CUgraphMem_attribute which) {
  switch (which) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: return &use.used;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: return &use.used_high;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: return &use.reserved;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: return &use.reserved_high;
    default: return nullptr;
  }
}

}  // namespace

CUresult allocate_for_graph(CUcontext context, std::size_t size, std::shared_ptr<GraphMemory>& made) {
  Call call;
  call.use(context);
  call.check(size > 0);
  if (!call.settle()) return call.error();
  made = std::make_shared<GraphMemory>();
  made->size = size;
  made->device = context->device;
  made->context = context;
  made->context_handle = context->handle;
  Allocation wish{.sort = Allocation::Sort::graph,
                  .size = size,
                  .server = context->server,
                  .context = context,
                  .context_handle = context->handle,
                  .device = context->device};
  wish.more = std::make_shared<std::weak_ptr<GraphMemory>>(made);
  if (const auto status = allocate_memory(call, context, wish); status != CUDA_SUCCESS) return status;
  made->address = wish.base;
  const std::lock_guard guard(graphs_lock());
  auto& use = use_of(*made->device);
  use.reserved += size;
  use.reserved_high = std::max(use.reserved_high, use.reserved);
  return CUDA_SUCCESS;
}

GraphMemory::~GraphMemory() {
  if (address == 0) return;
  {
    const std::lock_guard guard(graphs_lock());
    use_of(*device).reserved -= size;
  }
  // With its context it went already.
  if (!is_live(context) || context->handle != context_handle) return;
  const auto known = take_allocation(address);
  if (!known) return;
  context->server->session->send(cu::Free{.context = context_handle, .address = address});
  release_addresses(*known);
}

std::shared_ptr<GraphMemory> graph_memory_at(CUdeviceptr address) {
  const auto known = find_allocation(address);
  if (!known || known->base != address || known->sort != Allocation::Sort::graph) return nullptr;
  return static_cast<std::weak_ptr<GraphMemory>*>(known->more.get())->lock();
}

void keep(GraphMemory& memory) {
  if (memory.kept) return;
  memory.kept = memory.shared_from_this();
  auto& use = use_of(*memory.device);
  use.used += memory.size;
  use.used_high = std::max(use.used_high, use.used);
}

bool free_kept(GraphMemory& memory) {
  if (!memory.kept) return false;
  use_of(*memory.device).used -= memory.size;
  const auto last = std::move(memory.kept);
  return true;
}

void note_use(Device& device, std::uint64_t bytes) {
  auto& use = use_of(device);
  use.used_high = std::max(use.used_high, use.used + bytes);
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  const Call call;
  if (!call.is_good()) return call.error();
  const auto* known = device_of(device);
  if (!known) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard guard(graphs_lock());
  const auto* found = figure(use_of(*known), attr);
  if (!found || !value) return CUDA_ERROR_INVALID_VALUE;
  *static_cast<cuuint64_t*>(value) = *found;
  return CUDA_SUCCESS;
}

/// Only the high marks, and only back to zero, which means to what is there now (cuda.h 13.0).
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  const Call call;
  if (!call.is_good()) return call.error();
  const auto* known = device_of(device);
  if (!known) return CUDA_ERROR_INVALID_DEVICE;
  if (!value || *static_cast<const cuuint64_t*>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(graphs_lock());
  auto& use = use_of(*known);
  if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) use.used_high = use.used;
  else if (attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) use.reserved_high = use.reserved;
  else return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  const Call call;
  if (!call.is_good()) return call.error();
  return device_of(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace flexrack::client::cuda
