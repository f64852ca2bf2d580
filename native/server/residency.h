// One device's residency as a worker uses it: its dispatch asks before each message, and a thread brings memory out and
// in when it is its turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "server/residency_state.h"
#include "server/shared_file.h"

namespace flexrack::server {

/// The file that the workers on a device and the broker map.
class ResidencyFile {
 public:
  /// Takes the one that is there if it is whole and of this boot, else makes one. Throws std::system_error.
  static ResidencyFile open_or_create(const std::string& path);
  /// Throws std::runtime_error when there is none.
  static ResidencyFile open(const std::string& path);

  /// Runs on the state under its lock, and wakes everybody when something has changed.
  template <class Action>
  auto locked(Action action) {
    auto& file = at();
    const SharedLock lock(file.lock, [this] { remove_dead(); });
    const auto before = file.state.changes;
    auto result = action(file.state);
    if (file.state.changes != before) wake();
    return result;
  }

  /// Places of processes that are gone are given back.
  void clear_dead();
  std::uint32_t turn() const { return at().turn.load(); }
  void wake();
  /// Until somebody wakes all, the turn is another one already, or the time is over.
  void sleep(std::uint32_t turn, std::uint64_t nanoseconds) const;

  static std::uint64_t now();

 private:
  struct File {
    std::uint64_t magic, boot;
    pthread_mutex_t lock;
    std::atomic<std::uint32_t> turn;  ///< changes with every waking; what futexes wait on
    ResidencyState state;
  };
  explicit ResidencyFile(SharedFile file) : file_(std::move(file)) {}
  File& at() const { return *static_cast<File*>(file_.data()); }
  bool is_sound() const;
  bool remove_dead();

  SharedFile file_;
};

/// A worker's place at one device. Thread-safe.
class Residency {
 public:
  /// Throws std::runtime_error when all places are taken.
  Residency(const std::string& path, const Id& lease);

  // ---- who dispatches
  /// Before a message that may take so many bytes more: true, it may be carried out. False: it waits, with all behind
  /// it, until `pass` is what there is to do.
  bool enter(std::uint64_t bytes);
  /// The session has begun to wait on its own: there are messages that nobody has looked at.
  void held();

  // ---- what is on the device; exact
  bool hold(std::uint64_t bytes, bool can_leave);
  void let_go(std::uint64_t bytes, bool can_leave);

  // ---- the thread that swaps
  enum class Task { end, leave, come, pass };
  /// Waits for the next thing to do. `leave`: memory is to go to the host's. `come`: there is room for it again.
  /// `pass`: there is room for what has been waiting.
  Task next();
  /// Whether it is asked to leave because it does nothing: then it may say that it works after all.
  bool is_early();
  /// Messages pass no more, or pass again for a while before it leaves.
  void stops() { is_in_ = false; }
  void goes_on() { is_in_ = true; }
  void went(std::uint64_t took);
  void is_back(std::uint64_t took);
  void stays(bool is_stuck);
  /// next() returns `end` from now on; what is on the device counts until leave() or the end of the process.
  void close();
  bool is_closed() const { return is_closed_; }
  void leave();

 private:
  std::uint64_t needed(const Resident& self, std::uint64_t bytes, std::uint64_t capacity) const;

  ResidencyFile file_;
  std::uint32_t member_ = ResidencyState::kNone;
  std::atomic<bool> is_in_ = false;  ///< messages may pass
  std::atomic<bool> is_waiting_ = false;  ///< for more room, while it is in
  std::atomic<bool> has_held_ = false, is_closed_ = false;
  std::atomic<std::uint64_t> waits_for_ = 0;  ///< bytes that the first message that waits may take
  std::atomic<std::uint64_t> touched_ = 0;  ///< when the last message passed
};

}  // namespace flexrack::server
