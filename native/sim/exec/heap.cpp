#include "sim/exec/heap.h"

#include <algorithm>

namespace flexrack::sim::exec {
namespace {

constexpr std::uint64_t kAlign = 16;

}  // namespace

Heap::Heap(std::uint64_t address, std::uint64_t size) {
  const std::uint64_t begin = (address + kAlign - 1) / kAlign * kAlign, end = (address + size) / kAlign * kAlign;
  if (end > begin) free_.emplace(begin, end - begin);
}

std::uint64_t Heap::allocate(std::uint64_t size) {
  if (size > (std::uint64_t{1} << 48)) return 0;
  const std::uint64_t bytes = std::max((size + kAlign - 1) / kAlign * kAlign, kAlign);
  const std::scoped_lock held(lock_);
  const auto found = std::find_if(free_.begin(), free_.end(), [&](const auto& piece) { return piece.second >= bytes; });
  if (found == free_.end()) return 0;
  const auto [address, room] = *found;
  free_.erase(found);
  if (room > bytes) free_.emplace(address + bytes, room - bytes);
  taken_.emplace(address, bytes);
  used_ += bytes;
  return address;
}

bool Heap::release(std::uint64_t address) {
  const std::scoped_lock held(lock_);
  const auto found = taken_.find(address);
  if (found == taken_.end()) return false;
  std::uint64_t bytes = found->second;
  used_ -= bytes;
  taken_.erase(found);
  auto after = free_.lower_bound(address);
  if (after != free_.end() && after->first == address + bytes) {
    bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      before->second += bytes;
      return true;
    }
  }
  free_.emplace(address, bytes);
  return true;
}

std::uint64_t Heap::used() const {
  const std::scoped_lock held(lock_);
  return used_;
}

}  // namespace flexrack::sim::exec
