// A machine's NCCL that is made up, for tests of what is asked of it: sums of floats of one or two ranks, which meet at
// a socket of this machine, and splits of one rank. As NVIDIA's it does not begin without NVML. What NCCL's own leaves
// undefined ends the process here, with words.
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "gen/nccl/nccl.h"

namespace {

struct Sum {
  std::uint64_t source, target;
  CUstream stream;
  std::vector<float> own, others{};
  std::size_t sent = 0, received = 0;  ///< bytes
  enum class Step { begins, is_read, is_written } step = Step::begins;
};

[[noreturn]] void undefined(const char* what) {
  std::fprintf(stderr, "made-up NCCL: undefined: %s\n", what);
  std::abort();
}

template <class Function>
Function driver(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (!found) undefined(name);
  return reinterpret_cast<Function>(found);
}

bool has_nvml() {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  const auto init = library ? reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2")) : nullptr;
  return init && init() == 0;
}

}  // namespace

struct ncclComm {
  int ranks = 1, rank = 0, listens = -1, peer = -1;
  sockaddr_un meeting{};
  ncclResult_t error = ncclSuccess;
  bool is_finalized = false;
  std::deque<Sum> sums{};

  ~ncclComm() {
    // What is being copied is its memory.
    while (!sums.empty() && sums.front().step != Sum::Step::begins && error == ncclSuccess &&
           !is_idle(sums.front().stream))
      std::this_thread::yield();
    for (const int one : {listens, peer})
      if (one >= 0) close(one);
  }
  bool is_met() const { return ranks == 1 || peer >= 0; }

  /// The first rank listens, the other one tries again whenever it is asked.
  void meet() {
    if (rank == 0 && listens < 0) {
      listens = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      if (listens < 0 || bind(listens, reinterpret_cast<sockaddr*>(&meeting), sizeof meeting) != 0 ||
          listen(listens, 1) != 0)
        error = ncclSystemError;
    }
    if (rank == 0) {
      peer = accept4(listens, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      return;
    }
    const int tried = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (tried >= 0 && connect(tried, reinterpret_cast<sockaddr*>(&meeting), sizeof meeting) == 0) peer = tried;
    else if (tried >= 0) close(tried);
  }

  /// As far as it goes without waiting. True: the first sum is over. Only the stream of the sum is waited for: another
  /// one of its context may wait until this is over.
  bool advance() {
    auto& sum = sums.front();
    const auto bytes = sum.own.size() * sizeof(float);
    if (sum.step == Sum::Step::begins && is_idle(sum.stream))
      copied(driver<decltype(&cuMemcpyDtoHAsync_v2)>("cuMemcpyDtoHAsync_v2")(sum.own.data(), sum.source, bytes,
                                                                             sum.stream),
             Sum::Step::is_read);
    if (sum.step == Sum::Step::is_read && is_idle(sum.stream)) {
      if (ranks > 1) {
        sum.others.resize(sum.own.size());
        exchange(reinterpret_cast<const char*>(sum.own.data()), reinterpret_cast<char*>(sum.others.data()), bytes, sum);
        if (sum.sent < bytes || sum.received < bytes) return false;
        for (std::size_t i = 0; i < sum.own.size(); ++i) sum.own[i] += sum.others[i];
      }
      copied(driver<decltype(&cuMemcpyHtoDAsync_v2)>("cuMemcpyHtoDAsync_v2")(sum.target, sum.own.data(), bytes,
                                                                             sum.stream),
             Sum::Step::is_written);
    }
    return sum.step == Sum::Step::is_written && is_idle(sum.stream);
  }
  void copied(CUresult status, Sum::Step step) {
    if (status == CUDA_SUCCESS) sums.front().step = step;
    else error = ncclUnhandledCudaError;
  }
  bool is_idle(CUstream stream) {
    const auto status = driver<decltype(&cuStreamQuery)>("cuStreamQuery")(stream);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY) error = ncclUnhandledCudaError;
    return status == CUDA_SUCCESS;
  }

  void exchange(const char* out, char* in, std::size_t bytes, Sum& sum) {
    const auto take = [&](ssize_t count, std::size_t& so_far) {
      if (count > 0) so_far += static_cast<std::size_t>(count);
      else if (count == 0 || (errno != EAGAIN && errno != EINTR)) error = ncclRemoteError;
    };
    if (sum.sent < bytes) take(send(peer, out + sum.sent, bytes - sum.sent, MSG_NOSIGNAL), sum.sent);
    if (sum.received < bytes) take(recv(peer, in + sum.received, bytes - sum.received, 0), sum.received);
  }

  ncclResult_t state() {
    if (error == ncclSuccess && !is_met()) meet();
    while (error == ncclSuccess && is_met() && !sums.empty() && advance()) sums.pop_front();
    if (error != ncclSuccess) return error;
    return is_met() && sums.empty() ? ncclSuccess : ncclInProgress;
  }
};

#pragma GCC visibility push(default)
extern "C" {

ncclResult_t ncclGetVersion(int* version) { return *version = 22900, ncclSuccess; }
const char* ncclGetErrorString(ncclResult_t result) { return result == ncclSuccess ? "no error" : "made-up error"; }
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::random_device random;
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "made-up-nccl-%08x%08x", random(), random());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  *made = nullptr;
  if (config->blocking != 0) undefined("a communicator that blocks");
  if (ranks > 2 || std::strncmp(id.internal, "made-up-nccl-", 13) != 0) return ncclInvalidArgument;
  if (!has_nvml()) return ncclSystemError;
  *made = new ncclComm{.ranks = ranks, .rank = rank};
  (*made)->meeting.sun_family = AF_UNIX;
  std::memcpy((*made)->meeting.sun_path + 1, id.internal, strnlen(id.internal, 64));  // of no file
  return (*made)->state();
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result) {
  return *result = comm->state(), ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (comm->is_finalized) undefined("ncclCommFinalize twice");
  comm->is_finalized = true;
  return comm->state();
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm->sums.empty()) undefined("ncclCommDestroy of one that computes");
  return delete comm, ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) { return delete comm, ncclSuccess; }

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int, ncclComm_t* made, ncclConfig_t*) {
  if (comm->is_finalized) undefined("ncclCommSplit after ncclCommFinalize");
  *made = nullptr;
  if (comm->ranks != 1) return ncclInvalidUsage;
  if (color >= 0) *made = new ncclComm;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) { return *count = comm->ranks, ncclSuccess; }
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) { return *rank = comm->rank, ncclSuccess; }

ncclResult_t ncclAllReduce(const void* source, void* target, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  if (comm->is_finalized) undefined("ncclAllReduce after ncclCommFinalize");
  if (type != ncclFloat32 || op != ncclSum) return ncclInvalidUsage;
  comm->sums.push_back({.source = reinterpret_cast<std::uint64_t>(source),
                        .target = reinterpret_cast<std::uint64_t>(target),
                        .stream = stream,
                        .own = std::vector<float>(count)});
  return ncclInProgress;
}

ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclInProgress; }

}  // extern "C"
#pragma GCC visibility pop
