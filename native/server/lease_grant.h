// The Grant of one worker: its lease's ledger and the gates of its devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/grant.h"
#include "server/ledger.h"

namespace flexrack::server {

class LeaseGrant : public backend::Grant {
 public:
  /// The ledger must have been joined.
  LeaseGrant(std::vector<backend::GrantedDevice> devices, Ledger ledger) : devices_(std::move(devices)), ledger_(std::move(ledger)) {}

  const std::vector<backend::GrantedDevice>& devices() const override { return devices_; }
  bool charge(std::size_t device, std::uint64_t bytes) override { return ledger_.charge(device, bytes); }
  void refund(std::size_t device, std::uint64_t bytes) override { ledger_.refund(device, bytes); }
  std::uint64_t used(std::size_t device) const override { return ledger_.used(device); }
  bool is_gated(std::size_t) const override { return false; }
  void admit(std::size_t, std::function<void()> admitted) override { admitted(); }
  void finished(std::size_t device, std::uint64_t nanoseconds) override { ledger_.add_busy(device, nanoseconds); }

  void leave() { ledger_.leave(); }

 private:
  std::vector<backend::GrantedDevice> devices_;
  Ledger ledger_;
};

}  // namespace flexrack::server
