// NCCL's functions in the application: collectives travel as messages on their streams, and are carried out by the
// servers' own NCCL.
#include <algorithm>
#include <optional>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"
#include "client/cuda/capture.h"
#include "client/cuda/communicator.h"
#include "client/cuda/replicated_link.h"
#include "client/guard.h"
#include "gen/cuda/client_functions.h"
#include "gen/nccl/client_functions.h"

namespace flexrack::client::cuda::nccl {
namespace {

constexpr int kUnset = -2147483647 - 1;   ///< NCCL_CONFIG_UNDEF_INT
constexpr int kNoColor = -1;   ///< NCCL_SPLIT_NOCOLOR

template <class Body>
ncclResult_t guard(Body&& body) noexcept {
  return guarded<ncclSystemError, ncclInternalError>(std::forward<Body>(body));
}

constexpr const char* kTexts[] = {
#define RESULT(name, text) text,
#include "gen/nccl/errors.inc"
#undef RESULT
};

bool is_usable(ncclComm_t comm) {
  return process() && is_live(comm) && is_live(comm->context) && comm->context->handle == comm->context_handle;
}

constexpr const char* kIsFinalized = "the communicator is finalized";

ncclResult_t no_communicator() { return failed(ncclInvalidArgument, "that is no communicator of this process"); }

/// The current context, as the library finds its device; with none, that of the first device, as the runtime does.
CUcontext current_context() {
  if (open_process() != CUDA_SUCCESS) return nullptr;
  auto now = thread_state.current;
  if (!now && cuda::cuDevicePrimaryCtxRetain(&now, 0) == CUDA_SUCCESS) cuda::cuCtxSetCurrent(now);
  return now && is_live(now) && now->handle != 0 ? now : nullptr;
}

/// Now, or at the end of the group.
ncclResult_t join(const Group::Join& one) {
  if (group().depth > 0) return group().joins.push_back(one), ncclSuccess;
  const auto result = join_all({one});
  return one.is_awaited ? result : ncclInProgress;
}

ncclResult_t begin(ncclComm_t* comm, CUcontext context, int ranks, const ncclUniqueId& id, int rank, bool is_awaited) {
  if (!comm || ranks < 1 || rank < 0 || rank >= ranks)
    return failed(ncclInvalidArgument, "a rank is one of 0 to ranks - 1");
  if (!context) return failed(ncclUnhandledCudaError, "there is no device to be a rank");
  if (context->server->is_mirrored()) {
    refuse_mirrored("collectives of NCCL");
    return failed(ncclInvalidUsage, "a program that is mirrored on two servers has no collectives");
  }
  *comm = make(context, ranks, rank);
  return join({*comm, id, is_awaited});
}

ncclResult_t end(ncclComm_t comm, std::uint32_t how) {
  if (!process() || !is_live(comm)) return no_communicator();
  auto result = comm->standing->result.load();
  const cu::EndCollectives message{.communicator = comm->handle, .how = how};
  const bool is_answered = comm->server->session->call(
      message, [&](const cu::EndCollectivesReply& reply) { result = static_cast<ncclResult_t>(reply.status); });
  if (!is_answered) result = failed(ncclRemoteError, "the server of this rank is lost");
  if (how != 2) discard(comm);
  else if (result == ncclSuccess) comm->standing->is_finalized = true;
  return result;
}

/// Whether a call waits until all are there, as it does unless it is told; nothing is an error.
std::optional<bool> is_awaited(const ncclConfig_t* config) {
  const bool is_told = config && config->size >= offsetof(ncclConfig_t, blocking) + sizeof config->blocking;
  const int blocking = is_told ? config->blocking : kUnset;
  if (blocking == kUnset || blocking == 0 || blocking == 1) return blocking != 0;
  return failed(ncclInvalidArgument, "blocking is 0 or 1"), std::nullopt;
}

/// Which stream of the communicator's device it is.
CUstream stream_of(ncclComm_t comm, CUstream stream) {
  if (stream == CU_STREAM_PER_THREAD) return thread_stream(comm->context);
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2) return comm->context->default_stream;
  return is_live(stream) && stream->context == comm->context && stream->context_handle == comm->context_handle
             ? stream
             : nullptr;
}

/// Memory of the communicator's server: the application's own is kept at a server as a copy, which collectives do not
/// bring up to date.
bool is_of(ncclComm_t comm, std::uint64_t address) {
  if (address == 0) return true;
  const auto known = find_allocation(address);
  return known && known->is_device() && known->server == comm->server;
}

}  // namespace

Group& group() {
  thread_local Group own;
  return own;
}

