#include "sim/driver/device_heap.h"

#include <sys/mman.h>

namespace flexrack::sim {
namespace {

/// From here on memory is asked for in large pages: kernels go through it by strides of many pages, and a look at the
/// page table each time takes longer than the access.
constexpr std::uint64_t kLarge = std::uint64_t{4} << 20;

/// Up to here several share a block, as the system allows a process only some 65000 mappings.
constexpr std::uint64_t kSmall = std::uint64_t{1} << 20, kBlock = std::uint64_t{4} << 20;

std::uint64_t map(std::uint64_t size) {
  auto* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  if (size > kLarge) madvise(memory, size, MADV_HUGEPAGE);  // a wish: where the system has none it is without
  return reinterpret_cast<std::uint64_t>(memory);
}

void unmap(std::uint64_t address, std::uint64_t size) { munmap(reinterpret_cast<void*>(address), size); }

std::uint64_t pages(std::uint64_t size) { return (size + 4095) / 4096 * 4096; }

}  // namespace

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

void DeviceHeap::free(std::uint64_t address, std::uint64_t size) {
  if (size > kSmall) {
    unmap(address, pages(size));
  } else {
    put_small(address, charged(size) + kGranularity);
  }
  refund(size);
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
    blocks_.erase(block);
  } else {
    gaps_.emplace(address, size);
  }
}

}  // namespace flexrack::sim
