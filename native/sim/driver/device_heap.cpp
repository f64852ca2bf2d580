#include "sim/driver/device_heap.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "sim/driver/failure.h"

namespace flexrack::sim {
namespace {

/// From here on memory is asked for in large pages: kernels go through it by strides of many pages, and a look at the
/// page table each time takes longer than the access.
constexpr std::uint64_t kLarge = std::uint64_t{4} << 20;

/// Up to here several share a block, as the system allows a process only some 65000 mappings.
constexpr std::uint64_t kSmall = std::uint64_t{1} << 20, kBlock = std::uint64_t{4} << 20;

constexpr std::uint64_t kAddresses = std::uint64_t{1} << 47;  ///< a process has no more
constexpr std::uint64_t kPage = 4096, kHugePage = std::uint64_t{2} << 20;

/// Device memory lies in a part of the addresses where nothing else does, in each process somewhere else there: what
/// one has, another one has room for (allocate_at). Between 104 and 112 TiB, below where Linux puts libraries and
/// stacks, above the mirrors of the clients' memory (docs/adr/0011) and what sanitizers keep.
constexpr std::uint64_t kZone = std::uint64_t{104} << 40, kZoneBytes = std::uint64_t{8} << 40;

std::uint64_t next_in_zone(std::uint64_t size) {
  static std::atomic<std::uint64_t> used{[] {
    std::uint64_t somewhere = 0;
    if (getrandom(&somewhere, sizeof somewhere, GRND_NONBLOCK) != sizeof somewhere) somewhere = 0;
    return somewhere % kZoneBytes / kBlock * kBlock;
  }()};
  const auto align = size > kLarge ? kHugePage : kPage;
  const auto at = used.fetch_add((size + align - 1) / align * align + align - kPage) % kZoneBytes;
  return kZone + (at + align - 1) / align * align;
}

void* map_at(std::uint64_t address, std::uint64_t size) {
  auto* const wish = reinterpret_cast<void*>(address);
  auto* memory = mmap(wish, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED || memory == wish) return memory;
  munmap(memory, size);  // before Linux 4.17 it is only a wish
  return MAP_FAILED;
}

std::uint64_t map(std::uint64_t size) {
  auto* memory = map_at(next_in_zone(size), size);
  if (memory == MAP_FAILED)
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  if (size > kLarge) madvise(memory, size, MADV_HUGEPAGE);  // a wish: where the system has none it is without
  return reinterpret_cast<std::uint64_t>(memory);
}

void unmap(std::uint64_t address, std::uint64_t size) { munmap(reinterpret_cast<void*>(address), size); }

std::uint64_t pages(std::uint64_t size) { return (size + 4095) / 4096 * 4096; }

/// Pages of zeros are left out: a file has them without memory, as an allocation has that nobody has written to.
void copy_into(int file, std::uint64_t from, std::uint64_t size) {
  static constexpr std::array<char, kPage> kZeros{};
  for (std::uint64_t at = 0; at < size; at += kPage) {
    const auto* page = reinterpret_cast<const char*>(from + at);
    if (std::memcmp(page, kZeros.data(), kPage) == 0) continue;
    require(pwrite(file, page, kPage, static_cast<off_t>(at)) == static_cast<ssize_t>(kPage),
            CUDA_ERROR_OPERATING_SYSTEM, "the host has no memory left for a file");
  }
}

}  // namespace

std::uint64_t map_device_file(int file, std::uint64_t offset, std::uint64_t bytes) {
  const auto at = map(bytes);
  if (at == 0) return 0;
  const auto* const mapped = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                                  file, static_cast<off_t>(offset));
  if (mapped != MAP_FAILED) return at;
  unmap(at, bytes);
  return 0;
}

