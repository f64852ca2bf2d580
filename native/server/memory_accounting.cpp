#include "server/memory_accounting.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <new>
#include <stdexcept>

#include "server/token.h"
#include "wire/boot.h"
#include "wire/secrets.h"

namespace flexrack::server {
namespace {

/// Fields are appended and never moved: a program of an earlier version, which has mapped what it knows of the file,
/// works on with it. The last character is the version.
constexpr std::uint64_t magic_of(char version) { return std::uint64_t(version) << 56 | 0x72656764656c66; }  // "fledger"
constexpr std::uint64_t kAccountingMagic = magic_of('4');

constexpr std::size_t kTimes = 7;  ///< pieces of time of ten seconds: six whole ones, and the one that is now
constexpr std::uint64_t kPiece = 10;
constexpr int kTimeShift = 40;  ///< a piece's number above, microseconds below: the later one, then the longer one

constexpr std::uint64_t kMicros = (std::uint64_t{1} << kTimeShift) - 1;

std::uint64_t piece_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) / kPiece + 1;  // never 0, which is: nothing was timed
}

struct Slot {
  ProcessMark owner;
  std::uint64_t process;  ///< its client's
  std::uint64_t contexts;  ///< a bit for each device on which that has contexts
  std::array<std::uint64_t, kAccountedDevices> used;
};

using Users = std::bitset<kAccountedWorkers>;
constexpr std::uint32_t kNobody = kAccountedWorkers;

/// Of a sort where it is one at all; whatever else is in it is written before that.
struct SharedEntry {
  backend::SharedObject object;
  backend::ShareSecret secret;
  std::uint32_t owner;  ///< slot of who shares it; kNobody: it is gone, and so nobody opens it any more
  std::uint32_t charged;  ///< slot of who has it charged
  Users users;  ///< slots of those that have opened it
};

}  // namespace

struct MemoryAccounting::File {
  std::uint64_t magic, boot;
  std::uint64_t devices;
  pthread_mutex_t lock;
  std::array<std::uint64_t, kAccountedDevices> limit;
  std::array<std::uint64_t, kAccountedDevices> total;  ///< sum of the slots, made anew when somebody died with the lock
  std::array<std::atomic<std::uint64_t>, kAccountedDevices> busy;
  std::array<std::atomic<std::uint32_t>, kAccountedDevices>
      shown;  ///< utilization in thousandths and one more; 0: nobody has looked
  std::array<Slot, kAccountedWorkers> slots;
  std::uint64_t entries;  ///< of `shared`, that were ever used: what is behind them is empty
  std::array<SharedEntry, kSharedObjects> shared;
  // From version 4 on.
  std::array<std::array<std::atomic<std::uint64_t>, kTimes>, kAccountedDevices> launches;
  std::uint64_t
      has_lone;  ///< 1: workers may be there that know nothing of `shared`, and would not tidy up behind others

  std::size_t number_of(const Slot& slot) const { return static_cast<std::size_t>(&slot - slots.data()); }

  SharedEntry* find(const backend::ShareSecret& secret) {
    SharedEntry* found = nullptr;
    for (std::size_t i = 0; i < std::min<std::size_t>(entries, kSharedObjects); ++i)
      if (shared[i].object.sort != backend::SharedObject::Sort::none && wire::is_same(shared[i].secret, secret))
        found = &shared[i];
    return found;
  }

  /// That slot has nothing of it any more. The bytes go with the last who has it.
  void leave(SharedEntry& entry, std::uint32_t slot) {
    entry.users.reset(slot);
    if (entry.owner == slot) entry.owner = kNobody;
    const auto next = [&] {
      if (entry.owner != kNobody) return entry.owner;
      for (std::uint32_t user = 0; user < kAccountedWorkers; ++user)
        if (entry.users.test(user)) return user;
      return kNobody;
    }();
    if (entry.charged == slot) {
      const auto device = entry.object.device;
      auto& used = slots[slot].used[device];
      used -= std::min(entry.object.charged, used);
      if (next != kNobody) slots[next].used[device] += entry.object.charged;
      entry.charged = next;
    }
    if (next == kNobody) entry.object.sort = backend::SharedObject::Sort::none;
  }

  void add_up() {
    total.fill(0);
    for (const auto& slot : slots) {
      for (std::size_t i = 0; i < kAccountedDevices; ++i) total[i] += slot.used[i];
    }
  }

  void clear(Slot& slot) {
    const auto number = static_cast<std::uint32_t>(number_of(slot));
    for (std::size_t i = 0; i < std::min<std::size_t>(entries, kSharedObjects); ++i) {
      auto& entry = shared[i];
      const bool is_its = entry.owner == number || entry.charged == number || entry.users.test(number);
      if (entry.object.sort != backend::SharedObject::Sort::none && is_its) leave(entry, number);
    }
    slot.used.fill(0);
    slot.process = slot.contexts = 0;
    slot.owner = {};
    add_up();
  }
};

template <class Action>
auto MemoryAccounting::locked(Action action) const {
  auto& file = at();
  const SharedLock lock(file.lock, [&] { file.add_up(); });
  return action(file);
}

