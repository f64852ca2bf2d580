// What a lease lets one worker use: the daemon's side of the bargain, as a backend sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace flexrack::backend {

/// One device of the lease, in the order the client sees them.
struct GrantedDevice {
  std::string native_id;        ///< what the backend calls it: "platform:device" for OpenCL, the uuid for CUDA
  std::uint64_t memory = 0;     ///< bytes of the share
  double compute = 1.0;         ///< 0..1
  bool whole = true;            ///< the whole device: nothing is time-sliced or counted but what `gpu smi` shows
  std::optional<std::uint64_t> context_memory{};   ///< as in DeviceReport
};

/// A process of the lease that has contexts or memory on a device.
struct User {
  std::uint64_t process = 0;    ///< as its client says it is called
  std::uint64_t memory = 0;     ///< bytes
};

/// The memory accounting and the scheduler of a lease. Thread-safe. Devices are indexes into devices().
class Grant {
 public:
  virtual ~Grant() = default;
  virtual const std::vector<GrantedDevice>& devices() const = 0;

  /// Takes `bytes` from the device's share before the driver is asked; false when it would exceed it, exact to the byte
  /// over all processes of the lease.
  virtual bool charge(std::size_t device, std::uint64_t bytes) = 0;
  virtual void refund(std::size_t device, std::uint64_t bytes) = 0;
  virtual std::uint64_t used(std::size_t device) const = 0;

  // ---- leases beyond the memory that there is (docs/adr/0081); of one device, which is the first
  /// Memory that can leave the device is to be charged apart, and what the device has of it held.
  virtual bool is_oversubscribed() const { return false; }
  /// Before each message, with the bytes that it may take more: false has it wait, and all behind it.
  virtual bool enter(std::uint64_t /*bytes*/) { return true; }
  /// The share alone, not the device. `charge` and `refund` are of both, for what stays on the device.
  virtual bool charge_share(std::uint64_t bytes) { return charge(0, bytes); }
  virtual void refund_share(std::uint64_t bytes) { refund(0, bytes); }
  /// So much of the device has memory that can leave; false: it has not that much.
  virtual bool hold(std::uint64_t /*bytes*/) { return true; }
  virtual void let_go(std::uint64_t /*bytes*/) {}

  /// True: launches on this device go through admit(); false: a whole device, which pays nothing.
  virtual bool is_time_sliced(std::size_t device) const = 0;
  /// Asks for one launch. `admitted` is called, perhaps at once and on this thread, perhaps later on another, when the
  /// device is this lease's to use.
  virtual void admit(std::size_t device, std::function<void()> admitted) = 0;
  /// One launch took so long on the device, by its events; or so many did together. For whole devices too, where it is
  /// known: `gpu smi` shows it.
  virtual void finished(std::size_t device, std::uint64_t nanoseconds, std::uint32_t count = 1) = 0;

  /// What the other sessions of the lease may know: this one's client, by that name, has contexts on the device, or has
  /// none any more.
  virtual void use(std::size_t device, std::uint64_t process, bool has_contexts) = 0;
  virtual std::vector<User> users(std::size_t device) const = 0;
  /// The part of the last second that the device worked for the lease, 0 to 1, as `gpu smi` shows it; nothing where
  /// nobody has looked yet.
  virtual std::optional<double> utilization(std::size_t device) const = 0;
};

}  // namespace flexrack::backend