bool DeviceHeap::charge(std::uint64_t size) {
  if (size > capacity_) return false;
  const auto bytes = charged(size);
  auto used = used_.load();
  do {
    if (bytes > capacity_ - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return true;
}

std::uint64_t DeviceHeap::allocate(std::uint64_t size) {
  if (size == 0 || !charge(size)) return 0;
  // A granule more, which no range of the memory map covers: running over the end is seen and does not reach the
  // neighbour.
  const auto address = size > kSmall ? map(pages(size)) : take_small(charged(size) + kGranularity);
  if (!address) refund(size);
  return address;
}

std::uint64_t DeviceHeap::allocate_at(std::uint64_t address, std::uint64_t size) {
  if (size == 0 || address % kGranularity != 0 || address >= kAddresses || size > kAddresses - address || !charge(size))
    return 0;
  const std::lock_guard guard(lock_);
  if (take_pages(address / kPage, (address + size + kPage - 1) / kPage)) {
    placed_.insert(address);
    return address;
  }
  refund(size);
  return 0;
}

/// Several allocations lie in one page. False: something else lies there, and nothing was taken.
bool DeviceHeap::take_pages(std::uint64_t first, std::uint64_t end) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> made;
  for (auto page = first; page < end;) {
    auto after = page;
    while (after < end && !placed_pages_.contains(after)) ++after;
    if (after > page) {
      if (map_at(page * kPage, (after - page) * kPage) == MAP_FAILED) {
        for (const auto& [at, pages] : made) unmap(at * kPage, pages * kPage);
        return false;
      }
      made.emplace_back(page, after - page);
    }
    page = after + 1;
  }
  for (auto page = first; page < end; ++page) ++placed_pages_[page];
  return true;
}

void DeviceHeap::put_pages(std::uint64_t first, std::uint64_t end) {
  for (auto page = first; page < end; ++page) {
    const auto found = placed_pages_.find(page);
    if (--found->second > 0) continue;
    placed_pages_.erase(found);
    unmap(page * kPage, kPage);
  }
}

void DeviceHeap::free(std::uint64_t address, std::uint64_t size) {
  {
    const std::lock_guard guard(lock_);
    if (placed_.erase(address) > 0) {
      put_pages(address / kPage, (address + size + kPage - 1) / kPage);
      return refund(size);
    }
  }
  if (size > kSmall) {
    const std::lock_guard guard(lock_);
    shared_.erase(address);
    unmap(address, pages(size));
  } else {
    put_small(address, charged(size) + kGranularity);
  }
  refund(size);
}

DeviceHeap::Pages DeviceHeap::share(std::uint64_t address, std::uint64_t size, std::uint32_t device) {
  const std::lock_guard guard(lock_);
  require(!placed_.contains(address), CUDA_ERROR_NOT_SUPPORTED, "memory that has moved from another server");
  const bool is_small = size <= kSmall;
  const auto base = is_small ? std::prev(blocks_.upper_bound(address))->first : address;
  auto& file = shared_[base];
  if (!file) {
    try {
      const auto bytes = is_small ? kBlock : pages(size);
      const auto made = make_file(bytes, device);
      copy_into(made->get(), base, bytes);
      require(mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, made->get(),
                   0) != MAP_FAILED,
              CUDA_ERROR_OPERATING_SYSTEM, "no memory file to be had");
      file = made;
    } catch (...) {
      shared_.erase(base);
      throw;
    }
  }
  allow(*file, address - base, true);
  return {file, address - base};
}

std::uint64_t DeviceHeap::take_small(std::uint64_t size) {
  const std::lock_guard guard(lock_);
  auto gap = gaps_.begin();
  while (gap != gaps_.end() && gap->second < size) ++gap;
  if (gap == gaps_.end()) {
    const auto block = map(kBlock);
    if (!block) return 0;
    blocks_[block] = 0;
    gap = gaps_.emplace(block, kBlock).first;
  }
  const auto address = gap->first;
  const auto rest = gap->second - size;
  gaps_.erase(gap);
  if (rest > 0) gaps_.emplace(address + size, rest);
  std::prev(blocks_.upper_bound(address))->second += size;
  return address;
}

void DeviceHeap::put_small(std::uint64_t address, std::uint64_t size) {
  const std::lock_guard guard(lock_);
  const auto block = std::prev(blocks_.upper_bound(address));
  if (const auto shared = shared_.find(block->first); shared != shared_.end())
    allow(*shared->second, address - block->first, false);
  const auto end = block->first + kBlock;
  block->second -= size;
  auto next = gaps_.upper_bound(address);
  if (next != gaps_.end() && next->first == address + size && next->first < end) {
    size += next->second;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == address && before->first >= block->first) {
      address = before->first;
      size += before->second;
      gaps_.erase(before);
    }
  }
  if (block->second == 0 && blocks_.size() > 1) {
    unmap(block->first, kBlock);
    shared_.erase(block->first);
    blocks_.erase(block);
  } else {
    gaps_.emplace(address, size);
  }
}

}  // namespace flexrack::sim
