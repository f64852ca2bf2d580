#include "client/cuda/graph_work.h"

#include <algorithm>

#include "client/cuda/graph_memory.h"
#include "client/cuda/mirror.h"
#include "client/cuda/transfer.h"
#include "client/cuda/shared_handle.h"
#include "cuda/graph_facts.h"

namespace flexrack::client::cuda {
namespace {

/// Begins a work in that context, or in the current one.
std::shared_ptr<Work> begin(Call& call, CUgraphNodeType type, CUcontext in) {
  auto made = std::make_shared<Work>();
  made->type = type;
  made->context = in ? in : call.current();
  if (made->context && call.use(made->context)) made->context_handle = made->context->handle;
  return made;
}

template <class Made>
CUresult done(const Call& call, Made&& work, WorkPointer& made) {
  if (call.is_good()) made = std::forward<Made>(work);
  return call.error();
}

}  // namespace

CUresult kernel_work(CUcontext in, const KernelWish& wish, WorkPointer& made) {
  Call call;
  const bool is_of_library = !is_live(wish.function);
  // A function is of one context; a library's kernel runs in any.
  auto work =
      begin(call, CU_GRAPH_NODE_TYPE_KERNEL, !is_of_library && wish.function->context ? wish.function->context : in);
  const auto* at = call.kernel(wish.function);
  if (!call.is_good()) return call.error();
  work->at = at;
  if (is_of_library) work->kernel = reinterpret_cast<CUkernel>(wish.function);
  else work->function = wish.function;
  work->shape = wish.shape;
  call.fail(check_launch(*work->context->device, *at, wish.shape, is_of_library));
  if (call.is_good()) call.fail(pack_parameters(*at, wish.parameters, wish.extra, work->parameters));
  if (call.is_good() && unmirrored.load(std::memory_order_relaxed) != 0)
    call.fail(mirror_arguments(work->context, work->parameters));
  for (const auto& place : at->parameters) {
    if (place.offset + place.size <= work->parameters.size())
      work->addresses.push_back(work->parameters.data() + place.offset);
  }
  for (const auto& one : wish.attributes) {
    if (flexrack::cuda::is_for_nodes(one.id)) work->attributes.push_back(one);
    const bool is_updatable = one.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE &&
                              one.value.deviceUpdatableKernelNode.deviceUpdatable != 0;
    const bool is_cooperative = one.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && one.value.cooperative != 0;
    if (is_updatable) call.fail(CUDA_ERROR_NOT_SUPPORTED);
    if (is_cooperative && call.is_good()) call.fail(check_cooperative(*work->context, *at, wish.shape));
  }
  return done(call, std::move(work), made);
}

WorkPointer with_attributes(const Work& kernel, std::vector<CUlaunchAttribute> attributes) {
  auto work = std::make_shared<Work>(kernel);
  work->addresses.clear();
  for (const auto& place : work->at->parameters) {
    if (place.offset + place.size <= work->parameters.size())
      work->addresses.push_back(work->parameters.data() + place.offset);
  }
  work->attributes = std::move(attributes);
  return work;
}

CUDA_KERNEL_NODE_PARAMS described(const Work& kernel) {
  CUDA_KERNEL_NODE_PARAMS as{};
  as.func = kernel.function;
  as.kern = kernel.kernel;
  as.gridDimX = kernel.shape.grid[0], as.gridDimY = kernel.shape.grid[1], as.gridDimZ = kernel.shape.grid[2];
  as.blockDimX = kernel.shape.block[0], as.blockDimY = kernel.shape.block[1], as.blockDimZ = kernel.shape.block[2];
  as.sharedMemBytes = kernel.shape.shared_bytes;
  as.kernelParams = const_cast<void**>(kernel.addresses.data());
  as.ctx = kernel.context;
  return as;
}

CUDA_MEMCPY3D plain_copy(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  CUDA_MEMCPY3D copy{};
  const auto is_device = [](CUdeviceptr address) {
    const auto known = find_allocation(address);
    return known && known->server;
  };
  copy.srcMemoryType = is_device(from) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  if (copy.srcMemoryType == CU_MEMORYTYPE_DEVICE) copy.srcDevice = from;
  else copy.srcHost = reinterpret_cast<const void*>(from);
  copy.dstMemoryType = is_device(to) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  if (copy.dstMemoryType == CU_MEMORYTYPE_DEVICE) copy.dstDevice = to;
  else copy.dstHost = reinterpret_cast<void*>(to);
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = size;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
  return copy;
}

CUresult copy_work(CUcontext in, const CUDA_MEMCPY3D& copy, WorkPointer& made) {
  Call call, of_source, of_target;
  auto work = begin(call, CU_GRAPH_NODE_TYPE_MEMCPY, in);
  work->copy = copy;
  work->extent = {copy.WidthInBytes, copy.Height, copy.Depth};
  std::size_t bytes = 0;
  call.check(!__builtin_mul_overflow(copy.WidthInBytes, copy.Height, &bytes) &&
             !__builtin_mul_overflow(bytes, copy.Depth, &bytes) && bytes > 0);
  if (!call.is_good()) return call.error();
  if (!find_side(of_source, source_of(copy), work->extent, work->source)) return of_source.error();
  if (!find_side(of_target, target_of(copy), work->extent, work->target)) return of_target.error();
  // It runs where a side of it is.
  const auto& there = work->target.server ? work->target : work->source;
  if (there.server && work->source.server != work->context->server && work->target.server != work->context->server) {
    if (!is_live(there.context)) return CUDA_ERROR_INVALID_VALUE;
    work->context = there.context;
    work->context_handle = there.context->handle;
  }
  for (auto* side : {&work->source, &work->target}) {
    if (!side->server) side->place.kind = 2;
    // One row: no pitch, which may be larger than a driver takes.
    if (work->extent.height == 1 && work->extent.depth == 1) side->place.pitch = side->place.height = 0;
  }
  return done(call, std::move(work), made);
}

CUresult fill_work(CUcontext in, const CUDA_MEMSET_NODE_PARAMS& fill, WorkPointer& made) {
  Call call;
  auto work = begin(call, CU_GRAPH_NODE_TYPE_MEMSET, in);
  work->fill = fill;
  const auto element = fill.elementSize;
  call.check((element == 1 || element == 2 || element == 4) && fill.width > 0 && fill.height > 0 &&
             fill.width <= SIZE_MAX / 4);
  if (!call.is_good()) return call.error();
  std::size_t bytes = 0;
  call.check(fill.dst % element == 0 &&
             (fill.height == 1 || (fill.pitch >= fill.width * element && fill.pitch % element == 0)));
  call.check(!__builtin_mul_overflow(fill.height == 1 ? 0 : fill.pitch, fill.height - 1, &bytes) &&
             !__builtin_add_overflow(bytes, fill.width * element, &bytes));
  if (!call.is_good()) return call.error();
  const auto memory = device_range(call, fill.dst, bytes);
  call.check(!call.is_good() || memory.server == work->context->server);
  return done(call, std::move(work), made);
}

CUresult host_work(CUhostFn function, void* data, WorkPointer& made) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  auto work = std::make_shared<Work>();
  work->type = CU_GRAPH_NODE_TYPE_HOST;
  work->host = {function, data};
  made = std::move(work);
  return CUDA_SUCCESS;
}

