// Functions that this driver has and refuses. What it does not have at all, the forms of CUDA 2 with addresses of 32
// bits, is not here: cuGetProcAddress does not find them.
#include <string>

#include "sim/driver/failure.h"

namespace {

CUresult refuse(const char* function = __builtin_FUNCTION()) {
  return flexrack::sim::call(
      [&] { flexrack::sim::fail(CUDA_ERROR_NOT_SUPPORTED, std::string(function) + " is nothing this driver can do"); });
}

}  // namespace

extern "C" {

// Pools, ranges and objects of other processes, drivers and interfaces.
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData*, CUdeviceptr) { return refuse(); }
CUresult cuMemPoolExportToShareableHandle(void*, CUmemoryPool, CUmemAllocationHandleType, unsigned long long) {
  return refuse();
}
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool*, void*, CUmemAllocationHandleType, unsigned long long) {
  return refuse();
}
CUresult cuMemPoolImportPointer(CUdeviceptr*, CUmemoryPool, CUmemPoolPtrExportData*) { return refuse(); }
CUresult cuMemGetHandleForAddressRange(void*, CUdeviceptr, size_t, CUmemRangeHandleType, unsigned long long) {
  return refuse();
}
CUresult cuImportExternalMemory(CUexternalMemory*, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC*) { return refuse(); }
CUresult cuDestroyExternalMemory(CUexternalMemory) { return refuse(); }
CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr*, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC*) {
  return refuse();
}
CUresult cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray*, CUexternalMemory,
                                                 const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC*) {
  return refuse();
}
CUresult cuImportExternalSemaphore(CUexternalSemaphore*, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC*) {
  return refuse();
}
CUresult cuDestroyExternalSemaphore(CUexternalSemaphore) { return refuse(); }
CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore*, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS*,
                                         unsigned int, CUstream) {
  return refuse();
}
CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore*, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS*,
                                       unsigned int, CUstream) {
  return refuse();
}
CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                                                const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*) {
  return refuse();
}
CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                                              const CUDA_EXT_SEM_WAIT_NODE_PARAMS*) {
  return refuse();
}
CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec, CUgraphNode,
                                                          const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*) {
  return refuse();
}
CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec, CUgraphNode,
                                                        const CUDA_EXT_SEM_WAIT_NODE_PARAMS*) {
  return refuse();
}
CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*) {
  return refuse();
}
CUresult cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*) {
  return refuse();
}
CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS*) { return refuse(); }
CUresult cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS*) {
  return refuse();
}
CUresult cuDeviceGetNvSciSyncAttributes(void*, CUdevice, int) { return refuse(); }
CUresult cuDeviceGetLuid(char*, unsigned int*, CUdevice) { return refuse(); }
CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope) {
  return refuse();
}

// Graphics.
CUresult cuGraphicsMapResources(unsigned int, CUgraphicsResource*, CUstream) { return refuse(); }
CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray*, CUgraphicsResource) { return refuse(); }
CUresult cuGraphicsResourceGetMappedPointer(CUdeviceptr_v1*, unsigned int*, CUgraphicsResource) { return refuse(); }
CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr*, size_t*, CUgraphicsResource) { return refuse(); }
CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource, unsigned int) { return refuse(); }
CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource, unsigned int) { return refuse(); }
CUresult cuGraphicsSubResourceGetMappedArray(CUarray*, CUgraphicsResource, unsigned int, unsigned int) {
  return refuse();
}
CUresult cuGraphicsUnmapResources(unsigned int, CUgraphicsResource*, CUstream) { return refuse(); }
CUresult cuGraphicsUnregisterResource(CUgraphicsResource) { return refuse(); }

// Parts of a device as contexts of their own.
CUresult cuGreenCtxCreate(CUgreenCtx*, CUdevResourceDesc, CUdevice, unsigned int) { return refuse(); }
CUresult cuGreenCtxDestroy(CUgreenCtx) { return refuse(); }
CUresult cuGreenCtxGetDevResource(CUgreenCtx, CUdevResource*, CUdevResourceType) { return refuse(); }
CUresult cuGreenCtxGetId(CUgreenCtx, unsigned long long*) { return refuse(); }
CUresult cuGreenCtxRecordEvent(CUgreenCtx, CUevent) { return refuse(); }
CUresult cuGreenCtxStreamCreate(CUstream*, CUgreenCtx, unsigned int, int) { return refuse(); }
CUresult cuGreenCtxWaitEvent(CUgreenCtx, CUevent) { return refuse(); }
CUresult cuCtxFromGreenCtx(CUcontext*, CUgreenCtx) { return refuse(); }
CUresult cuCtxGetDevResource(CUcontext, CUdevResource*, CUdevResourceType) { return refuse(); }
CUresult cuDeviceGetDevResource(CUdevice, CUdevResource*, CUdevResourceType) { return refuse(); }
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc*, CUdevResource*, unsigned int) { return refuse(); }
CUresult cuDevSmResourceSplitByCount(CUdevResource*, unsigned int*, const CUdevResource*, CUdevResource*, unsigned int,
                                     unsigned int) {
  return refuse();
}

