#include "backend/cuda/graph_nodes.h"

#include "backend/cuda/rows.h"

namespace flexrack::backend::cuda {

void make_host_params(CUgraphNodeParams& params, GraphStop& stop) {
  params.type = CU_GRAPH_NODE_TYPE_HOST;
  params.host.fn = GraphHost::run;
  params.host.userData = &stop;
}

NodeParams::NodeParams(CallContext& call, const cu::NodeWork& work, GraphStop* stop) {
  params_.type = static_cast<CUgraphNodeType>(work.kind);
  switch (params_.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      auto& kernel = params_.kernel;
      kernel.func = call.get<CUfunction>(work.object);
      call.check_parameters(work.object, work.parameters.size());
      kernel.gridDimX = work.grid.x, kernel.gridDimY = work.grid.y, kernel.gridDimZ = work.grid.z;
      kernel.blockDimX = work.block.x, kernel.blockDimY = work.block.y, kernel.blockDimZ = work.block.z;
      kernel.sharedMemBytes = work.shared_bytes;
      parameters_.assign(work.parameters.begin(), work.parameters.end());
      parameter_bytes_ = parameters_.size();
      extra_[0] = CU_LAUNCH_PARAM_BUFFER_POINTER, extra_[1] = parameters_.data();
      extra_[2] = CU_LAUNCH_PARAM_BUFFER_SIZE, extra_[3] = &parameter_bytes_;
      extra_[4] = CU_LAUNCH_PARAM_END;
      kernel.extra = parameter_bytes_ > 0 ? extra_ : nullptr;
      if (work.context != 0) kernel.ctx = call.get<CUcontext>(work.context);
      break;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
      auto& copy = params_.memcpy.copyParams;
      const bool from_client = is_input(work), to_client = is_output(work);
      call.check(!from_client || !to_client);
      if (work.context != 0) params_.memcpy.copyCtx = call.get<CUcontext>(work.context);
      copy = rows(call, from_client ? nullptr : &work.source, to_client ? nullptr : &work.target, work.extent);
      if (from_client || to_client) call.check(stop && stop->staging);
      if (!call.is_good()) break;
      if (from_client) from_host(copy, stop->staging->at);
      if (to_client) to_host(copy, stop->staging->at);
      break;
    }
    case CU_GRAPH_NODE_TYPE_MEMSET:
      call.check(work.element == 1 || work.element == 2 || work.element == 4);
      call.rows(work.target.object, work.extent.height <= 1 ? 0 : work.target.pitch,
                call.product(work.extent.width, work.element), work.extent.height, 0, 1);
      params_.memset.dst = work.target.object;
      params_.memset.pitch = work.target.pitch;
      params_.memset.value = static_cast<unsigned>(work.value);
      params_.memset.elementSize = work.element;
      params_.memset.width = work.extent.width;
      params_.memset.height = work.extent.height;
      if (work.context != 0) params_.memset.ctx = call.get<CUcontext>(work.context);
      break;
    case CU_GRAPH_NODE_TYPE_HOST:
      call.check(stop != nullptr);
      if (call.is_good()) make_host_params(params_, *stop);
      break;
    case CU_GRAPH_NODE_TYPE_EMPTY: break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: params_.eventWait.event = call.get<CUevent>(work.object); break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: params_.eventRecord.event = call.get<CUevent>(work.object); break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      operations_ = call.flat_all<CUstreamBatchMemOpParams>(work.parameters);
      if (work.context != 0) params_.memOp.ctx = call.get<CUcontext>(work.context);
      params_.memOp.count = static_cast<unsigned>(operations_.size());
      params_.memOp.paramArray = operations_.data();
      params_.memOp.flags = work.flags;
      break;
    default: call.fail(CUDA_ERROR_NOT_SUPPORTED);
  }
}

}  // namespace flexrack::backend::cuda