ncclResult_t put(const cu::Collective& call, ncclComm_t comm, CUstream stream) {
  const auto refuse = [](ncclResult_t result, std::string_view why) {
    if (group().depth > 0 && group().error == ncclSuccess) group().error = result;
    return failed(result, why);
  };
  if (!is_usable(comm)) return refuse(ncclInvalidArgument, "that is no communicator of this process");
  if (comm->standing->is_finalized) return refuse(ncclInvalidUsage, kIsFinalized);
  const auto on = stream_of(comm, stream);
  if (!on) return refuse(ncclInvalidArgument, "the stream is of another device than the communicator");
  if (is_capturing(on)) return refuse(ncclInvalidUsage, "collectives cannot be captured in graphs yet");
  if (!is_of(comm, call.source) || !is_of(comm, call.target))
    return refuse(ncclInvalidArgument, "a buffer is no memory of a GPU of the communicator's server");
  if (group().depth > 0) return group().puts.push_back({comm, on, call}), ncclSuccess;
  return send_all({{comm, on, call}});
}

ncclResult_t send_all(const std::vector<Group::Put>& puts) {
  for (const auto& one : puts) {
    if (const auto standing = one.comm->standing->result.load(); standing != ncclSuccess)
      return failed(standing == ncclInProgress ? ncclInvalidArgument : standing,
                    standing == ncclInProgress ? "not all ranks of the communicator are there yet" : "it has failed");
    if (std::any_of(puts.begin(), puts.end(),
                    [&](const auto& other) { return other.comm == one.comm && other.stream != one.stream; }))
      return failed(ncclInvalidUsage, "in a group all of a communicator goes on one stream");
  }
  std::vector<ncclComm_t> sent;
  for (const auto& first : puts) {
    if (std::find(sent.begin(), sent.end(), first.comm) != sent.end()) continue;
    sent.push_back(first.comm);
    cu::Collectives message{
        .context = first.comm->context_handle, .stream = first.stream->handle, .communicator = first.comm->handle};
    for (const auto& one : puts)
      if (one.comm == first.comm) message.calls.push_back(one.call);
    note_put(first.stream);
    if (!first.comm->server->session->send(message)) return failed(ncclRemoteError, "the server of this rank is lost");
  }
  // Another rank may wait for these: they do not wait for a call that needs an answer.
  for (const auto comm : sent) comm->server->session->link().flush();
  return ncclSuccess;
}

ncclResult_t ncclGetVersion(int* version) {
  if (!version) return ncclInvalidArgument;
  if (open_process() != CUDA_SUCCESS) return failed(ncclSystemError, "no server of a lease is reached");
  int lowest = 0;
  for (const auto* server : process()->servers) {
    auto result = ncclRemoteError;
    server->session->call(cu::CollectiveVersion{}, [&](const cu::CollectiveVersionReply& reply) {
      result = static_cast<ncclResult_t>(reply.status);
      if (result != ncclSuccess) failed(result, reply.text);
      else lowest = lowest == 0 ? reply.version : std::min(lowest, reply.version);
    });
    if (result != ncclSuccess) return result;
  }
  *version = lowest;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
  if (!uniqueId) return ncclInvalidArgument;
  const auto context = current_context();
  if (!context) return failed(ncclSystemError, "no server of a lease is reached");
  auto result = ncclRemoteError;
  context->server->session->call(cu::CollectiveId{}, [&](const cu::CollectiveIdReply& reply) {
    result = static_cast<ncclResult_t>(reply.status);
    if (result != ncclSuccess) failed(result, reply.text);
    else if (reply.id.size() != sizeof uniqueId->internal) result = ncclInternalError;
    else std::memcpy(uniqueId->internal, reply.id.data(), sizeof uniqueId->internal);
  });
  return result;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return begin(comm, current_context(), nranks, commId, rank, true);
}

