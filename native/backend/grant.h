// What a lease lets one worker use: the daemon's side of the bargain, as a backend sees it.
#pragma once

#include <array>
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

/// What one session of a lease lets the others open.
struct SharedObject {
  enum class Sort : std::uint32_t {
    none,
    memory,    ///< native: a CUipcMemHandle
    mapped,    ///< native: a descriptor of the process, of memory that whoever opens it maps
    physical,  ///< the same, and nobody has mapped it
    event      ///< native: a CUipcEventHandle
  };
  Sort sort = Sort::none;
  std::uint32_t device = 0;
  std::uint32_t flags = 0;                  ///< of memory without an address, as it was made with
  std::int32_t process = 0;                 ///< that shares it, filled in
  std::uint64_t size = 0;                   ///< bytes
  std::uint64_t charged = 0;  ///< bytes of the device's share, which the process that shares it has taken
  std::array<std::uint8_t, 64> native{};
};
/// Known to whoever was told, and to the daemon.
using ShareSecret = std::array<std::uint8_t, 32>;

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

  // What several sessions have stays charged once, to one of those that have it, whichever of them is killed when.
  /// From now on the lease's other sessions can open it. Nothing: the lease shares as much as it may.
  virtual std::optional<ShareSecret> share(const SharedObject& /*object*/) { return std::nullopt; }
  /// This session has it no more: its charge goes back, or to another session that has it.
  virtual void unshare(const ShareSecret& /*secret*/) {}
  /// Nothing: no session of the lease that lives has such a thing. From now on this one has it too, but what it shares
  /// itself (is_own).
  struct Opened {
    SharedObject object;
    bool is_own = false;
  };
  virtual std::optional<Opened> open_shared(const ShareSecret& /*secret*/) { return std::nullopt; }
  /// Once for each open_shared() of another session's.
  virtual void close_shared(const ShareSecret& /*secret*/) {}

  /// True: launches on this device go through admit(); false: a whole device, which pays nothing.
  virtual bool is_time_sliced(std::size_t device) const = 0;
  /// Asks for one launch. `admitted` is called, perhaps at once and on this thread, perhaps later on another, when the
  /// device is this lease's to use.
  virtual void admit(std::size_t device, std::function<void()> admitted) = 0;
  /// One launch took so long on the device, by its events; or so many did together. For whole devices too, where it is
  /// known: `gpu smi` shows it.
  virtual void finished(std::size_t device, std::uint64_t nanoseconds, std::uint32_t count = 1) = 0;
  /// One launch alone (a kernel, or a graph as a whole) took so long by its own events. Said for shares, whose launches
  /// are timed one by one; of a whole device only sums are known.
  virtual void took(std::size_t /*device*/, std::uint64_t /*nanoseconds*/) {}

  /// What the other sessions of the lease may know: this one's client, by that name, has contexts on the device, or has
  /// none any more.
  virtual void use(std::size_t device, std::uint64_t process, bool has_contexts) = 0;
  virtual std::vector<User> users(std::size_t device) const = 0;
  /// The part of the last second that the device worked for the lease, 0 to 1, as `gpu smi` shows it; nothing where
  /// nobody has looked yet.
  virtual std::optional<double> utilization(std::size_t device) const = 0;
};

}  // namespace flexrack::backend
