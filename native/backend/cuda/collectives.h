// Collectives: what a client asks of NCCL, checked, and given to the communicators' threads.
#pragma once

#include "backend/cuda/communicator.h"
#include "backend/cuda/core.h"
#include "backend/cuda/nccl_library.h"

namespace flexrack::backend::cuda {

class CallContext;

class Collectives : public virtual cu::Requests {
 public:
  Collectives(Core& core, std::string library) : core_(core), library_(std::move(library)) {}

  /// Ends all communicators, and waits that long for their threads. Not under the lock.
  void end(std::chrono::milliseconds patience);

 private:
  void on(const cu::CollectiveVersion& m, Respond<cu::CollectiveVersionReply> respond) override;
  void on(const cu::CollectiveId& m, Respond<cu::CollectiveIdReply> respond) override;
  void on(const cu::JoinCollectives& m, Respond<cu::JoinCollectivesReply> respond) override;
  void on(const cu::SplitCollectives& m, Respond<cu::SplitCollectivesReply> respond) override;
  void on(const cu::Collectives& m) override;
  void on(const cu::EndCollectives& m, Respond<cu::EndCollectivesReply> respond) override;

  /// One more, charged and known by that handle; null, and why not.
  std::shared_ptr<Communicator> make(const nccl::LibraryTable& library, std::uint64_t context, std::uint64_t handle,
                                     std::string_view& why);
  /// Counts calls that wait for their turn, until it goes. Null where too many wait already.
  std::shared_ptr<void> wait_for_turn(std::size_t calls);
  /// Null is an error that is kept.
  std::shared_ptr<Communicator> find(CallContext& call, std::uint64_t handle);
  /// Everything in range, every buffer the session's own and large enough.
  void check(CallContext& call, const cu::Collective& one, const Communicator& communicator);

  Core& core_;
  NcclLibrary library_;
  std::vector<std::weak_ptr<Communicator>> made_;
  /// Calls that wait for their turn.
  std::shared_ptr<std::atomic<std::size_t>> waiting_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::shared_ptr<int> threads_ = std::make_shared<int>();   ///< each communicator's thread has it, too
};

}  // namespace flexrack::backend::cuda
