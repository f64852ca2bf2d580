// The Grant of one worker: its lease's memory accounting and the schedulers of its devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/grant.h"
#include "server/time_slice_scheduler.h"
#include "server/memory_accounting.h"

namespace flexrack::server {

class LeaseGrant : public backend::Grant {
 public:
  /// The memory accounting must have been joined. One scheduler a device; null for a whole one, which pays nothing.
  LeaseGrant(std::vector<backend::GrantedDevice> devices, MemoryAccounting accounting,
             std::vector<std::unique_ptr<TimeSliceScheduler>> schedulers)
      : devices_(std::move(devices)), accounting_(std::move(accounting)), schedulers_(std::move(schedulers)) {}

  const std::vector<backend::GrantedDevice>& devices() const override { return devices_; }
  bool charge(std::size_t device, std::uint64_t bytes) override { return accounting_.charge(device, bytes); }
  void refund(std::size_t device, std::uint64_t bytes) override { accounting_.refund(device, bytes); }
  std::uint64_t used(std::size_t device) const override { return accounting_.used(device); }
  std::optional<backend::ShareSecret> share(const backend::SharedObject& object) override {
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
  void leave() { accounting_.leave(); }

 private:
  TimeSliceScheduler* scheduler(std::size_t device) const {
    return device < schedulers_.size() ? schedulers_[device].get() : nullptr;
  }

  std::vector<backend::GrantedDevice> devices_;
  MemoryAccounting accounting_;
  std::vector<std::unique_ptr<TimeSliceScheduler>> schedulers_;
};

}  // namespace flexrack::server
