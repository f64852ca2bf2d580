// The Grant of one worker: its lease's ledger and the gates of its devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/grant.h"
#include "server/gate.h"
#include "server/ledger.h"

namespace flexrack::server {

class LeaseGrant : public backend::Grant {
 public:
  /// The ledger must have been joined. One gate a device; null for a whole one, which pays nothing.
  LeaseGrant(std::vector<backend::GrantedDevice> devices, Ledger ledger, std::vector<std::unique_ptr<Gate>> gates)
      : devices_(std::move(devices)), ledger_(std::move(ledger)), gates_(std::move(gates)) {}

  const std::vector<backend::GrantedDevice>& devices() const override { return devices_; }
  bool charge(std::size_t device, std::uint64_t bytes) override { return ledger_.charge(device, bytes); }
  void refund(std::size_t device, std::uint64_t bytes) override { ledger_.refund(device, bytes); }
  std::uint64_t used(std::size_t device) const override { return ledger_.used(device); }
  bool is_gated(std::size_t device) const override { return gate(device) != nullptr; }

  void admit(std::size_t device, std::function<void()> admitted) override {
    if (auto* gate_of = gate(device)) return gate_of->admit(std::move(admitted));
    admitted();
  }

  void finished(std::size_t device, std::uint64_t nanoseconds, std::uint32_t count) override {
    ledger_.add_busy(device, nanoseconds);
    if (auto* gate_of = gate(device)) gate_of->finished(nanoseconds, count);
  }

  void use(std::size_t device, std::uint64_t process, bool has_contexts) override { ledger_.use(device, process, has_contexts); }
  std::vector<backend::User> users(std::size_t device) const override {
    std::vector<backend::User> all;
    for (const auto& one : ledger_.users(device)) all.push_back({one.process, one.bytes});
    return all;
  }
  std::optional<double> utilization(std::size_t device) const override { return ledger_.utilization(device); }

  /// Gives back everything in the ledger. The places at the gates go with the process: the driver's threads may still come to them.
  void leave() { ledger_.leave(); }

 private:
  Gate* gate(std::size_t device) const { return device < gates_.size() ? gates_[device].get() : nullptr; }

  std::vector<backend::GrantedDevice> devices_;
  Ledger ledger_;
  std::vector<std::unique_ptr<Gate>> gates_;
};

}  // namespace flexrack::server
