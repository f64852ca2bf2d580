// The functions of the libnccl of a server, and what is known of a collective before it is called.
// Generated from native/spec/nccl.* by native/codegen/generate.ts; change those.
#pragma once

#include <functional>

#include "gen/cuda/messages.h"
#include "gen/nccl/nccl.h"

namespace flexrack::backend::cuda::nccl {

/// Null where the library lacks it.
struct LibraryTable {
  decltype(&::ncclGetVersion) ncclGetVersion = nullptr;
  decltype(&::ncclGetUniqueId) ncclGetUniqueId = nullptr;
  decltype(&::ncclCommInitRankConfig) ncclCommInitRankConfig = nullptr;
  decltype(&::ncclCommFinalize) ncclCommFinalize = nullptr;
  decltype(&::ncclCommDestroy) ncclCommDestroy = nullptr;
  decltype(&::ncclCommAbort) ncclCommAbort = nullptr;
  decltype(&::ncclCommSplit) ncclCommSplit = nullptr;
  decltype(&::ncclGetErrorString) ncclGetErrorString = nullptr;
  decltype(&::ncclGetLastError) ncclGetLastError = nullptr;
  decltype(&::ncclCommGetAsyncError) ncclCommGetAsyncError = nullptr;
  decltype(&::ncclCommCount) ncclCommCount = nullptr;
  decltype(&::ncclCommUserRank) ncclCommUserRank = nullptr;
  decltype(&::ncclReduce) ncclReduce = nullptr;
  decltype(&::ncclBroadcast) ncclBroadcast = nullptr;
  decltype(&::ncclAllReduce) ncclAllReduce = nullptr;
  decltype(&::ncclReduceScatter) ncclReduceScatter = nullptr;
  decltype(&::ncclAllGather) ncclAllGather = nullptr;
  decltype(&::ncclAlltoAll) ncclAlltoAll = nullptr;
  decltype(&::ncclGather) ncclGather = nullptr;
  decltype(&::ncclScatter) ncclScatter = nullptr;
  decltype(&::ncclSend) ncclSend = nullptr;
  decltype(&::ncclRecv) ncclRecv = nullptr;
  decltype(&::ncclGroupStart) ncclGroupStart = nullptr;
  decltype(&::ncclGroupEnd) ncclGroupEnd = nullptr;
};

/// `find` gives the address of a symbol, or null.
inline void fill(LibraryTable& table, const std::function<void*(const char* symbol)>& find) {
  table.ncclGetVersion = reinterpret_cast<decltype(table.ncclGetVersion)>(find("ncclGetVersion"));
  table.ncclGetUniqueId = reinterpret_cast<decltype(table.ncclGetUniqueId)>(find("ncclGetUniqueId"));
  table.ncclCommInitRankConfig = reinterpret_cast<decltype(table.ncclCommInitRankConfig)>(find("ncclCommInitRankConfig"));
  table.ncclCommFinalize = reinterpret_cast<decltype(table.ncclCommFinalize)>(find("ncclCommFinalize"));
  table.ncclCommDestroy = reinterpret_cast<decltype(table.ncclCommDestroy)>(find("ncclCommDestroy"));
  table.ncclCommAbort = reinterpret_cast<decltype(table.ncclCommAbort)>(find("ncclCommAbort"));
  table.ncclCommSplit = reinterpret_cast<decltype(table.ncclCommSplit)>(find("ncclCommSplit"));
  table.ncclGetErrorString = reinterpret_cast<decltype(table.ncclGetErrorString)>(find("ncclGetErrorString"));
  table.ncclGetLastError = reinterpret_cast<decltype(table.ncclGetLastError)>(find("ncclGetLastError"));
  table.ncclCommGetAsyncError = reinterpret_cast<decltype(table.ncclCommGetAsyncError)>(find("ncclCommGetAsyncError"));
  table.ncclCommCount = reinterpret_cast<decltype(table.ncclCommCount)>(find("ncclCommCount"));
  table.ncclCommUserRank = reinterpret_cast<decltype(table.ncclCommUserRank)>(find("ncclCommUserRank"));
  table.ncclReduce = reinterpret_cast<decltype(table.ncclReduce)>(find("ncclReduce"));
  table.ncclBroadcast = reinterpret_cast<decltype(table.ncclBroadcast)>(find("ncclBroadcast"));
  table.ncclAllReduce = reinterpret_cast<decltype(table.ncclAllReduce)>(find("ncclAllReduce"));
  table.ncclReduceScatter = reinterpret_cast<decltype(table.ncclReduceScatter)>(find("ncclReduceScatter"));
  table.ncclAllGather = reinterpret_cast<decltype(table.ncclAllGather)>(find("ncclAllGather"));
  table.ncclAlltoAll = reinterpret_cast<decltype(table.ncclAlltoAll)>(find("ncclAlltoAll"));
  table.ncclGather = reinterpret_cast<decltype(table.ncclGather)>(find("ncclGather"));
  table.ncclScatter = reinterpret_cast<decltype(table.ncclScatter)>(find("ncclScatter"));
  table.ncclSend = reinterpret_cast<decltype(table.ncclSend)>(find("ncclSend"));
  table.ncclRecv = reinterpret_cast<decltype(table.ncclRecv)>(find("ncclRecv"));
  table.ncclGroupStart = reinterpret_cast<decltype(table.ncclGroupStart)>(find("ncclGroupStart"));
  table.ncclGroupEnd = reinterpret_cast<decltype(table.ncclGroupEnd)>(find("ncclGroupEnd"));
}

/// One side of a collective: whether it has a buffer there, `count` elements long or as many for each rank, perhaps at the root only.
struct Side {
  bool is_there = false, is_for_each_rank = false, is_at_root = false;
};
struct Shape {
  Side source, target;
  bool has_reduction = false, has_peer = false;
};

/// Null for a number that is none.
inline const Shape* shape_of(std::uint32_t which) {
  switch (which) {
    case 3: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .target = {.is_there = true, .is_for_each_rank = false, .is_at_root = true}, .has_reduction = true, .has_peer = true};
      return &shape;
    }
    case 2: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = false, .is_at_root = true}, .target = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .has_reduction = false, .has_peer = true};
      return &shape;
    }
    case 1: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .target = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .has_reduction = true, .has_peer = false};
      return &shape;
    }
    case 5: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = true, .is_at_root = false}, .target = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .has_reduction = true, .has_peer = false};
      return &shape;
    }
    case 4: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .target = {.is_there = true, .is_for_each_rank = true, .is_at_root = false}, .has_reduction = false, .has_peer = false};
      return &shape;
    }
    case 8: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = true, .is_at_root = false}, .target = {.is_there = true, .is_for_each_rank = true, .is_at_root = false}, .has_reduction = false, .has_peer = false};
      return &shape;
    }
    case 9: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .target = {.is_there = true, .is_for_each_rank = true, .is_at_root = true}, .has_reduction = false, .has_peer = true};
      return &shape;
    }
    case 10: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = true, .is_at_root = true}, .target = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .has_reduction = false, .has_peer = true};
      return &shape;
    }
    case 6: {
      static constexpr Shape shape{.source = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .target = {}, .has_reduction = false, .has_peer = true};
      return &shape;
    }
    case 7: {
      static constexpr Shape shape{.source = {}, .target = {.is_there = true, .is_for_each_rank = false, .is_at_root = false}, .has_reduction = false, .has_peer = true};
      return &shape;
    }
    default: return nullptr;
  }
}

