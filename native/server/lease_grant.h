// The Grant of one worker: its lease's memory accounting and the schedulers of its devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/grant.h"
#include "server/memory_accounting.h"
#include "server/residency.h"
#include "server/time_slice_scheduler.h"

namespace flexrack::server {

class LeaseGrant : public backend::Grant {
 public:
  /// The memory accounting must have been joined. One scheduler a device; null for a whole one, which pays nothing.
  /// `residency`: of the only device of an oversubscribed lease, else null.
  LeaseGrant(std::vector<backend::GrantedDevice> devices, MemoryAccounting accounting,
             std::vector<std::unique_ptr<TimeSliceScheduler>> schedulers,
             std::unique_ptr<Residency> residency = nullptr)
      : devices_(std::move(devices)),
        accounting_(std::move(accounting)),
        schedulers_(std::move(schedulers)),
        residency_(std::move(residency)) {}

  const std::vector<backend::GrantedDevice>& devices() const override { return devices_; }
  bool charge(std::size_t device, std::uint64_t bytes) override {
    if (!accounting_.charge(device, bytes)) return false;
    if (!residency_ || residency_->hold(bytes, false)) return true;
    accounting_.refund(device, bytes);
    return false;
  }
  void refund(std::size_t device, std::uint64_t bytes) override {
    if (residency_) residency_->let_go(bytes, false);
    accounting_.refund(device, bytes);
  }
  bool is_oversubscribed() const override { return residency_ != nullptr; }
  bool enter(std::uint64_t bytes) override { return !residency_ || residency_->enter(bytes); }
  bool charge_share(std::uint64_t bytes) override { return accounting_.charge(0, bytes); }
  void refund_share(std::uint64_t bytes) override { accounting_.refund(0, bytes); }
  bool hold(std::uint64_t bytes) override { return !residency_ || residency_->hold(bytes, true); }
  void let_go(std::uint64_t bytes) override {
    if (residency_) residency_->let_go(bytes, true);
  }
  std::uint64_t used(std::size_t device) const override { return accounting_.used(device); }
  /// Memory that takes turns is nobody else's.
  std::optional<backend::ShareSecret> share(const backend::SharedObject& object) override {
    if (residency_) return std::nullopt;
    return accounting_.share(object);
  }
  void unshare(const backend::ShareSecret& secret) override { accounting_.unshare(secret); }
  std::optional<Opened> open_shared(const backend::ShareSecret& secret) override {
    return accounting_.open_shared(secret);
  }
  void close_shared(const backend::ShareSecret& secret) override { accounting_.close_shared(secret); }
  bool is_time_sliced(std::size_t device) const override { return scheduler(device) != nullptr; }

  void admit(std::size_t device, std::function<void()> admitted) override {
    if (auto* scheduler_of = scheduler(device)) return scheduler_of->admit(std::move(admitted));
    admitted();
  }

  void finished(std::size_t device, std::uint64_t nanoseconds, std::uint32_t count) override {
    accounting_.add_busy(device, nanoseconds);
    if (auto* scheduler_of = scheduler(device)) scheduler_of->finished(nanoseconds, count);
  }
  void took(std::size_t device, std::uint64_t nanoseconds) override { accounting_.show_launch(device, nanoseconds); }

  void use(std::size_t device, std::uint64_t process, bool has_contexts) override {
    accounting_.use(device, process, has_contexts);
  }
  std::vector<backend::User> users(std::size_t device) const override {
    std::vector<backend::User> all;
    for (const auto& one : accounting_.users(device)) all.push_back({one.process, one.bytes});
    return all;
  }
  std::optional<double> utilization(std::size_t device) const override { return accounting_.utilization(device); }

  /// Gives back everything in the memory accounting. The places at the schedulers go with the process: the driver's
  /// threads may still come to them.
  void leave() {
    accounting_.leave();
    if (residency_) residency_->leave();
  }
  /// Null where the lease is not oversubscribed.
  Residency* residency() const { return residency_.get(); }

 private:
  TimeSliceScheduler* scheduler(std::size_t device) const {
    return device < schedulers_.size() ? schedulers_[device].get() : nullptr;
  }

  std::vector<backend::GrantedDevice> devices_;
  MemoryAccounting accounting_;
  std::vector<std::unique_ptr<TimeSliceScheduler>> schedulers_;
  std::unique_ptr<Residency> residency_;
};

}  // namespace flexrack::server
