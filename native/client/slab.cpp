#include "client/slab.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

namespace flexrack::client {
namespace {

// One stretch of address space, reserved once, cut into a part a slot size. Pages cost memory when first used.
constexpr std::array<std::size_t, 3> kSlotSizes{256, 512, 1024};
constexpr std::size_t kPartBytes = std::size_t{1} << 30;
constexpr std::size_t kAllBytes = kPartBytes * kSlotSizes.size();
constexpr std::size_t kMarkBytes = 16;

struct FreeSlot {
  std::uint64_t mark[2];  ///< zero: no object starts like this
  FreeSlot* next;
};

struct Part {
  std::mutex lock;
  FreeSlot* free = nullptr;
  std::atomic<std::size_t> used{0};  ///< bytes given out at some time
};

std::array<Part, kSlotSizes.size()> parts;
std::atomic<std::uintptr_t> base{0};
std::atomic<bool> is_forgotten{false};
std::mutex reserve_lock;

std::uintptr_t reserve() {
  if (const auto known = base.load(std::memory_order_acquire)) return known;
  if (is_forgotten.load()) throw std::bad_alloc();
  const std::lock_guard guard(reserve_lock);
  if (const auto known = base.load(std::memory_order_acquire)) return known;
  void* start = ::mmap(nullptr, kAllBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  base.store(reinterpret_cast<std::uintptr_t>(start), std::memory_order_release);
  return reinterpret_cast<std::uintptr_t>(start);
}

std::size_t part_for(std::size_t size) {
  for (std::size_t i = 0; i < kSlotSizes.size(); ++i) {
    if (size <= kSlotSizes[i]) return i;
  }
  throw std::bad_alloc();
}

}  // namespace

void* take_slot(std::size_t size) {
  const auto index = part_for(size);
  auto& part = parts[index];
  const auto start = reserve() + index * kPartBytes;
  const std::lock_guard guard(part.lock);
  if (auto* slot = part.free) {
    part.free = slot->next;
    return slot;
  }
  const auto used = part.used.load(std::memory_order_relaxed);
  if (used + kSlotSizes[index] > kPartBytes) throw std::bad_alloc();
  part.used.store(used + kSlotSizes[index], std::memory_order_release);
  return reinterpret_cast<void*>(start + used);
}

void give_slot(void* slot, std::size_t size) {
  if (is_forgotten.load(std::memory_order_relaxed)) return;
  auto& part = parts[part_for(size)];
  auto* entry = static_cast<FreeSlot*>(slot);
  const std::lock_guard guard(part.lock);
  std::memset(entry->mark, 0, kMarkBytes);
  entry->next = part.free;
  part.free = entry;
}

bool is_slot(const void* pointer) {
  const auto start = base.load(std::memory_order_acquire);
  const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - start;
  if (start == 0 || offset >= kAllBytes) return false;
  const auto index = offset / kPartBytes;
  const auto inside = offset % kPartBytes;
  return inside % kSlotSizes[index] == 0 && inside < parts[index].used.load(std::memory_order_acquire);
}

void forget_slots() {
  is_forgotten.store(true);
  base.store(0, std::memory_order_release);
}

}  // namespace flexrack::client