/// Of its settings only `blocking` is this side's; the others say how NCCL is to use hardware that is the server's.
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config) {
  const auto is_waiting = is_awaited(config);
  if (!is_waiting) return ncclInvalidArgument;
  return begin(comm, current_context(), nranks, commId, rank, *is_waiting);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config) {
  if (!newcomm) return ncclInvalidArgument;
  *newcomm = nullptr;
  if (!is_usable(comm)) return no_communicator();
  if (comm->standing->is_finalized) return failed(ncclInvalidUsage, kIsFinalized);
  if (color < 0 && color != kNoColor) return failed(ncclInvalidArgument, "a color is 0 or more");
  if (const auto standing = comm->standing->result.load(); standing != ncclSuccess)
    return failed(standing == ncclInProgress ? ncclInvalidArgument : standing,
                  "not all ranks of the communicator are there, or it has failed");
  const auto is_waiting = is_awaited(config);
  if (!is_waiting) return ncclInvalidArgument;
  if (color >= 0) *newcomm = make(comm->context, 0, 0);
  return join({*newcomm, {}, *is_waiting, comm, color, key});
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  if (!comm || ndev < 1) return ncclInvalidArgument;
  if (open_process() != CUDA_SUCCESS) return failed(ncclSystemError, "no server of a lease is reached");
  const auto before = thread_state.current;
  std::vector<CUcontext> contexts;
  for (int i = 0; i < ndev; ++i) {
    CUcontext one = nullptr;
    if (cuda::cuDevicePrimaryCtxRetain(&one, devlist ? devlist[i] : i) != CUDA_SUCCESS)
      return failed(ncclInvalidArgument, "there is no such device");
    contexts.push_back(one);
  }
  ncclUniqueId id;
  cuda::cuCtxSetCurrent(contexts.front());
  auto result = nccl::ncclGetUniqueId(&id);
  cuda::cuCtxSetCurrent(before);
  if (result != ncclSuccess) return result;
  std::vector<Group::Join> joins;
  for (int i = 0; i < ndev; ++i) {
    comm[i] = make(contexts[static_cast<std::size_t>(i)], ndev, i);
    joins.push_back({comm[i], id, true});
  }
  return join_all(joins);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) { return comm ? end(comm, 0) : ncclSuccess; }
ncclResult_t ncclCommAbort(ncclComm_t comm) { return comm ? end(comm, 1) : ncclSuccess; }
ncclResult_t ncclCommFinalize(ncclComm_t comm) { return end(comm, 2); }

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  if (!asyncError || !process() || !is_live(comm)) return no_communicator();
  *asyncError = comm->server->session->is_alive() ? comm->standing->result.load() : ncclRemoteError;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (!count || !process() || !is_live(comm)) return no_communicator();
  return *count = comm->standing->ranks, ncclSuccess;
}
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  if (!device || !process() || !is_live(comm)) return no_communicator();
  return *device = comm->device->ordinal, ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (!rank || !process() || !is_live(comm)) return no_communicator();
  return *rank = comm->standing->rank, ncclSuccess;
}

ncclResult_t ncclCommRegister(ncclComm_t comm, void*, size_t, void** handle) {
  if (!handle || !process() || !is_live(comm)) return no_communicator();
  return *handle = nullptr, ncclSuccess;
}
ncclResult_t ncclCommDeregister(ncclComm_t comm, void*) {
  return process() && is_live(comm) ? ncclSuccess : no_communicator();
}

ncclResult_t ncclMemAlloc(void** ptr, size_t size) {
  CUdeviceptr address = 0;
  if (!ptr || !current_context()) return ncclInvalidArgument;
  if (cuda::cuMemAlloc_v2(&address, size) != CUDA_SUCCESS) return ncclUnhandledCudaError;
  return *ptr = reinterpret_cast<void*>(address), ncclSuccess;
}
ncclResult_t ncclMemFree(void* ptr) {
  return cuda::cuMemFree_v2(reinterpret_cast<CUdeviceptr>(ptr)) == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}

const char* ncclGetErrorString(ncclResult_t result) {
  const auto number = static_cast<std::size_t>(result);
  return number < std::size(kTexts) ? kTexts[number] : "unknown result code";
}

void ncclResetDebugInit() {}
void ncclParamDumpAll() {}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return nccl::ncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

ncclResult_t ncclGroupStart() {
  ++group().depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  auto& own = group();
  if (own.depth == 0) return failed(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--own.depth > 0) return ncclSuccess;
  const auto joins = std::move(own.joins);
  const auto puts = std::move(own.puts);
  const auto error = std::exchange(own.error, ncclSuccess);
  own.joins.clear();
  own.puts.clear();
  if (error != ncclSuccess) return error;
  if (const auto result = join_all(joins); result != ncclSuccess) return result;
  if (const auto result = send_all(puts); result != ncclSuccess) return result;
  return std::all_of(joins.begin(), joins.end(), [](const auto& one) { return one.is_awaited; }) ? ncclSuccess
                                                                                                 : ncclInProgress;
}

}  // namespace flexrack::client::cuda::nccl

#include "gen/nccl/client_calls.inc"

namespace flexrack::client::cuda {
const flexrack::cuda::NcclTable& nccl_table() { return nccl::kTable; }
}  // namespace flexrack::client::cuda
