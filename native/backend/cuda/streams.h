// Streams, events, what waits for them, and what they wait for: host functions and latches of the client.
#pragma once

#include <map>

#include "backend/cuda/core.h"

namespace flexrack::backend::cuda {

class Graphs;
class Transfers;

class Streams : public virtual cu::Requests {
 public:
  Streams(Core& core, Transfers& transfers, Graphs& graphs) : core_(core), transfers_(transfers), graphs_(graphs) {}

  /// Something in the context has failed for good: host functions behind it are never reached, and the client waits for
  /// none of them.
  void abandon(std::uint64_t context, CUresult status);
  /// Nothing of what the context's streams wait for is waited for any longer.
  void let_go(std::uint64_t context);
  void let_go_all();
  void open_latch(std::uint64_t handle);
  /// No stream waits for what the client does.
  bool is_quiet() const { return runs_.empty() && client_latches_.empty(); }

 private:
  void on(const cu::HostFunction& m) override;
  void on(const cu::RanHostFunction& m) override;
  void on(const cu::WaitLatch& m) override;
  void on(const cu::OpenLatch& m) override;
  void on(const cu::CreateStream& m) override;
  void on(const cu::WaitStream& m, Respond<cu::WaitStreamReply> respond) override;
  void on(const cu::QueryStream& m, Respond<cu::QueryStreamReply> respond) override;
  void on(const cu::SetStreamAttribute& m) override;
  void on(const cu::StreamAttribute& m, Respond<cu::StreamAttributeReply> respond) override;
  void on(const cu::CreateEvent& m) override;
  void on(const cu::WaitEvent& m, Respond<cu::WaitEventReply> respond) override;
  void on(const cu::QueryEvent& m, Respond<cu::QueryEventReply> respond) override;
  void on(const cu::WatchEvent& m) override;
  void on(const cu::ElapsedTime& m, Respond<cu::ElapsedTimeReply> respond) override;

  double elapsed_over_the_move(const cu::ElapsedTime& m, CUresult& status);

  struct HostRun {
    Latch latch;
    std::uint64_t function = 0, context = 0;
  };
  static constexpr std::size_t kMostRuns = 1 << 16;

  Core& core_;
  Transfers& transfers_;
  Graphs& graphs_;
  std::map<std::uint64_t, HostRun> runs_;   ///< host functions the client is running, or will
  std::uint64_t next_run_ = 1;
  std::map<std::uint64_t, std::map<std::uint64_t, Latch>>
      client_latches_;   ///< closed ones, a word in each context where something waits
};

}  // namespace flexrack::backend::cuda
