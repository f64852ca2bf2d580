// What the workers of one lease have allocated on each of its devices, exact to the byte, in a file they and the broker
// map.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/grant.h"
#include "server/liveness.h"
#include "server/shared_file.h"

namespace flexrack::server {

inline constexpr std::size_t kAccountedDevices = 64;  ///< devices of one lease on one node
inline constexpr std::size_t kAccountedWorkers = 128;  ///< workers of one lease
inline constexpr std::size_t kSharedObjects = 4096;  ///< memory and events that they share, at a time

/// Thread-safe, and safe over processes that are killed at any instruction: each worker has a slot of its own, and what
/// is in use is the sum of the slots of those that live.
class MemoryAccounting {
 public:
  static constexpr std::uint64_t kUnlimited = UINT64_MAX;

  /// One limit in bytes for each device. Throws std::system_error.
  static MemoryAccounting create(const std::string& path, std::span<const std::uint64_t> limits);
  /// Throws std::runtime_error if it is no memory accounting, std::system_error if there is none.
  static MemoryAccounting open(const std::string& path);
  /// For a broker that takes another one's place: one of an earlier version is lengthened where it is, under the
  /// workers that have it, so what they have charged counts on (docs/adr/0095). Throws as open() does.
  static MemoryAccounting take_over(const std::string& path);
  /// Bytes of the file of that version ('2', '3', '4').
  static std::size_t size_of_version(char version);

  std::size_t devices() const;

  /// Takes a slot for this process. False: all are taken by living processes.
  bool join();
  /// Gives the slot of this process back, with everything in it.
  void leave();

  /// For a process that has joined. False: it would go over the limit, even without what dead processes had.
  bool charge(std::size_t device, std::uint64_t bytes);
  void refund(std::size_t device, std::uint64_t bytes);

  std::uint64_t used(std::size_t device) const;
  /// What one worker has on all devices.
  std::uint64_t used_by(const ProcessMark& worker) const;
  /// Clears the slots of processes that are gone; returns how many there were.
  std::size_t clear_dead();

  // As a Grant has it, for a process that has joined. What was charged for an object is always in the slot of one that
  // has it: a process that ends or is killed leaves it to another one.
  std::optional<backend::ShareSecret> share(const backend::SharedObject& object);
  void unshare(const backend::ShareSecret& secret);
  std::optional<backend::Grant::Opened> open_shared(const backend::ShareSecret& secret);
  void close_shared(const backend::ShareSecret& secret);

  /// Time that the device worked for this lease, for `gpu smi`; not under the lock.
  void add_busy(std::size_t device, std::uint64_t nanoseconds);
  std::uint64_t busy(std::size_t device) const;
  /// The part of the last second, 0 to 1, as whoever looks at busy() again and again sees it; nothing before that. Not
  /// under the lock.
  void show_utilization(std::size_t device, double part);
  std::optional<double> utilization(std::size_t device) const;

  /// One launch took so long. Not under the lock.
  void show_launch(std::size_t device, std::uint64_t nanoseconds);
  /// Of the last minute (up to ten seconds more), in microseconds: how long the longest launch took that was timed
  /// alone.
  std::optional<std::uint64_t> longest_launch(std::size_t device) const;

  /// For a process that has joined: its client, by the name it goes by, has contexts on the device or has none.
  void use(std::size_t device, std::uint64_t process, bool has_contexts);
  /// Clients that have contexts or memory on the device.
  struct User {
    std::uint64_t process = 0, bytes = 0;
  };
  std::vector<User> users(std::size_t device) const;

 private:
  struct File;
  explicit MemoryAccounting(SharedFile file) : file_(std::move(file)) {}
  File& at() const { return *static_cast<File*>(file_.data()); }
  template <class Action>
  auto locked(Action action) const;
  static std::size_t clear_dead(File& file);

  SharedFile file_;
  std::size_t slot_ = kAccountedWorkers;
};

}  // namespace flexrack::server