MemoryAccounting MemoryAccounting::create(const std::string& path, std::span<const std::uint64_t> limits) {
  if (limits.empty() || limits.size() > kAccountedDevices)
    throw std::runtime_error("a memory accounting holds 1 to 64 devices");
  return MemoryAccounting(SharedFile::create(path, sizeof(File), [&](void* memory) {
    auto* file = new (memory) File{};
    file->boot = wire::boot_mark();
    file->devices = limits.size();
    std::copy(limits.begin(), limits.end(), file->limit.begin());
    make_shared_mutex(file->lock);
    file->magic = kAccountingMagic;
  }));
}

std::size_t MemoryAccounting::size_of_version(char version) {
  switch (version) {
    case '2': return offsetof(File, entries);  // before sessions shared memory
    case '3': return offsetof(File, launches);  // before launches were shown
    default: return sizeof(File);
  }
}

MemoryAccounting MemoryAccounting::take_over(const std::string& path) {
  const auto size = SharedFile::size_of(path);
  const auto is_old = [&](std::uint64_t magic, char version) {
    return magic == magic_of(version) && size >= size_of_version(version);
  };
  if (size == size_of_version('2') || size == size_of_version('3') || size == sizeof(File)) {
    std::uint64_t magic = 0;
    {
      const auto head = SharedFile::open(path, size);
      const auto& file = *static_cast<const File*>(head.data());
      if (file.boot == wire::boot_mark() && file.devices <= kAccountedDevices) magic = file.magic;
    }
    // A broker that was killed here has made it longer, and has not said so.
    if (is_old(magic, '2') || is_old(magic, '3')) {
      MemoryAccounting old(SharedFile::lengthen(path, size, sizeof(File)));
      if (is_old(magic, '2')) old.at().has_lone = 1;
      std::atomic_ref(old.at().magic).store(kAccountingMagic);
    }
  }
  return open(path);
}

MemoryAccounting MemoryAccounting::open(const std::string& path) {
  MemoryAccounting accounting(SharedFile::open(path, sizeof(File)));
  if (accounting.at().magic != kAccountingMagic || accounting.at().boot != wire::boot_mark() ||
      accounting.at().devices > kAccountedDevices)
    throw std::runtime_error(path + " is not a memory accounting");
  return accounting;
}

std::size_t MemoryAccounting::devices() const { return at().devices; }

bool MemoryAccounting::join() {
  const auto mark = own_mark();
  return locked([&](File& file) {
    const auto take = [&] {
      const auto free =
          std::find_if(file.slots.begin(), file.slots.end(), [](const Slot& slot) { return slot.owner.pid == 0; });
      if (free == file.slots.end()) return false;
      free->used.fill(0);
      free->process = free->contexts = 0;
      free->owner = mark;
      slot_ = static_cast<std::size_t>(free - file.slots.begin());
      return true;
    };
    return take() || (clear_dead(file) > 0 && take());
  });
}

void MemoryAccounting::leave() {
  if (slot_ == kAccountedWorkers) return;
  locked([&](File& file) { file.clear(file.slots[slot_]); });
  slot_ = kAccountedWorkers;
}

bool MemoryAccounting::charge(std::size_t device, std::uint64_t bytes) {
  if (slot_ == kAccountedWorkers || device >= devices()) return false;
  return locked([&](File& file) {
    const auto fits = [&] { return bytes <= file.limit[device] && file.total[device] <= file.limit[device] - bytes; };
    if (!fits() && (clear_dead(file) == 0 || !fits())) return false;
    file.slots[slot_].used[device] += bytes;
    file.total[device] += bytes;
    return true;
  });
}

void MemoryAccounting::refund(std::size_t device, std::uint64_t bytes) {
  if (slot_ == kAccountedWorkers || device >= devices()) return;
  locked([&](File& file) {
    auto& used = file.slots[slot_].used[device];
    const auto given = std::min(bytes, used);
    used -= given;
    file.total[device] -= std::min(given, file.total[device]);
  });
}

std::optional<backend::ShareSecret> MemoryAccounting::share(const backend::SharedObject& object) {
  if (slot_ == kAccountedWorkers || object.device >= devices()) return std::nullopt;
  const auto secret = random_token<backend::ShareSecret>();
  const bool is_kept = locked([&](File& file) {
    if (file.has_lone != 0) return false;
    std::size_t free = 0;
    while (free < file.entries && file.shared[free].object.sort != backend::SharedObject::Sort::none) ++free;
    if (free >= kSharedObjects) return false;
    file.entries = std::max<std::uint64_t>(file.entries, free + 1);
    auto& entry = file.shared[free];
    entry.secret = secret;
    entry.owner = entry.charged = static_cast<std::uint32_t>(slot_);
    entry.users.reset();
    auto kept = object;
    kept.process = file.slots[slot_].owner.pid;
    entry.object = kept;
    return true;
  });
  return is_kept ? std::optional(secret) : std::nullopt;
}

