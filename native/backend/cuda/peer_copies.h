// Copies and signals between this server and others, which do not pass the client. What a peer sends lands only where
// the client has announced it (import_memory).
#pragma once

#include "backend/cuda/core.h"

namespace flexrack::backend::cuda {

class Transfers;

class PeerCopies : public virtual cu::Requests {
 public:
  PeerCopies(Core& core, Transfers& transfers) : core_(core), transfers_(transfers) {}

 private:
  void on(const cu::PeerAccept& m, Respond<cu::PeerAcceptReply> respond) override;
  void on(const cu::PeerOpen& m, Respond<cu::PeerOpenReply> respond) override;
  void on(const cu::PeerReady& m, Respond<cu::PeerReadyReply> respond) override;
  void on(const cu::PeerClose& m) override;
  void on(const cu::ExportMemory& m) override;
  void on(const cu::ImportMemory& m) override;
  void on(const cu::SignalPeer& m) override;
  void on(const cu::AwaitPeer& m) override;

  Core& core_;
  Transfers& transfers_;
};

}  // namespace flexrack::backend::cuda