/// Calls it; ncclInvalidUsage where the library has no such function.
inline ncclResult_t run(const LibraryTable& library, const cu::Collective& one, ncclComm_t comm, cudaStream_t stream) {
  const auto* source = reinterpret_cast<const void*>(one.source);
  auto* target = reinterpret_cast<void*>(one.target);
  const auto type = static_cast<ncclDataType_t>(one.type);
  [[maybe_unused]] const auto op = static_cast<ncclRedOp_t>(one.reduction);
  [[maybe_unused]] const auto peer = static_cast<int>(one.peer);
  switch (one.which) {
    case 3: return library.ncclReduce ? library.ncclReduce(source, target, one.count, type, op, peer, comm, stream) : ncclInvalidUsage;
    case 2: return library.ncclBroadcast ? library.ncclBroadcast(source, target, one.count, type, peer, comm, stream) : ncclInvalidUsage;
    case 1: return library.ncclAllReduce ? library.ncclAllReduce(source, target, one.count, type, op, comm, stream) : ncclInvalidUsage;
    case 5: return library.ncclReduceScatter ? library.ncclReduceScatter(source, target, one.count, type, op, comm, stream) : ncclInvalidUsage;
    case 4: return library.ncclAllGather ? library.ncclAllGather(source, target, one.count, type, comm, stream) : ncclInvalidUsage;
    case 8: return library.ncclAlltoAll ? library.ncclAlltoAll(source, target, one.count, type, comm, stream) : ncclInvalidUsage;
    case 9: return library.ncclGather ? library.ncclGather(source, target, one.count, type, peer, comm, stream) : ncclInvalidUsage;
    case 10: return library.ncclScatter ? library.ncclScatter(source, target, one.count, type, peer, comm, stream) : ncclInvalidUsage;
    case 6: return library.ncclSend ? library.ncclSend(source, one.count, type, peer, comm, stream) : ncclInvalidUsage;
    case 7: return library.ncclRecv ? library.ncclRecv(target, one.count, type, peer, comm, stream) : ncclInvalidUsage;
    default: return ncclInvalidUsage;
  }
}

}  // namespace flexrack::backend::cuda::nccl
