#include "backend/cuda/graph_nodes.h"

namespace flexrack::backend::cuda {

NodeParams::NodeParams(Session& session, Turn& turn, const cu::NodeWork& work) {
  params_.type = static_cast<CUgraphNodeType>(work.kind);
  switch (params_.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      auto& kernel = params_.kernel;
      kernel.func = turn.get<CUfunction>(work.object);
      kernel.gridDimX = work.grid.x, kernel.gridDimY = work.grid.y, kernel.gridDimZ = work.grid.z;
      kernel.blockDimX = work.block.x, kernel.blockDimY = work.block.y, kernel.blockDimZ = work.block.z;
      kernel.sharedMemBytes = work.shared_bytes;
      parameters_.assign(work.parameters.begin(), work.parameters.end());
      parameter_bytes_ = parameters_.size();
      extra_[0] = CU_LAUNCH_PARAM_BUFFER_POINTER, extra_[1] = parameters_.data();
      extra_[2] = CU_LAUNCH_PARAM_BUFFER_SIZE, extra_[3] = &parameter_bytes_;
      extra_[4] = CU_LAUNCH_PARAM_END;
      kernel.extra = parameter_bytes_ > 0 ? extra_ : nullptr;
      if (work.context != 0) kernel.ctx = turn.get<CUcontext>(work.context);
      break;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      if (work.context != 0) params_.memcpy.copyCtx = turn.get<CUcontext>(work.context);
      params_.memcpy.copyParams = session.rows(turn, &work.source, &work.target, work.extent);
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      params_.memset.dst = work.target.object;
      params_.memset.pitch = work.target.pitch;
      params_.memset.value = static_cast<unsigned>(work.value);
      params_.memset.elementSize = work.element;
      params_.memset.width = work.extent.width;
      params_.memset.height = work.extent.height;
      if (work.context != 0) params_.memset.ctx = turn.get<CUcontext>(work.context);
      break;
    case CU_GRAPH_NODE_TYPE_HOST: {
      auto* call = session.graph_call(work.value);
      params_.host.fn = call->run;
      params_.host.userData = call;
      break;
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      params_.graph.graph = turn.get<CUgraph>(work.object);
      params_.graph.ownership = static_cast<CUgraphChildGraphNodeOwnership>(work.flags);
      break;
    case CU_GRAPH_NODE_TYPE_EMPTY: break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: params_.eventWait.event = turn.get<CUevent>(work.object); break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: params_.eventRecord.event = turn.get<CUevent>(work.object); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      auto& alloc = params_.alloc;
      alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
      alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      alloc.poolProps.location.id = turn.device(work.element);
      alloc.bytesize = work.value;
      for (const auto& one : work.accesses) {
        accesses_.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, turn.device(one.device)}, static_cast<CUmemAccess_flags>(one.flags)});
      }
      alloc.accessDescs = accesses_.empty() ? nullptr : accesses_.data();
      alloc.accessDescCount = accesses_.size();
      break;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE: params_.free.dptr = work.value; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      operations_ = turn.flat_all<CUstreamBatchMemOpParams>(work.parameters);
      if (work.context != 0) params_.memOp.ctx = turn.get<CUcontext>(work.context);
      params_.memOp.count = static_cast<unsigned>(operations_.size());
      params_.memOp.paramArray = operations_.data();
      params_.memOp.flags = work.flags;
      break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      turn.check(work.flags <= 65536);
      params_.conditional.handle = work.value;
      params_.conditional.type = static_cast<CUgraphConditionalNodeType>(work.element);
      params_.conditional.size = work.flags;
      bodies_.resize(turn.is_good() ? work.flags : 0);
      params_.conditional.phGraph_out = bodies_.data();
      if (work.context != 0) params_.conditional.ctx = turn.get<CUcontext>(work.context);
      break;
    default: turn.fail(CUDA_ERROR_NOT_SUPPORTED);
  }
}

}  // namespace flexrack::backend::cuda
