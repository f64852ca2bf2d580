#include "client/cuda/addresses.h"

#include <sys/mman.h>
#include <unistd.h>

#include <shared_mutex>

namespace flexrack::client::cuda {
namespace {

/// Never destroyed: other threads may be inside while static objects go.
struct Map {
  std::shared_mutex lock;
  std::map<std::uint64_t, Allocation> all;   ///< by base
  std::uint64_t last_id = 0;
};

Map& map() {
  static auto& the_map = *new Map;
  return the_map;
}

std::uint64_t page() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

std::optional<Allocation> find_allocation(std::uint64_t address) {
  auto& known = map();
  const std::shared_lock guard(known.lock);
  auto at = known.all.upper_bound(address);
  if (at == known.all.begin()) return std::nullopt;
  --at;
  if (address - at->first >= at->second.size) return std::nullopt;
  return at->second;
}

Covered covered(std::uint64_t address, std::uint64_t size) {
  auto& known = map();
  const std::shared_lock guard(known.lock);
  auto at = known.all.upper_bound(address);
  if (at == known.all.begin()) return Covered::none;
  --at;
  const auto& first = at->second;
  if (address - first.base >= first.size) return Covered::none;
  auto left = first.size - (address - first.base);
  while (size > left) {
    const auto end = at->second.base + at->second.size;
    if (first.sort != Allocation::Sort::mapped || ++at == known.all.end() || at->first != end ||
        at->second.sort != first.sort || at->second.server != first.server)
      return Covered::some;
    left += at->second.size;
  }
  return Covered::all;
}

bool add_allocation(Allocation allocation) {
  auto& known = map();
  const std::unique_lock guard(known.lock);
  const auto next = known.all.lower_bound(allocation.base);
  if (next != known.all.end() && next->first - allocation.base < allocation.size) return false;
  if (next != known.all.begin()) {
    const auto& before = std::prev(next)->second;
    if (allocation.base - before.base < before.size) return false;
  }
  if (allocation.id == 0) allocation.id = ++known.last_id;
  known.all.emplace_hint(next, allocation.base, std::move(allocation));
  return true;
}

std::optional<Allocation> take_allocation(std::uint64_t base) {
  auto& known = map();
  const std::unique_lock guard(known.lock);
  const auto found = known.all.find(base);
  if (found == known.all.end()) return std::nullopt;
  auto taken = std::move(found->second);
  known.all.erase(found);
  return taken;
}

std::vector<Allocation> take_allocations_of(CUcontext context, std::uint64_t handle) {
  std::vector<Allocation> taken;
  auto& known = map();
  const std::unique_lock guard(known.lock);
  std::erase_if(known.all, [&](auto& entry) {
    if (entry.second.context != context || entry.second.context_handle != handle || entry.second.is_host())
      return false;
    taken.push_back(std::move(entry.second));
    return true;
  });
  return taken;
}

namespace {

/// Pages at the ends of kept stretches, which several small allocations may share, and how many do. Under a lock of
/// their own.
struct Shared {
  std::mutex lock;
  std::map<std::uint64_t, unsigned> pages;
};

Shared& shared() {
  static auto& all = *new Shared;
  return all;
}

bool map_nothing(std::uint64_t start, std::uint64_t end) {
  if (start >= end) return true;
  void* const wish = reinterpret_cast<void*>(start);
  void* const got =
      ::mmap(wish, end - start, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wish) return true;
  if (got != MAP_FAILED) ::munmap(got, end - start);  // a kernel that takes the address for a wish
  return false;
}

}  // namespace

bool is_stretch(std::uint64_t base, std::uint64_t size) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 57;  // what processors and GPUs have of addresses
  return size > 0 && base < kEnd && size <= kEnd - base;
}

bool keep_addresses(std::uint64_t base, std::uint64_t size) {
  if (!is_stretch(base, size)) return false;
  const auto first = base / page(), last = (base + size - 1) / page();
  auto& known = shared();
  const std::lock_guard guard(known.lock);
  const auto start = known.pages.contains(first) ? first + 1 : first;
  const auto end = known.pages.contains(last) ? last : last + 1;
  if (!map_nothing(start * page(), end * page())) return false;
  ++known.pages[first];
  if (last != first) ++known.pages[last];
  return true;
}

void let_addresses_go(std::uint64_t base, std::uint64_t size) {
  const auto first = base / page(), last = (base + size - 1) / page();
  auto& known = shared();
  const std::lock_guard guard(known.lock);
  const auto is_last_user = [&](std::uint64_t at) {
    const auto found = known.pages.find(at);
    if (found == known.pages.end() || --found->second != 0) return false;
    known.pages.erase(found);
    return true;
  };
  const bool is_first_free = is_last_user(first), is_last_free = last == first ? is_first_free : is_last_user(last);
  const auto start = is_first_free ? first : first + 1, end = is_last_free ? last + 1 : last;
  if (start < end) ::munmap(reinterpret_cast<void*>(start * page()), (end - start) * page());
}

}  // namespace flexrack::client::cuda
