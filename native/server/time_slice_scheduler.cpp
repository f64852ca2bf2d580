#include "server/time_slice_scheduler.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <new>
#include <stdexcept>

#include "wire/boot.h"

namespace flexrack::server {
namespace {

constexpr std::uint64_t kSchedulerMagic = 0x31657461'67786c66;  // "flxgate1"
constexpr std::uint64_t kLongestSleep = 100'000'000;   // between looks at whether the others still live

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint32_t bit_of(std::uint32_t member) { return 1U << (member % 32); }

}  // namespace

SchedulerFile SchedulerFile::open_or_create(const std::string& path) {
  if (access(path.c_str(), F_OK) == 0) {
    try {
      SchedulerFile file(SharedFile::open(path, sizeof(File)));
      if (file.is_sound()) return file;
    } catch (const std::exception&) {
      // Another version's, or damaged: made anew below.
    }
  }
  return SchedulerFile(SharedFile::create(path, sizeof(File), [](void* memory) {
    auto* file = new (memory) File{};
    file->boot = wire::boot_mark();
    make_shared_mutex(file->lock);
    file->magic = kSchedulerMagic;
  }));
}

SchedulerFile SchedulerFile::open(const std::string& path) {
  SchedulerFile file(SharedFile::open(path, sizeof(File)));
  if (!file.is_sound()) throw std::runtime_error(path + " is not a scheduler of this boot");
  return file;
}

bool SchedulerFile::is_sound() const { return at().magic == kSchedulerMagic && at().boot == wire::boot_mark(); }

std::size_t SchedulerFile::clear_dead() {
  return locked([this](SchedulerState&) { return remove_dead(); });
}

std::size_t SchedulerFile::remove_dead() {
  auto& state = at().state;
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < kSchedulerMembers; ++i) {
    if (state.members[i].owner.pid == 0 || is_alive(state.members[i].owner)) continue;
    state.leave(i, now_ns());
    ++count;
  }
  return count;
}

void SchedulerFile::wake_holder() {
  const auto& state = at().state;
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < state.used_members; ++i) {
    if (state.members[i].owner.pid != 0 && state.is_holder(i) && state.members[i].waiting > 0) bits |= bit_of(i);
  }
  if (bits != 0) wake(bits);
}

void SchedulerFile::wake_member(std::uint32_t member) { wake(bit_of(member)); }

void SchedulerFile::wake(std::uint32_t bits) {
  at().turn.fetch_add(1);
  syscall(SYS_futex, &at().turn, FUTEX_WAKE_BITSET, INT32_MAX, nullptr, nullptr, bits);
}

void SchedulerFile::sleep(std::uint32_t member, std::uint32_t turn, std::uint64_t nanoseconds) const {
  const auto until = now_ns() + nanoseconds;  // FUTEX_WAIT_BITSET takes a time of the monotonic clock
  const timespec deadline{static_cast<time_t>(until / 1'000'000'000), static_cast<long>(until % 1'000'000'000)};
  syscall(SYS_futex, &at().turn, FUTEX_WAIT_BITSET, turn, &deadline, nullptr, bit_of(member));
}

TimeSliceScheduler::TimeSliceScheduler(const std::string& path, const Id& lease, std::uint32_t weight, bool capped)
    : file_(SchedulerFile::open(path)) {
  const auto self = own_mark();
  const auto join = [&] {
    return file_.locked([&](SchedulerState& state) { return state.join(self, lease, weight, capped, now_ns()); });
  };
  member_ = join();
  if (member_ == SchedulerState::kNone && file_.clear_dead() > 0) member_ = join();
  if (member_ == SchedulerState::kNone) throw std::runtime_error("too many workers share this device");
  thread_ = std::thread([this] { run(); });
}

TimeSliceScheduler::~TimeSliceScheduler() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    waiting_.clear();
  }
  arrived_.notify_one();
  file_.wake_member(member_);
  thread_.join();
  file_.locked([&](SchedulerState& state) {
    state.leave(member_, now_ns());
    return 0;
  });
}

void TimeSliceScheduler::admit(std::function<void()> admitted) {
  std::unique_lock lock(mutex_);
  const bool may_go = waiting_.empty() && !is_letting_go_;
  const bool goes = file_.locked([&](SchedulerState& state) {
    if (may_go && state.enter(member_, now_ns())) return true;
    state.wait(member_);
    return false;
  });
  if (goes) {
    lock.unlock();
    return admitted();
  }
  waiting_.push_back(std::move(admitted));
  if (waiting_.size() == 1) arrived_.notify_one();
}

void TimeSliceScheduler::finished(std::uint64_t nanoseconds, std::uint32_t count) {
  const auto flying = file_.locked([&](SchedulerState& state) {
    state.finish(member_, nanoseconds, now_ns(), count);
    return state.members[member_].flying;
  });
  // Not for each of a flood: once half of them are done there is time enough to send the next.
  auto wanted = wake_at_.load();
  if (wanted > 0 && flying < wanted && wake_at_.compare_exchange_strong(wanted, 0)) file_.wake_member(member_);
}

void TimeSliceScheduler::run() {
  std::unique_lock lock(mutex_);
  auto looked = now_ns();
  while (!is_over_) {
    if (waiting_.empty()) {
      arrived_.wait(lock);
      continue;
    }
    const auto turn = file_.turn();
    std::deque<std::function<void()>> going;
    const auto next = let_go(going);
    if (!going.empty()) {
      is_letting_go_ = true;
      lock.unlock();
      for (const auto& admitted : going) admitted();
      lock.lock();
      is_letting_go_ = false;
      continue;
    }
    lock.unlock();
    const auto now = now_ns();
    if (now - looked > kLongestSleep) {
      file_.clear_dead();
      looked = now;
    }
    file_.sleep(member_, turn, std::min(kLongestSleep, next > now ? next - now : 1));
    wake_at_ = 0;
    lock.lock();
  }
}

std::uint64_t TimeSliceScheduler::let_go(std::deque<std::function<void()>>& going) {
  std::uint32_t flying = 0;
  const auto next = file_.locked([&](SchedulerState& state) {
    while (!waiting_.empty() && state.enter_waiting(member_, now_ns())) {
      going.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    flying = state.members[member_].flying;
    if (going.empty())
      wake_at_ = std::max<std::uint32_t>(1, (flying + 1) / 2);  // under the lock: a launch that ends now sees it
    return state.step(now_ns());
  });
  return next;
}

}  // namespace flexrack::server
