// One client at this machine's CUDA driver: its parts carry out the messages of the API.
#pragma once

#include <string>
#include <string_view>

#include "backend/cuda/arrivals.h"
#include "backend/cuda/collectives.h"
#include "backend/cuda/contexts.h"
#include "backend/cuda/core.h"
#include "backend/cuda/forwards.h"
#include "backend/cuda/graphs.h"
#include "backend/cuda/launches.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/modules.h"
#include "backend/cuda/peer_copies.h"
#include "backend/cuda/streams.h"
#include "backend/cuda/transfers.h"

namespace flexrack::backend::cuda {

/// Each part has the handlers of its messages; a part comes behind those it uses.
class Session final : public Backend,
                      private Core,
                      private Forwards,
                      private Memory,
                      private Transfers,
                      private Launches,
                      private Graphs,
                      private Streams,
                      private Contexts,
                      private Modules,
                      private PeerCopies,
                      private Collectives,
                      private Arrivals {
 public:
  Session(Grant& to, const std::string& driver, const std::string& nccl);
  ~Session() override;

  wire::Api api() const override { return cu::kApi; }
  void start(wire::Link& to, Peers& others) override;
  void stop() override;
  void on_frame(const wire::Header& header, wire::View body) override;
  void on_over(std::string_view why) override;
  bool takes(const wire::Header& header, wire::View body) override;
  std::string what_keeps() override;
  void swap_out() override;
  void swap_in() override;
  std::string what_stays() override;
  bool is_at_rest(std::chrono::milliseconds patience) override;
  std::unique_ptr<Departure> depart(const wire::Dial& to) override;

 private:
  /// Static: while the parts are being made, nothing may be called of what they are parts of.
  static Core& core_of(Session& session) { return session; }
  /// Of any object.
  void on(const cu::Release& m) override;

  bool carry_out(const wire::Header& header, wire::View body);
  bool is_at_rest_now();
  CUresult swap_by(CUresult (SwapSpace::*way)());
  bool owes_others();

  Journal journal_{handles};
  JournalLink speaks_{[this](std::uint64_t sequence, wire::View reply) {
    const std::lock_guard guard(lock);
    journal_.answered(sequence, reply);
  }};
  wire::Link* first_ = nullptr;  ///< that the session began with: a client's, or of the worker whose session comes here
  bool is_broken_ = false;
};

}  // namespace flexrack::backend::cuda
