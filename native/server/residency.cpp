#include "server/residency.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <new>
#include <optional>
#include <stdexcept>

#include "wire/boot.h"

namespace flexrack::server {
namespace {

constexpr std::uint64_t kResidencyMagic = 0x31706177'73786c66;  // "flxswap1"
constexpr std::uint64_t kWaitingSleep = 100'000'000;  // between looks at whether the others still live
constexpr std::uint64_t kIdleSleep = 1'000'000'000;   // where nobody waits
/// What the driver takes for itself comes without being asked for beforehand: so much is kept free for that, a part of
/// the device or this.
constexpr std::uint64_t kMostSlack = std::uint64_t{32} << 20;
constexpr std::uint64_t kSlackPart = 32;

}  // namespace

std::uint64_t ResidencyFile::now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

ResidencyFile ResidencyFile::open_or_create(const std::string& path) {
  if (access(path.c_str(), F_OK) == 0) {
    try {
      ResidencyFile file(SharedFile::open(path, sizeof(File)));
      if (file.is_sound()) return file;
    } catch (const std::exception&) {
      // Another version's, or damaged: made anew below.
    }
  }
  return ResidencyFile(SharedFile::create(path, sizeof(File), [](void* memory) {
    auto* file = new (memory) File{};
    file->boot = wire::boot_mark();
    make_shared_mutex(file->lock);
    file->magic = kResidencyMagic;
  }));
}

ResidencyFile ResidencyFile::open(const std::string& path) {
  ResidencyFile file(SharedFile::open(path, sizeof(File)));
  if (!file.is_sound()) throw std::runtime_error(path + " is not a residency of this boot");
  return file;
}

bool ResidencyFile::is_sound() const { return at().magic == kResidencyMagic && at().boot == wire::boot_mark(); }

void ResidencyFile::clear_dead() {
  locked([this](ResidencyState&) { return remove_dead(); });
}

bool ResidencyFile::remove_dead() {
  auto& state = at().state;
  bool is_any = false;
  for (std::uint32_t i = 0; i < kResidents; ++i) {
    if (state.members[i].owner.pid == 0 || is_alive(state.members[i].owner)) continue;
    state.leave(i, now());
    is_any = true;
  }
  return is_any;
}

void ResidencyFile::wake() {
  at().turn.fetch_add(1);
  syscall(SYS_futex, &at().turn, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

void ResidencyFile::sleep(std::uint32_t turn, std::uint64_t nanoseconds) const {
  const timespec patience{static_cast<time_t>(nanoseconds / 1'000'000'000),
                          static_cast<long>(nanoseconds % 1'000'000'000)};
  syscall(SYS_futex, &at().turn, FUTEX_WAIT, turn, &patience, nullptr, 0);
}

Residency::Residency(const std::string& path, const Id& lease) : file_(ResidencyFile::open(path)) {
  const auto self = own_mark();
  const auto join = [&] {
    return file_.locked([&](ResidencyState& state) { return state.join(self, lease, ResidencyFile::now()); });
  };
  member_ = join();
  if (member_ == ResidencyState::kNone) {
    file_.clear_dead();
    member_ = join();
  }
  if (member_ != ResidencyState::kNone) return;
  const bool is_of_others = file_.locked([&](const ResidencyState& state) { return state.has_room_for(lease); });
  throw std::runtime_error(is_of_others ? "too many sessions take turns on this device: try again when some have ended"
                                        : "a lease that takes turns has at most " + std::to_string(kResidentsOfLease) +
                                              " processes at one time: end some of them, or take another lease");
}

/// With what may come beside it; never more than there is.
std::uint64_t Residency::needed(const Resident& self, std::uint64_t bytes, std::uint64_t capacity) const {
  const auto least = self.physical() + self.swapped;
  const auto slack = std::min(kMostSlack, capacity / kSlackPart);
  return bytes > capacity || least + bytes > capacity ? std::max<std::uint64_t>(least, 1)
                                                      : std::min(capacity, least + bytes + slack);
}

bool Residency::enter(std::uint64_t bytes) {
  const auto now = ResidencyFile::now();
  touched_.store(now, std::memory_order_relaxed);
  if (bytes == 0 && is_in_) return true;
  bool is_swapped = false;
  const bool may_pass = file_.locked([&](ResidencyState& state) {
    auto& self = state.members[member_];
    is_swapped = self.swapped > 0;
    const bool has_all = self.phase == Phase::in && self.physical() + bytes <= self.room;
    if (has_all) self.wanted = 0;
    const bool passes = (has_all || state.ask(member_, needed(self, bytes, state.capacity), now)) && !is_swapped;
    if (passes) is_in_ = true;
    return passes;
  });
  waits_for_ = may_pass ? 0 : bytes;
  if (may_pass) {
    is_waiting_ = false;
    return true;
  }
  if (is_in_) is_waiting_ = true;
  else has_held_ = true;
  file_.wake();
  return false;
}

void Residency::held() {
  if (is_in_ || has_held_.exchange(true)) return;
  file_.wake();
}

bool Residency::hold(std::uint64_t bytes, bool can_leave) {
  return file_.locked(
      [&](ResidencyState& state) { return member_ != ResidencyState::kNone && state.hold(member_, bytes, can_leave); });
}

void Residency::let_go(std::uint64_t bytes, bool can_leave) {
  file_.locked([&](ResidencyState& state) {
    if (member_ == ResidencyState::kNone) return 0;
    state.let_go(member_, bytes, can_leave);
    state.step(ResidencyFile::now());
    return 0;
  });
}

Residency::Task Residency::next() {
  auto looked = ResidencyFile::now();
  for (;;) {
    if (is_closed_) return Task::end;
    const auto turn = file_.turn();
    auto next = ResidencyState::kNever;
    const auto found = file_.locked([&](ResidencyState& state) -> std::optional<Task> {
      const auto now = ResidencyFile::now();
      auto& self = state.members[member_];
      self.last_active = std::max(self.last_active, touched_.load(std::memory_order_relaxed));
      if (self.phase == Phase::out && has_held_ && self.wanted == 0)
        state.ask(member_, needed(self, waits_for_, state.capacity), now);
      next = state.step(now);
      if (self.phase == Phase::leaving && self.was_short != 0 && state.is_active(member_, now))
        state.stays(member_, false, now);  // the others do not see each message of it
      if (self.phase == Phase::leaving) return Task::leave;
      if (self.phase == Phase::in && !is_in_) return has_held_.exchange(false), Task::come;
      if (self.phase == Phase::in && is_waiting_ && self.wanted == 0) return is_waiting_.exchange(false), Task::pass;
      return std::nullopt;
    });
    if (found) return *found;
    const auto now = ResidencyFile::now();
    if (now - looked > kWaitingSleep) {
      file_.clear_dead();
      looked = now;
    }
    const auto longest = next == ResidencyState::kNever && !has_held_ ? kIdleSleep : kWaitingSleep;
    file_.sleep(turn, std::min(longest, next > now ? next - now : 1));
  }
}

bool Residency::is_early() {
  return file_.locked([&](ResidencyState& state) { return state.members[member_].was_short != 0; });
}

void Residency::went(std::uint64_t took) {
  if (is_waiting_.exchange(false)) has_held_ = true;
  file_.locked([&](ResidencyState& state) {
    state.went(member_, took, ResidencyFile::now());
    return 0;
  });
}

void Residency::is_back(std::uint64_t took) {
  file_.locked([&](ResidencyState& state) {
    state.is_back(member_, took, ResidencyFile::now());
    return 0;
  });
  is_in_ = true;
}

void Residency::stays(bool is_stuck) {
  file_.locked([&](ResidencyState& state) {
    state.stays(member_, is_stuck, ResidencyFile::now());
    return 0;
  });
  is_in_ = true;
}

void Residency::close() {
  is_closed_ = true;
  file_.wake();
}

/// The driver's threads may still hold and let go: the place may be another session's by then.
void Residency::leave() {
  file_.locked([&](ResidencyState& state) {
    if (member_ != ResidencyState::kNone) state.leave(member_, ResidencyFile::now());
    member_ = ResidencyState::kNone;
    return 0;
  });
}

}  // namespace flexrack::server
