// One rank of NCCL, and the thread on which all its calls are made: none of them holds up a message, and what has not
// come together yet, or hangs, can be ended.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "gen/cuda/driver_table.h"
#include "gen/nccl/library_table.h"

namespace flexrack::backend::cuda {

class Communicator {
 public:
  /// `use` keeps the context until the thread has ended. Throws std::system_error where there is no thread to be had.
  Communicator(const nccl::LibraryTable& library, const cu::DriverTable& driver, CUcontext context,
               std::shared_ptr<void> use);
  /// Ends it at once, behind nobody's back: its thread lives until that is done.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  using Answer = std::function<void(ncclResult_t)>;
  /// Answered when all ranks are there.
  void join(int ranks, int rank, const ncclUniqueId& id, Answer answer);
  /// Behind all before it: `made` becomes the rank of this one among those of its color, and is answered when they are
  /// all there. Null with a color below 0.
  void split(int color, int key, std::shared_ptr<Communicator> made, Answer answer);
  /// A group, behind `start`. Answered when it is over on the device. ncclInvalidUsage where it is finalized, as for a
  /// split.
  void run(std::vector<cu::Collective> calls, CUevent start, Answer answer);
  /// Answered when all before it is over; `stays`: it is finalized only.
  void leave(bool stays, Answer answer);
  /// What is under way ends, with ncclInternalError; nothing more is done.
  void abort();

  std::uint64_t context = 0;  ///< handle of the one it is in
  std::atomic<std::uint32_t> ranks = 0, rank = 0;  ///< ranks 0: not told yet

 private:
  struct State;
  static void serve(const std::shared_ptr<State>& state);
  void put(std::function<void(State&)> work);
  /// What a split of another one has made; null where that failed, with `result`.
  void adopt(ncclComm_t comm, ncclResult_t result, Answer answer);

  std::shared_ptr<State> state_;
};

}  // namespace flexrack::backend::cuda
