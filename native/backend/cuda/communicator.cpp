#include "backend/cuda/communicator.h"

#include <cstring>
#include <thread>
#include <utility>

namespace flexrack::backend::cuda {
namespace {

/// The first settings that had `blocking`, as of NCCL 2.14: later libraries take them as they take those of that time.
struct FirstConfig {
  std::size_t size = sizeof(FirstConfig);
  unsigned magic = 0xcafebeef, version = 21400;
  int blocking = 0;
};
static_assert(offsetof(FirstConfig, blocking) == offsetof(ncclConfig_t, blocking));

/// Between two looks: soon at first, then longer and longer.
class Pause {
 public:
  void operator()() {
    if (++looks_ < 64) return std::this_thread::yield();
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(pause_ * 2, kLongest);
  }

 private:
  static constexpr std::chrono::microseconds kLongest{1000};
  int looks_ = 0;
  std::chrono::microseconds pause_{20};
};

}  // namespace

struct Communicator::State {
  nccl::LibraryTable library;
  cu::DriverTable driver;
  CUcontext context = nullptr;
  std::shared_ptr<void> use;

  std::mutex lock;
  std::condition_variable more;
  std::deque<std::function<void(State&)>> work;   ///< under lock
  bool is_left = false;                           ///< under lock: nothing more comes
  bool has_failed = false;                        ///< under lock: whoever asks for more is answered at once
  std::atomic<bool> is_aborted{false};

  // The thread's own.
  ncclComm_t comm = nullptr;
  CUstream stream = nullptr;
  CUevent over = nullptr;
  bool is_finalized = false;
  ncclComm_t child = nullptr;  ///< of a split, put there by a thread of NCCL's
  ncclResult_t result = ncclSuccess;   ///< for good once it is none
  ncclComm_t doomed = nullptr;  ///< to be aborted when nobody waits for an answer: that waits for all of the context,
                                ///< and streams of the client stop until they are answered