void MemoryAccounting::unshare(const backend::ShareSecret& secret) {
  if (slot_ == kAccountedWorkers) return;
  locked([&](File& file) {
    auto* const entry = file.find(secret);
    if (!entry || entry->owner != slot_) return;
    file.leave(*entry, static_cast<std::uint32_t>(slot_));
    file.add_up();
  });
}

std::optional<backend::Grant::Opened> MemoryAccounting::open_shared(const backend::ShareSecret& secret) {
  if (slot_ == kAccountedWorkers) return std::nullopt;
  return locked([&](File& file) -> std::optional<backend::Grant::Opened> {
    auto* const entry = file.find(secret);
    if (!entry || entry->owner == kNobody || entry->users.test(slot_)) return std::nullopt;
    if (entry->owner == slot_) return backend::Grant::Opened{entry->object, true};
    if (!is_alive(file.slots[entry->owner].owner)) return std::nullopt;
    entry->users.set(slot_);
    return backend::Grant::Opened{entry->object, false};
  });
}

void MemoryAccounting::close_shared(const backend::ShareSecret& secret) {
  if (slot_ == kAccountedWorkers) return;
  locked([&](File& file) {
    auto* const entry = file.find(secret);
    if (!entry || !entry->users.test(slot_)) return;
    file.leave(*entry, static_cast<std::uint32_t>(slot_));
    file.add_up();
  });
}

std::uint64_t MemoryAccounting::used(std::size_t device) const {
  if (device >= devices()) return 0;
  return locked([&](File& file) { return file.total[device]; });
}

std::uint64_t MemoryAccounting::used_by(const ProcessMark& worker) const {
  return locked([&](File& file) {
    std::uint64_t sum = 0;
    for (const auto& slot : file.slots) {
      if (slot.owner.pid == 0 || slot.owner != worker) continue;
      for (const auto used : slot.used) sum += used;
    }
    return sum;
  });
}

std::size_t MemoryAccounting::clear_dead() {
  return locked([](File& file) { return clear_dead(file); });
}

void MemoryAccounting::add_busy(std::size_t device, std::uint64_t nanoseconds) {
  if (device < devices()) at().busy[device].fetch_add(nanoseconds, std::memory_order_relaxed);
}

std::uint64_t MemoryAccounting::busy(std::size_t device) const {
  return device < devices() ? at().busy[device].load(std::memory_order_relaxed) : 0;
}

void MemoryAccounting::show_utilization(std::size_t device, double part) {
  if (device < devices())
    at().shown[device].store(1 + static_cast<std::uint32_t>(std::lround(std::clamp(part, 0.0, 1.0) * 1000)),
                             std::memory_order_relaxed);
}

std::optional<double> MemoryAccounting::utilization(std::size_t device) const {
  const auto shown = device < devices() ? at().shown[device].load(std::memory_order_relaxed) : 0;
  return shown == 0 ? std::nullopt : std::optional((shown - 1) / 1000.0);
}

void MemoryAccounting::show_launch(std::size_t device, std::uint64_t nanoseconds) {
  if (device >= devices()) return;
  const auto piece = piece_now();
  const auto micros = std::clamp<std::uint64_t>(nanoseconds / 1000, 1, kMicros);
  const auto mine = piece << kTimeShift | micros;
  auto& place = at().launches[device][piece % kTimes];
  auto have = place.load(std::memory_order_relaxed);
  while (have < mine && !place.compare_exchange_weak(have, mine, std::memory_order_relaxed)) continue;
}

std::optional<std::uint64_t> MemoryAccounting::longest_launch(std::size_t device) const {
  if (device >= devices()) return std::nullopt;
  const auto now = piece_now();
  std::uint64_t longest = 0;
  for (const auto& place : at().launches[device]) {
    const auto have = place.load(std::memory_order_relaxed);
    if ((have >> kTimeShift) + kTimes > now) longest = std::max(longest, have & kMicros);
  }
  return longest == 0 ? std::nullopt : std::optional(longest);
}

void MemoryAccounting::use(std::size_t device, std::uint64_t process, bool has_contexts) {
  if (slot_ == kAccountedWorkers || device >= devices()) return;
  locked([&](File& file) {
    auto& slot = file.slots[slot_];
    const auto bit = std::uint64_t{1} << device;
    slot.process = process;
    slot.contexts = has_contexts ? slot.contexts | bit : slot.contexts & ~bit;
  });
}

std::vector<MemoryAccounting::User> MemoryAccounting::users(std::size_t device) const {
  std::vector<User> all;
  if (device >= devices()) return all;
  locked([&](File& file) {
    for (const auto& slot : file.slots) {
      const bool has_something = slot.used[device] > 0 || (slot.contexts >> device & 1) != 0;
      if (has_something && slot.owner.pid != 0 && slot.process != 0 && is_alive(slot.owner))
        all.push_back({slot.process, slot.used[device]});
    }
  });
  return all;
}

std::size_t MemoryAccounting::clear_dead(File& file) {
  std::size_t count = 0;
  for (auto& slot : file.slots) {
    if (slot.owner.pid == 0 || is_alive(slot.owner)) continue;
    file.clear(slot);
    ++count;
  }
  return count;
}

}  // namespace flexrack::server