CUresult event_work(CUgraphNodeType type, CUevent event, WorkPointer& made) {
  Call call;
  if (!call.use(event)) return call.error();
  // Others must see that it is recorded when the launch comes back, which is not waited for.
  if (is_shared(event)) return CUDA_ERROR_NOT_SUPPORTED;
  auto work = begin(call, type, event->context);
  work->event = event;
  return done(call, std::move(work), made);
}

bool are_words_known(std::span<const CUstreamBatchMemOpParams> operations) {
  return std::ranges::all_of(operations, [](const CUstreamBatchMemOpParams& one) {
    switch (one.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WRITE_VALUE_32: return covered(one.waitValue.address, 4) == Covered::all;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      case CU_STREAM_MEM_OP_WRITE_VALUE_64: return covered(one.waitValue.address, 8) == Covered::all;
      default: return true;
    }
  });
}

CUresult operations_work(CUcontext in, const CUstreamBatchMemOpParams* operations, std::size_t count, unsigned flags,
                         WorkPointer& made) {
  Call call;
  auto work = begin(call, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, in);
  call.check(operations && count > 0 && count <= 256 && flags == 0 && are_words_known({operations, count}));
  if (call.is_good()) work->operations.assign(operations, operations + count);
  work->flags = flags;
  return done(call, std::move(work), made);
}

CUresult allocation_work(CUcontext in, std::size_t size, WorkPointer& made) {
  Call call;
  auto work = begin(call, CU_GRAPH_NODE_TYPE_MEM_ALLOC, in);
  if (!call.is_good()) return call.error();
  call.fail(allocate_for_graph(work->context, size, work->memory));
  return done(call, std::move(work), made);
}

CUresult freeing_work(CUdeviceptr address, WorkPointer& made) {
  auto memory = graph_memory_at(address);
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  auto work = std::make_shared<Work>();
  work->type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  work->context = memory->context;
  work->context_handle = memory->context_handle;
  work->freed = address;
  made = std::move(work);
  return CUDA_SUCCESS;
}

WorkPointer empty_work() {
  static const auto& one = *new WorkPointer(std::make_shared<Work>());
  return one;
}

cu::NodeWork reported(const Work& work) {
  cu::NodeWork as{.kind = static_cast<std::uint32_t>(work.type), .context = work.context_handle};
  switch (work.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      as.object = work.at->handle;
      as.shared_bytes = work.shape.shared_bytes;
      as.grid = {work.shape.grid[0], work.shape.grid[1], work.shape.grid[2]};
      as.block = {work.shape.block[0], work.shape.block[1], work.shape.block[2]};
      as.parameters = work.parameters;
      for (const auto& one : work.attributes)
        as.attributes.push_back({.which = static_cast<std::uint32_t>(one.id), .value = wire::bytes_of(one.value)});
      break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      as.source = work.source.place;
      as.target = work.target.place;
      as.extent = work.extent;
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      as.target.object = work.fill.dst;
      as.target.pitch = work.fill.pitch;
      as.extent = {work.fill.width, work.fill.height, 1};
      as.value = work.fill.value;
      as.element = work.fill.elementSize;
      break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: as.object = work.event->handle; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      as.parameters = wire::bytes_of(work.operations);
      as.flags = work.flags;
      break;
    default:
      // Memory is there; what is left of the node is its place.
      as.kind = CU_GRAPH_NODE_TYPE_EMPTY;
      as.context = 0;
  }
  return as;
}

}  // namespace flexrack::client::cuda
