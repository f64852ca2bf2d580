// Communicators of NCCL: one rank each, at the server of its device, where NCCL itself is.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "client/cuda/objects.h"
#include "gen/nccl/nccl.h"

namespace flexrack::client::cuda {

/// How it is with a communicator; told by its server, perhaps when the application has no handle of it any more.
struct Standing {
  std::atomic<ncclResult_t> result{ncclSuccess};
  std::atomic<int> ranks = 0, rank = 0;
  std::atomic<bool> is_finalized{false};   ///< nothing more is asked of it but its end
};

template <>
inline constexpr Kind kKindOf<ncclComm_t> = Kind::communicator;

/// The server says that it has failed.
void fail_communicator(std::uint64_t handle, ncclResult_t result, std::string_view text);

}  // namespace flexrack::client::cuda

struct ncclComm : fc::Object {
  fc::Device* device = nullptr;
  std::shared_ptr<fc::Standing> standing = std::make_shared<fc::Standing>();
  ncclComm() : Object(fc::Kind::communicator) {}
};

namespace flexrack::client::cuda::nccl {

/// What a thread has between ncclGroupStart and ncclGroupEnd.
struct Group {
  unsigned depth = 0;
  ncclResult_t error = ncclSuccess;  ///< the first of its calls
  struct Join {
    ncclComm_t comm;
    ncclUniqueId id;
    bool is_awaited;
    ncclComm_t parent = nullptr;  ///< it is a split of that one; `comm` may be null then
    int color = 0, key = 0;
  };
  struct Put {
    ncclComm_t comm;
    CUstream stream;
    cu::Collective call;
  };
  std::vector<Join> joins;
  std::vector<Put> puts;
};
Group& group();

/// The result, and why, for ncclGetLastError.
ncclResult_t failed(ncclResult_t result, std::string_view why);

/// A communicator without its peers; null where there is no such context. It is known by its handle from now on.
ncclComm_t make(CUcontext context, int ranks, int rank);
/// Joins at their servers, all at a time: each is answered when the last rank has come.
ncclResult_t join_all(const std::vector<Group::Join>& joins);
/// One collective: now, or with its group.
ncclResult_t put(const cu::Collective& call, ncclComm_t comm, CUstream stream);
/// A message for each communicator.
ncclResult_t send_all(const std::vector<Group::Put>& puts);

}  // namespace flexrack::client::cuda::nccl