// What this device's attributes say it cannot: multicast, decompression, tensor maps, sparse arrays, functions that are
// one with the host's.
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle, CUdevice) { return refuse(); }
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t, unsigned long long) {
  return refuse();
}
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t,
                            unsigned long long) {
  return refuse();
}
CUresult cuMulticastCreate(CUmemGenericAllocationHandle*, const CUmulticastObjectProp*) { return refuse(); }
CUresult cuMulticastGetGranularity(size_t*, const CUmulticastObjectProp*, CUmulticastGranularity_flags) {
  return refuse();
}
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle, CUdevice, size_t, size_t) { return refuse(); }
CUresult cuMemBatchDecompressAsync(CUmemDecompressParams*, size_t, unsigned int, size_t*, CUstream) { return refuse(); }
CUresult cuTensorMapEncodeIm2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                 const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t, const cuuint32_t*,
                                 CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill) {
  return refuse();
}
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                     const cuuint64_t*, int, int, cuuint32_t, cuuint32_t, const cuuint32_t*,
                                     CUtensorMapInterleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return refuse();
}
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return refuse();
}
CUresult cuTensorMapReplaceAddress(CUtensorMap*, void*) { return refuse(); }
CUresult cuMemMapArrayAsync(CUarrayMapInfo*, unsigned int, CUstream) { return refuse(); }
CUresult cuLibraryGetUnifiedFunction(void**, CUlibrary, const char*) { return refuse(); }

// One launch on several devices, which CUDA itself has given up.
CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS*, unsigned int, unsigned int) { return refuse(); }

// Core dumps, checkpoints, notices, the profiler of CUDA 4.
CUresult cuCoredumpGetAttribute(CUcoredumpSettings, void*, size_t*) { return refuse(); }
CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings, void*, size_t*) { return refuse(); }
CUresult cuCoredumpSetAttribute(CUcoredumpSettings, void*, size_t*) { return refuse(); }
CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings, void*, size_t*) { return refuse(); }
CUresult cuCheckpointProcessCheckpoint(int, CUcheckpointCheckpointArgs*) { return refuse(); }
CUresult cuCheckpointProcessGetRestoreThreadId(int, int*) { return refuse(); }
CUresult cuCheckpointProcessGetState(int, CUprocessState*) { return refuse(); }
CUresult cuCheckpointProcessLock(int, CUcheckpointLockArgs*) { return refuse(); }
CUresult cuCheckpointProcessRestore(int, CUcheckpointRestoreArgs*) { return refuse(); }
CUresult cuCheckpointProcessUnlock(int, CUcheckpointUnlockArgs*) { return refuse(); }
CUresult cuDeviceRegisterAsyncNotification(CUdevice, CUasyncCallback, void*, CUasyncCallbackHandle*) {
  return refuse();
}
CUresult cuDeviceUnregisterAsyncNotification(CUdevice, CUasyncCallbackHandle) { return refuse(); }
CUresult cuProfilerInitialize(const char*, const char*, CUoutput_mode) { return refuse(); }

// Launches of CUDA 3 and before, where a function keeps its own parameters; texture references without a module.
CUresult cuFuncSetBlockShape(CUfunction, int, int, int) { return refuse(); }
CUresult cuFuncSetSharedSize(CUfunction, unsigned int) { return refuse(); }
CUresult cuLaunch(CUfunction) { return refuse(); }
CUresult cuLaunchGrid(CUfunction, int, int) { return refuse(); }
CUresult cuLaunchGridAsync(CUfunction, int, int, CUstream) { return refuse(); }
CUresult cuParamSetSize(CUfunction, unsigned int) { return refuse(); }
CUresult cuParamSetTexRef(CUfunction, int, CUtexref) { return refuse(); }
CUresult cuParamSetf(CUfunction, int, float) { return refuse(); }
CUresult cuParamSeti(CUfunction, int, unsigned int) { return refuse(); }
CUresult cuParamSetv(CUfunction, int, void*, unsigned int) { return refuse(); }
CUresult cuTexRefCreate(CUtexref*) { return refuse(); }
CUresult cuTexRefDestroy(CUtexref) { return refuse(); }

}  // extern "C"
