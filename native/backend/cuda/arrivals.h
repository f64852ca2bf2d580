// The session of another worker, made again here: its objects by the messages that made them, its memory at the
// addresses that it had (docs/adr/0079).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "backend/cuda/core.h"
#include "backend/cuda/journal.h"
#include "backend/cuda/replay_link.h"

namespace flexrack::backend::cuda {

class Modules;

class Arrivals : public virtual cu::Requests {
 public:
  /// Carries a message out as if it came from the client.
  using Carry = std::function<bool(const wire::Header& header, wire::View body)>;
  Arrivals(Core& core, Modules& modules, JournalLink& speaks, Carry carry)
      : core_(core), modules_(modules), speaks_(speaks), carry_(std::move(carry)) {}

  /// The workers' own side of the session that brings another one.
  void start(wire::Link& from, Peers& peers) { from_ = &from, peers_ = &peers; }
  /// A client's own session: nothing is brought here any more. What has been used may not be laid out anew.
  void close() { is_over_ = true; }

 private:
  void on(const cu::RestoreImage& m, Respond<cu::RestoreImageReply> respond) override;
  void on(const cu::RestoreMessage& m, Respond<cu::RestoreMessageReply> respond) override;
  void on(const cu::RestoreMemory& m, Respond<cu::RestoreMemoryReply> respond) override;
  void on(const cu::RestoreVariables& m, Respond<cu::RestoreVariablesReply> respond) override;
  void on(const cu::RestoreBytes& m, Respond<cu::RestoreBytesReply> respond) override;
  void on(const cu::RestoreContext& m, Respond<cu::RestoreContextReply> respond) override;
  void on(const cu::RestoreEvent& m) override;
  void on(const cu::TakeOver& m, Respond<cu::TakeOverReply> respond) override;

  void take_payload(const wire::Payload& from, bool is_wanted, std::function<void(std::shared_ptr<wire::Bytes>)> use);
  bool is_ours(std::uint64_t at, std::uint64_t size) const;
  CUmodule module_in(std::uint64_t module, std::uint64_t context, CUresult& status);

  Core& core_;
  Modules& modules_;
  JournalLink& speaks_;
  const Carry carry_;
  wire::Link* from_ = nullptr;
  Peers* peers_ = nullptr;
  ReplayLink replay_;
  std::uint64_t replayed_ = 0;
  bool is_over_ = false;                             ///< the session is the client's
  std::shared_ptr<std::atomic<std::uint64_t>> arriving_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);  ///< bytes of payloads that have not come yet
  std::map<std::uint64_t, std::uint64_t> variables_;  ///< placed here: address and size
};

}  // namespace flexrack::backend::cuda
