// Who may use how much of which device, for as long as it is held: the table, what is free, and its file.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "server/token.h"
#include "wire/json.h"

namespace flexrack::server {

using Clock = std::chrono::steady_clock;

/// granted: made, not held yet. held: flexrack-lease-keeper is connected. lost: it was, and has a while to come back.
/// ending: over, and its workers are giving back what they have; until then nobody else can have it. After that it is
/// gone.
enum class LeaseState { granted, held, lost, ending };
std::string_view name_of(LeaseState state);

/// A lease's part of one device. `compute` is in thousandths of the device, so that what is free is exact.
struct Share {
  std::size_t device = 0;  ///< index among the daemon's devices
  std::uint64_t memory = 0;
  std::uint32_t compute = 1000;
  bool whole = true;
};

struct Lease {
  Id id{};
  Key key{};
  LeaseState state = LeaseState::granted;
  std::string owner, purpose;
  std::int64_t created = 0;              ///< Unix time
  bool cap = false;                      ///< compute is a limit even when nobody else wants the device
  bool is_oversubscribed = false;        ///< takes turns on its only device, and has as much of the host's memory
  std::vector<Share> shares;
  Clock::time_point ends{};              ///< granted, lost: when it ends by itself
};

/// What is asked for. Neither fraction, memory nor compute: whole devices.
struct Wish {
  std::size_t count = 1;
  std::vector<std::string> ids{};        ///< these devices, by native id; empty: any `count`
  std::optional<std::uint64_t> memory{};   ///< bytes
  std::optional<std::uint32_t> compute{};  ///< thousandths
  bool whole = false, cap = false, oversubscribe = false;
  std::string owner{}, purpose{};
};

/// Why a wish is not granted; the code is the admin protocol's.
struct Denial {
  std::string code, message;
};

/// Of a device. `memory`: for leases that keep theirs; each that takes turns must still fit beside them.
struct Free {
  std::uint64_t memory = 0;
  std::uint32_t compute = 0;
};

/// What leases that take turns have been granted on a device, and what one more may be granted.
struct Oversubscribed {
  std::uint64_t granted = 0, largest = 0, free = 0;
};

/// Not thread-safe: the broker's thread only. Times are given, so that tests need no clock.
class Leases {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr auto kHoldWithin = std::chrono::seconds(30);
  static constexpr auto kReturnWithin =
      std::chrono::seconds(3);  ///< a holder that closed without goodbye was killed: it hardly comes back

  /// `most_swapped`: bytes of the host's memory for leases that take turns, of all devices together; 0: there are none.
  Leases(std::vector<backend::DeviceReport> devices, std::chrono::milliseconds grace, std::uint64_t most_swapped = 0);

  const std::vector<backend::DeviceReport>& devices() const { return devices_; }
  const std::map<Id, Lease>& all() const { return leases_; }
  /// Null for one that is ending, too.
  const Lease* find(const Id& id) const;
  Free free(std::size_t device) const;
  std::uint64_t most_swapped() const { return most_swapped_; }
  Oversubscribed oversubscribed(std::size_t device) const;
  /// Bytes of the device that leases have which keep their memory.
  std::uint64_t kept(std::size_t device) const;

  std::variant<Id, Denial> grant(const Wish& wish, Clock::time_point now, std::int64_t unix_now);
  /// Its holder is there (again). False: no such lease.
  bool hold(const Id& id);
  /// Its holder is gone: by the end of its connection, or only silent.
  void lose(const Id& id, bool closed, Clock::time_point now);
  /// A granted lease gets its time anew.
  bool renew(const Id& id, Clock::time_point now);
  /// It is over, and what it has is not free yet. False: no such lease, or over already.
  bool begin_end(const Id& id);
  /// It is gone.
  void end(const Id& id) { leases_.erase(id); }
  /// Those whose time is up; they are still in the table.
  std::vector<Id> overdue(Clock::time_point now) const;
  std::optional<Clock::time_point> next_deadline() const;

  /// For the state file; holds the keys.
  wire::Json save() const;
  /// Takes over what save() gave, perhaps another process's: every lease has the grace time to be held again. What no
  /// longer fits the devices of this machine is left out; their ids are returned. Throws std::runtime_error for what a
  /// newer daemon has saved.
  std::vector<std::string> restore(const wire::Json& saved, Clock::time_point now);

 private:
  std::variant<Share, Denial> share_of(const Wish& wish, std::size_t device) const;
  bool fits(const Share& share, bool is_oversubscribed) const;
  std::uint64_t swapped_left() const;
  std::optional<Lease> lease_from(const wire::Json& saved) const;

  std::vector<backend::DeviceReport> devices_;
  std::chrono::milliseconds grace_;
  std::uint64_t most_swapped_;
  std::map<Id, Lease> leases_;
};

}  // namespace flexrack::server
