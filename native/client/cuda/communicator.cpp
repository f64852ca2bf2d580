// Making communicators, and what becomes of them.
#include "client/cuda/communicator.h"

#include <map>
#include <thread>

#include "client/cuda/driver.h"
#include "client/cuda/inbox.h"

namespace flexrack::client::cuda {
namespace {

/// Never destroyed: links are read until the process is gone.
struct Communicators {
  std::mutex lock;
  std::map<std::uint64_t, std::weak_ptr<Standing>> standings;   ///< under lock: by the communicator's handle
  std::string last_error;   ///< under lock
};

Communicators& communicators() {
  static auto& all = *new Communicators;
  return all;
}

/// What is asked of a server, without the application's objects: it may abort what has not come together yet.
struct Asked {
  CudaServer* server = nullptr;
  cu::JoinCollectives join{};
  ncclUniqueId id{};
  cu::SplitCollectives split{};   ///< where it has a communicator
  std::shared_ptr<Standing> standing{};
};

Asked asked(const nccl::Group::Join& one) {
  Asked all{.server = one.parent ? one.parent->server : one.comm->server,
            .id = one.id,
            .standing = one.comm ? one.comm->standing : std::make_shared<Standing>()};
  if (one.parent)
    all.split = {.communicator = one.parent->handle,
                 .made = one.comm ? one.comm->handle : 0,
                 .color = one.color,
                 .key = one.key};
  else
    all.join = {.context = one.comm->context_handle,
                .communicator = one.comm->handle,
                .ranks = static_cast<std::uint32_t>(all.standing->ranks),
                .rank = static_cast<std::uint32_t>(all.standing->rank)};
  return all;
}

ncclResult_t join_at(Asked& all) {
  auto result = ncclRemoteError;
  auto& [server, join, id, split, standing_of] = all;
  auto& standing = *standing_of;
  const auto take = [&](const auto& reply) {
    result = static_cast<ncclResult_t>(reply.status);
    if (result != ncclSuccess) nccl::failed(result, reply.text);
  };
  bool is_answered = false;
  if (split.communicator != 0)
    is_answered = server->session->call(split, [&](const cu::SplitCollectivesReply& reply) {
      standing.ranks = static_cast<int>(reply.ranks);
      standing.rank = static_cast<int>(reply.rank);
      take(reply);
    });
  else {
    join.id = wire::View(reinterpret_cast<const std::uint8_t*>(id.internal), sizeof id.internal);
    is_answered = server->session->call(join, take);
  }
  if (!is_answered) nccl::failed(result, "the server of this rank is lost");
  standing.result = result;
  return result;
}

}  // namespace

void fail_communicator(std::uint64_t handle, ncclResult_t result, std::string_view text) {
  std::shared_ptr<Standing> standing;
  {
    const std::lock_guard guard(communicators().lock);
    communicators().last_error = text;
    if (const auto found = communicators().standings.find(handle); found != communicators().standings.end())
      standing = found->second.lock();
  }
  if (standing) standing->result = result;
}

namespace nccl {

ncclResult_t failed(ncclResult_t result, std::string_view why) {
  const std::lock_guard guard(communicators().lock);
  communicators().last_error = why;
  return result;
}

const char* ncclGetLastError(ncclComm_t) {
  thread_local std::string text;
  const std::lock_guard guard(communicators().lock);
  text = communicators().last_error;
  return text.c_str();
}

ncclComm_t make(CUcontext context, int ranks, int rank) {
  const auto made = new ncclComm;
  made->server = context->server;
  made->context = context;
  made->context_handle = context->handle;
  made->handle = mint();
  made->device = context->device;
  made->standing->ranks = ranks;
  made->standing->rank = rank;
  made->standing->result = ncclInProgress;
  const std::lock_guard guard(communicators().lock);
  std::erase_if(communicators().standings, [](const auto& one) { return one.second.expired(); });
  communicators().standings[made->handle] = made->standing;
  return made;
}

ncclResult_t join_all(const std::vector<Group::Join>& joins) {
  std::vector<std::thread> threads;
  std::atomic<ncclResult_t> worst = ncclSuccess;
  for (std::size_t i = 0; i < joins.size(); ++i) {
    const auto& one = joins[i];
    // The last one that is waited for needs no other thread.
    if (one.is_awaited && i + 1 == joins.size()) {
      auto all = asked(one);
      if (const auto result = join_at(all); result != ncclSuccess) worst = result;
      break;
    }
    std::thread other([&worst, all = asked(one), is_awaited = one.is_awaited]() mutable {
      const auto result = join_at(all);
      if (is_awaited && result != ncclSuccess) worst = result;
    });
    if (one.is_awaited) threads.push_back(std::move(other));
    else other.detach();
  }
  for (auto& one : threads) one.join();
  return worst;
}

}  // namespace nccl
}  // namespace flexrack::client::cuda
