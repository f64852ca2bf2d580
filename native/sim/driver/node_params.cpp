#include "sim/driver/node_params.h"

#include "sim/driver/copy_work.h"
#include "sim/driver/event.h"
#include "sim/driver/fill_work.h"
#include "sim/driver/host_work.h"
#include "sim/driver/pool_work.h"
#include "sim/driver/value_work.h"

namespace flexrack::sim {

Ref<Context> node_context(CUcontext given) {
  auto context = context_of(given);
  require_working(*context);
  return context;
}

std::shared_ptr<KernelWork> kernel_from(const CUDA_KERNEL_NODE_PARAMS_v2& as, const KernelWork* before) {
  const auto handle = as.func ? as.func : reinterpret_cast<CUfunction>(as.kern);
  const auto function = function_of(handle, as.ctx ? context_of(as.ctx) : nullptr);
  LaunchShape shape{
      {as.gridDimX, as.gridDimY, as.gridDimZ}, {as.blockDimX, as.blockDimY, as.blockDimZ}, {}, as.sharedMemBytes};
  if (before) {
    shape.is_cooperative = before->shape.is_cooperative;
    shape.has_cluster = before->shape.has_cluster;
    shape.cluster = before->shape.cluster;
  }
  auto made = std::make_shared<KernelWork>(function, shape, as.kernelParams, as.extra);
  made->given_kernel = Kernel::find(handle) ? reinterpret_cast<CUkernel>(handle) : nullptr;
  made->given_function = made->given_kernel ? nullptr : handle;
  if (before) {
    made->attributes = before->attributes;
    made->priority = before->priority;
  }
  return made;
}

CUDA_KERNEL_NODE_PARAMS_v2 described(const KernelWork& work) {
  CUDA_KERNEL_NODE_PARAMS_v2 as{};
  const auto& shape = work.shape;
  as.func = work.given_function;
  as.kern = work.given_kernel;
  as.gridDimX = shape.grid.x;
  as.gridDimY = shape.grid.y;
  as.gridDimZ = shape.grid.z;
  as.blockDimX = shape.block.x;
  as.blockDimY = shape.block.y;
  as.blockDimZ = shape.block.z;
  as.sharedMemBytes = shape.shared_bytes;
  as.kernelParams = work.parameter_addresses();
  as.ctx = work.function->module->context->handle();
  return as;
}

WorkPointer copy_from(const CUDA_MEMCPY3D& as) { return CopyWork::described_by(as); }
WorkPointer fill_from(const CUDA_MEMSET_NODE_PARAMS_v1& as) { return FillWork::described_by(as); }

WorkPointer host_from(CUhostFn function, void* data) {
  require(function);
  return std::make_shared<HostWork>(function, data);
}

WorkPointer values_from(CUstreamBatchMemOpParams* operations, unsigned count, unsigned flags) {
  require(operations && count <= 256 && flags == 0);
  return std::make_shared<ValueWork>(std::vector<CUstreamBatchMemOpParams>(operations, operations + count));
}

WorkPointer allocate_from(CUDA_MEM_ALLOC_NODE_PARAMS_v1& as) {
  const auto& properties = as.poolProps;
  require(properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED && as.bytesize > 0 &&
          (as.accessDescs || as.accessDescCount == 0));
  require(properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE && properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE,
          CUDA_ERROR_NOT_SUPPORTED);
  auto& on = device(properties.location.id);
  auto devices = std::uint64_t{1} << on.ordinal;
  for (std::size_t i = 0; i < as.accessDescCount; ++i) {
    require(as.accessDescs[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            as.accessDescs[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    devices |= std::uint64_t{1} << device(as.accessDescs[i].location.id).ordinal;
  }
  auto place = GraphAddress::make(on.primary, as.bytesize, devices);
  as.dptr = place->address;
  return std::make_shared<AllocateWork>(std::move(place));
}

WorkPointer free_from(CUdeviceptr address) {
  require(address != 0);
  return std::make_shared<FreeWork>(address);
}

CUcontext context_in(const CUgraphNodeParams& as) {
  switch (as.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return as.kernel.ctx;
    case CU_GRAPH_NODE_TYPE_MEMCPY: return as.memcpy.copyCtx;
    case CU_GRAPH_NODE_TYPE_MEMSET: return as.memset.ctx;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return as.memOp.ctx;
    default: return nullptr;
  }
}

WorkPointer work_from(CUgraphNodeParams& as) {
  switch (as.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const auto& of = as.kernel;
      return kernel_from({of.func, of.gridDimX, of.gridDimY, of.gridDimZ, of.blockDimX, of.blockDimY, of.blockDimZ,
                          of.sharedMemBytes, of.kernelParams, of.extra, of.kern, of.ctx});
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_from(as.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return fill_from(
          {as.memset.dst, as.memset.pitch, as.memset.value, as.memset.elementSize, as.memset.width, as.memset.height});
    case CU_GRAPH_NODE_TYPE_HOST: return host_from(as.host.fn, as.host.userData);
    case CU_GRAPH_NODE_TYPE_EMPTY: return nullptr;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return std::make_shared<EventWaitWork>(event_of(as.eventWait.event));
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return std::make_shared<EventRecordWork>(event_of(as.eventRecord.event));
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      CUDA_MEM_ALLOC_NODE_PARAMS_v1 of{as.alloc.poolProps, as.alloc.accessDescs, as.alloc.accessDescCount,
                                       as.alloc.bytesize, 0};
      auto work = allocate_from(of);
      as.alloc.dptr = of.dptr;
      return work;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return free_from(as.free.dptr);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return values_from(as.memOp.paramArray, as.memOp.count, as.memOp.flags);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: fail(CUDA_ERROR_NOT_SUPPORTED, "no semaphores of other drivers");
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: fail(CUDA_ERROR_INVALID_VALUE, "a conditional node stays what it is");
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace flexrack::sim
