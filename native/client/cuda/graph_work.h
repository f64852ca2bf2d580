// What nodes do, made from what the API names it by, and told again.
#pragma once

#include "client/cuda/graph.h"

namespace flexrack::client::cuda {

// These answer what the device would refuse. `in`: the context that a node runs in; null: the current one.
struct KernelWish {
  CUfunction function = nullptr;       ///< or a CUkernel
  Shape shape{};
  void** parameters = nullptr;
  void** extra = nullptr;
  std::span<const CUlaunchAttribute> attributes{};
};
CUresult kernel_work(CUcontext in, const KernelWish& wish, WorkPointer& made);
CUresult copy_work(CUcontext in, const CUDA_MEMCPY3D& copy, WorkPointer& made);
CUresult fill_work(CUcontext in, const CUDA_MEMSET_NODE_PARAMS& fill, WorkPointer& made);
CUresult host_work(CUhostFn function, void* data, WorkPointer& made);
CUresult event_work(CUgraphNodeType type, CUevent event, WorkPointer& made);
/// Whether each word that they wait for or write is in memory that CUDA knows.
bool are_words_known(std::span<const CUstreamBatchMemOpParams> operations);
CUresult operations_work(CUcontext in, const CUstreamBatchMemOpParams* operations, std::size_t count, unsigned flags,
                         WorkPointer& made);
CUresult allocation_work(CUcontext in, std::size_t size, WorkPointer& made);
CUresult freeing_work(CUdeviceptr address, WorkPointer& made);

/// A node that has no more to it than its place.
WorkPointer empty_work();
/// The same kernel with these attributes; those that are none of a node's are left out.
WorkPointer with_attributes(const Work& kernel, std::vector<CUlaunchAttribute> attributes);

/// Of a kernel, as cuGraphKernelNodeGetParams tells it; what it points to is the work's.
CUDA_KERNEL_NODE_PARAMS described(const Work& kernel);

/// The message's form; what it shows is the work's and `values`'.
cu::NodeWork reported(const Work& work);

/// Plain memory on both sides.
CUDA_MEMCPY3D plain_copy(CUdeviceptr to, CUdeviceptr from, std::size_t size);

}  // namespace flexrack::client::cuda
