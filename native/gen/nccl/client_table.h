// What libnccl.so.2 finds in the CUDA driver beside it (cuda/own_tables.h).
// Generated from native/spec/nccl.* by native/codegen/generate.ts; change those.
#pragma once

#include "gen/nccl/nccl.h"

namespace flexrack::cuda {

struct NcclTable {
  static constexpr char kName[] = "flexrack ncc v1";
  std::uint64_t size = sizeof(NcclTable);
  ncclResult_t (*ncclMemAlloc)(void** ptr, size_t size) = nullptr;
  ncclResult_t (*ncclMemFree)(void* ptr) = nullptr;
  ncclResult_t (*ncclGetVersion)(int* version) = nullptr;
  ncclResult_t (*ncclGetUniqueId)(ncclUniqueId* uniqueId) = nullptr;
  ncclResult_t (*ncclCommInitRankConfig)(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config) = nullptr;
  ncclResult_t (*ncclCommInitRank)(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) = nullptr;
  ncclResult_t (*ncclCommInitAll)(ncclComm_t* comm, int ndev, const int* devlist) = nullptr;
  ncclResult_t (*ncclCommFinalize)(ncclComm_t comm) = nullptr;
  ncclResult_t (*ncclCommDestroy)(ncclComm_t comm) = nullptr;
  ncclResult_t (*ncclCommAbort)(ncclComm_t comm) = nullptr;
  ncclResult_t (*ncclCommSplit)(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config) = nullptr;
  const char* (*ncclGetErrorString)(ncclResult_t result) = nullptr;
  const char* (*ncclGetLastError)(ncclComm_t comm) = nullptr;
  void (*ncclResetDebugInit)() = nullptr;
  ncclResult_t (*ncclCommGetAsyncError)(ncclComm_t comm, ncclResult_t* asyncError) = nullptr;
  ncclResult_t (*ncclCommCount)(ncclComm_t comm, int* count) = nullptr;
  ncclResult_t (*ncclCommCuDevice)(ncclComm_t comm, int* device) = nullptr;
  ncclResult_t (*ncclCommUserRank)(ncclComm_t comm, int* rank) = nullptr;
  ncclResult_t (*ncclCommRegister)(ncclComm_t comm, void* buff, size_t size, void** handle) = nullptr;
  ncclResult_t (*ncclCommDeregister)(ncclComm_t comm, void* handle) = nullptr;
  ncclResult_t (*ncclReduce)(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclBcast)(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclBroadcast)(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclAllReduce)(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclReduceScatter)(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclAllGather)(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclAlltoAll)(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclGather)(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclScatter)(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclSend)(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclRecv)(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm, cudaStream_t stream) = nullptr;
  ncclResult_t (*ncclGroupStart)() = nullptr;
  ncclResult_t (*ncclGroupEnd)() = nullptr;
  void (*ncclParamDumpAll)() = nullptr;
};

}  // namespace flexrack::cuda