  /// What a call that does not wait comes to.
  ncclResult_t settled(ncclResult_t called) {
    if (called != ncclSuccess && called != ncclInProgress) return called;
    auto now = ncclInProgress;
    for (Pause pause; now == ncclInProgress; pause()) {
      if (is_aborted) return ncclInternalError;
      if (const auto asked = library.ncclCommGetAsyncError(comm, &now); asked != ncclSuccess) return asked;
    }
    return now;
  }
  /// Until the stream has got there: a rank that is lost is told by NCCL's own threads.
  ncclResult_t reached() {
    if (driver.cuEventRecord(over, stream) != CUDA_SUCCESS) return ncclUnhandledCudaError;
    for (Pause pause;; pause()) {
      const auto status = driver.cuEventQuery(over);
      if (status == CUDA_SUCCESS) return ncclSuccess;
      if (status != CUDA_ERROR_NOT_READY) return ncclUnhandledCudaError;
      if (is_aborted) return ncclInternalError;
      auto now = ncclSuccess;
      if (const auto asked = library.ncclCommGetAsyncError(comm, &now); asked != ncclSuccess) return asked;
      if (now != ncclSuccess && now != ncclInProgress) return now;
    }
  }
  bool prepare() {
    return driver.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS &&
           driver.cuEventCreate(&over, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
  }
  /// Whether NCCL may be asked for something of it: what it does with one that is finalized is not defined.
  bool is_usable() const { return comm && !is_finalized; }
  /// What is answered where it is not.
  ncclResult_t refusal() const { return result == ncclSuccess ? ncclInvalidUsage : result; }
  ncclResult_t end(ncclResult_t with) {
    if (comm) doomed = std::exchange(comm, nullptr);
    const std::lock_guard guard(lock);
    has_failed = true;
    return result = with;
  }
  void abort_doomed() {
    if (doomed) library.ncclCommAbort(std::exchange(doomed, nullptr));
  }
};

Communicator::Communicator(const nccl::LibraryTable& library, const cu::DriverTable& driver, CUcontext native,
                           std::shared_ptr<void> use)
    : state_(std::make_shared<State>()) {
  state_->library = library;
  state_->driver = driver;
  state_->context = native;
  state_->use = std::move(use);
  std::thread([state = state_] { serve(state); }).detach();
}

Communicator::~Communicator() {
  abort();
  const std::lock_guard guard(state_->lock);
  state_->is_left = true;
  state_->more.notify_one();
}

void Communicator::abort() { state_->is_aborted = true; }

void Communicator::put(std::function<void(State&)> work) {
  const std::lock_guard guard(state_->lock);
  state_->work.push_back(std::move(work));
  state_->more.notify_one();
}

/// All that was put is done, if only to be told that it cannot be: somebody waits for each answer.
void Communicator::serve(const std::shared_ptr<State>& state) {
  state->driver.cuCtxSetCurrent(state->context);
  for (;;) {
    std::unique_lock guard(state->lock);
    if (state->work.empty() && state->doomed) {
      guard.unlock();
      state->abort_doomed();
      continue;
    }
    state->more.wait(guard, [&] { return !state->work.empty() || state->is_left; });
    if (state->work.empty()) break;
    const auto work = std::move(state->work.front());
    state->work.pop_front();
    guard.unlock();
    work(*state);
  }
  state->end(ncclInternalError);
  state->abort_doomed();
  state->driver.cuCtxSetCurrent(state->context);  // NCCL may have made another one current
  if (state->over) state->driver.cuEventDestroy_v2(state->over);
  if (state->stream) state->driver.cuStreamDestroy_v2(state->stream);
  state->driver.cuCtxSetCurrent(nullptr);
  state->use = nullptr;
}

void Communicator::join(int count, int number, const ncclUniqueId& id, Answer answer) {
  put([=, answer = std::move(answer)](State& state) {
    if (!state.prepare()) return answer(state.result = ncclUnhandledCudaError);
    FirstConfig config;
    const auto called =
        state.library.ncclCommInitRankConfig(&state.comm, count, id, number, reinterpret_cast<ncclConfig_t*>(&config));
    const auto result = state.comm ? state.settled(called) : called == ncclSuccess ? ncclInternalError : called;
    answer(result == ncclSuccess ? result : state.end(result));
  });
}

void Communicator::split(int color, int key, std::shared_ptr<Communicator> made, Answer answer) {
  put([=, made = std::move(made), answer = std::move(answer)](State& state) {
    auto result = state.is_usable() ? ncclSuccess : state.refusal();
    state.child = nullptr;
    if (result == ncclSuccess && !state.library.ncclCommSplit) result = ncclInvalidUsage;
    else if (result == ncclSuccess) {
      state.driver.cuCtxSetCurrent(state.context);
      result = state.settled(state.library.ncclCommSplit(state.comm, color, key, &state.child, nullptr));
      // The others of this communicator wait in it.
      if (result != ncclSuccess) state.end(result);
    }
    if (!made) return answer(result);
    made->adopt(result == ncclSuccess ? state.child : nullptr, result, answer);
  });
}

void Communicator::adopt(ncclComm_t comm, ncclResult_t result, Answer answer) {
  put([this, comm, result, answer = std::move(answer)](State& state) {
    state.comm = comm;
    if (!comm) return answer(state.end(result == ncclSuccess ? ncclInternalError : result));
    int count = 0, number = 0;
    auto now = state.prepare() ? state.settled(ncclInProgress) : ncclUnhandledCudaError;
    if (now == ncclSuccess) now = state.library.ncclCommCount(comm, &count);
    if (now == ncclSuccess) now = state.library.ncclCommUserRank(comm, &number);
    if (now != ncclSuccess) return answer(state.end(now));
    rank = static_cast<std::uint32_t>(number);
    ranks = static_cast<std::uint32_t>(count);
    answer(now);
  });
}

void Communicator::run(std::vector<cu::Collective> calls, CUevent start, Answer answer) {
  {
    std::unique_lock guard(state_->lock);
    if (state_->has_failed) {
      const auto failed = state_->result;
      guard.unlock();
      return answer(failed);
    }
    // Under the same lock: what is put before the failure is answered before NCCL ends.
    state_->work.push_back([calls = std::move(calls), start, answer = std::move(answer)](State& state) {
      if (!state.is_usable()) return answer(state.refusal());
      state.driver.cuCtxSetCurrent(state.context);
      auto result =
          state.driver.cuStreamWaitEvent(state.stream, start, 0) == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
      if (result == ncclSuccess) result = state.library.ncclGroupStart();
      if (result == ncclSuccess) {
        for (const auto& one : calls) {
          const auto called = nccl::run(state.library, one, state.comm, state.stream);
          if (result == ncclSuccess && called != ncclInProgress) result = called;
        }
        const auto ended = state.library.ncclGroupEnd();
        if (result == ncclSuccess) result = state.settled(ended);
      }
      if (result == ncclSuccess) result = state.reached();
      answer(result == ncclSuccess ? result : state.end(result));
    });
    state_->more.notify_one();
  }
}

void Communicator::leave(bool stays, Answer answer) {
  put([stays, answer = std::move(answer)](State& state) {
    if (!state.comm) return answer(state.result);
    // NCCL takes it once: whoever has finalized has still to destroy.
    const bool is_again = std::exchange(state.is_finalized, true);
    if (is_again && stays) return answer(ncclInvalidArgument);
    auto result = is_again ? ncclSuccess : state.settled(state.library.ncclCommFinalize(state.comm));
    if (result != ncclSuccess) return answer(state.end(result));
    if (!stays) {
      result = state.library.ncclCommDestroy(state.comm);
      state.comm = nullptr;
      state.result = ncclInvalidUsage;
    }
    answer(result == ncclInProgress ? ncclSuccess : result);
  });
}

}  // namespace flexrack::backend::cuda
